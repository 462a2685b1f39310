import CallCore

/// The payload descriptor of VP9 (RFC 9628 section 4.2), which precedes the bytes of a layer frame in each packet.
package struct VP9PayloadDescriptor: Hashable, Sendable, PayloadDescriptor {
  /// The layers of a frame.
  package struct Layer: Hashable, Sendable, BitwiseCopyable {
    /// The temporal layer, in three bits (TID).
    package var temporal: UInt8
    /// The spatial layer, in three bits (SID).
    package var spatial: UInt8
    /// Whether a receiver may switch up to this temporal layer here (U).
    package var isSwitchingUpPoint: Bool
    /// Whether the frame refers to the spatial layer below in the same picture (D).
    package var isInterLayerPredicted: Bool

    package init(
      temporal: UInt8 = 0, spatial: UInt8 = 0, isSwitchingUpPoint: Bool = false, isInterLayerPredicted: Bool = false
    ) {
      self.temporal = temporal & 7
      self.spatial = spatial & 7
      self.isSwitchingUpPoint = isSwitchingUpPoint
      self.isInterLayerPredicted = isInterLayerPredicted
    }
  }

  package var pictureID: PictureID?
  /// Whether the frame refers to earlier pictures (P).
  package var isInterPicturePredicted: Bool
  package var layer: Layer?
  /// The running number of the lowest temporal layer; only the non-flexible mode has it.
  package var temporalLayerZeroIndex: UInt8?
  /// Whether each frame gives its own references (F).
  package var isFlexible: Bool
  /// The distances to the pictures the frame refers to; only in the flexible mode.
  package var references: VP9References
  /// Whether the payload begins a layer frame (B).
  package var beginsFrame: Bool
  /// Whether the payload ends a layer frame (E).
  package var endsFrame: Bool
  /// Whether no higher spatial layer of a later picture refers to the frame (Z).
  package var isNotReferencedAbove: Bool
  /// The scalability structure (V).
  package var structure: VP9ScalabilityStructure?

  package init(
    pictureID: PictureID? = nil, isInterPicturePredicted: Bool = false, layer: Layer? = nil,
    temporalLayerZeroIndex: UInt8? = nil, isFlexible: Bool = false, references: VP9References = [],
    beginsFrame: Bool = false, endsFrame: Bool = false, isNotReferencedAbove: Bool = false,
    structure: VP9ScalabilityStructure? = nil
  ) {
    self.pictureID = pictureID
    self.isInterPicturePredicted = isInterPicturePredicted
    self.layer = layer
    self.temporalLayerZeroIndex = temporalLayerZeroIndex
    self.isFlexible = isFlexible
    self.references = references
    self.beginsFrame = beginsFrame
    self.endsFrame = endsFrame
    self.isNotReferencedAbove = isNotReferencedAbove
    self.structure = structure
  }

  /// Whether the frame needs no other picture and no other layer.
  package var isKeyFrame: Bool { !isInterPicturePredicted && !(layer?.isInterLayerPredicted ?? false) }
}

extension VP9PayloadDescriptor {
  /// Reads the descriptor of a payload, or returns nil when the payload ends inside it or has more than three
  /// references.
  ///
  /// - Parameter size: set to the size of the descriptor.
  package init?(parsing payload: RawSpan, size: inout Int) {
    guard let first = payload.byte(at: 0) else { return nil }
    self.init(
      isInterPicturePredicted: first & 0x40 != 0, isFlexible: first & 0x10 != 0, beginsFrame: first & 0x08 != 0,
      endsFrame: first & 0x04 != 0, isNotReferencedAbove: first & 0x01 != 0)
    var offset = 1
    if first & 0x80 != 0 {
      guard let id = PictureID(parsing: payload, at: &offset) else { return nil }
      pictureID = id
    }
    if first & 0x20 != 0 {
      guard let byte = payload.byte(at: offset) else { return nil }
      offset += 1
      layer = Layer(
        temporal: byte >> 5, spatial: byte >> 1, isSwitchingUpPoint: byte & 0x10 != 0,
        isInterLayerPredicted: byte & 1 != 0)
      if !isFlexible {
        guard let index = payload.byte(at: offset) else { return nil }
        temporalLayerZeroIndex = index
        offset += 1
      }
    }
    if isFlexible, isInterPicturePredicted {
      guard readReferences(payload, at: &offset) else { return nil }
    }
    if first & 0x02 != 0 {
      guard let structure = VP9ScalabilityStructure(parsing: payload, at: &offset) else { return nil }
      self.structure = structure
    }
    size = offset
  }

  private mutating func readReferences(_ payload: RawSpan, at offset: inout Int) -> Bool {
    while true {
      guard let byte = payload.byte(at: offset), references.append(byte >> 1) else { return false }
      offset += 1
      if byte & 1 == 0 { return true }
    }
  }

  private var hasReferences: Bool { isFlexible && isInterPicturePredicted }

  /// The size on the wire in bytes.
  package var encodedSize: Int {
    1 + (pictureID?.encodedSize ?? 0) + (layer == nil ? 0 : isFlexible ? 1 : 2)
      + (hasReferences ? references.count : 0) + (structure?.encodedSize ?? 0)
  }

  /// Writes the descriptor.
  ///
  /// - Returns: false, with nothing written, when it does not fit, or a predicted frame in flexible mode has no
  ///   reference.
  package func write(into output: inout OutputSpan<UInt8>) -> Bool {
    guard output.freeCapacity >= encodedSize, !hasReferences || references.count > 0 else { return false }
    var first: UInt8 = (pictureID == nil ? 0 : 0x80) | (isInterPicturePredicted ? 0x40 : 0)
    first |= (layer == nil ? 0 : 0x20) | (isFlexible ? 0x10 : 0) | (beginsFrame ? 0x08 : 0)
    first |= (endsFrame ? 0x04 : 0) | (structure == nil ? 0 : 0x02) | (isNotReferencedAbove ? 0x01 : 0)
    output.append(first)
    pictureID?.write(into: &output)
    if let layer {
      let flags: UInt8 = (layer.isSwitchingUpPoint ? 0x10 : 0) | (layer.isInterLayerPredicted ? 1 : 0)
      output.append(layer.temporal << 5 | layer.spatial << 1 | flags)
      if !isFlexible { output.append(temporalLayerZeroIndex ?? 0) }
    }
    if hasReferences {
      for index in 0..<references.count {
        output.append(references[index] << 1 | (index + 1 < references.count ? 1 : 0))
      }
    }
    structure?.write(into: &output)
    return true
  }
}
