import CallCore

/// The one-byte header that libwebrtc puts before the bytes of a frame whose codec has no payload format. The synthetic
/// codec uses it, and adds temporal layers, which libwebrtc's header does not have.
package struct GenericPayloadDescriptor: Hashable, Sendable, BitwiseCopyable, PayloadDescriptor {
  package var isKeyFrame: Bool
  package var beginsFrame: Bool
  /// The running number of the frame, in fifteen bits.
  package var pictureID: UInt16?
  /// The temporal layer; nil for a stream without layers, and for a frame without a number.
  package var layer: Layer?

  /// What VP8's descriptor says of layers (RFC 7741 section 4.2).
  package struct Layer: Hashable, Sendable, BitwiseCopyable {
    /// The number of the layer, in two bits (TID).
    package var index: UInt8
    /// Whether the frame refers only to the lowest layer (Y).
    package var isSync: Bool
    /// The running number of the frames of the lowest layer (TL0PICIDX).
    package var baseIndex: UInt8

    package init(index: UInt8, isSync: Bool, baseIndex: UInt8) {
      (self.index, self.isSync, self.baseIndex) = (index & 3, isSync, baseIndex)
    }
  }

  package init(isKeyFrame: Bool, beginsFrame: Bool, pictureID: UInt16? = nil, layer: Layer? = nil) {
    self.isKeyFrame = isKeyFrame
    self.beginsFrame = beginsFrame
    self.pictureID = pictureID.map { $0 & 0x7FFF }
    self.layer = pictureID == nil ? nil : layer
  }

  /// Reads the header of a payload, or returns nil when the payload ends inside it.
  package init?(parsing payload: RawSpan, size: inout Int) {
    guard let first = payload.byte(at: 0) else { return nil }
    self.init(isKeyFrame: first & 1 != 0, beginsFrame: first & 2 != 0)
    size = 1
    if first & 4 != 0 {
      guard let id = payload.bigEndian(UInt16.self, at: 1) else { return nil }
      pictureID = id & 0x7FFF
      size = 3
      guard first & 8 != 0 else { return }
      guard let byte = payload.byte(at: 3), let base = payload.byte(at: 4) else { return nil }
      layer = Layer(index: byte >> 6, isSync: byte & 0x20 != 0, baseIndex: base)
      size = 5
    }
  }

  /// The size on the wire in bytes.
  package var encodedSize: Int { pictureID == nil ? 1 : layer == nil ? 3 : 5 }

  /// Writes the header. Returns false, with nothing written, when it does not fit.
  package func write(into output: inout OutputSpan<UInt8>) -> Bool {
    guard output.freeCapacity >= encodedSize else { return false }
    output.append((isKeyFrame ? 1 : 0) | (beginsFrame ? 2 : 0) | (pictureID == nil ? 0 : 4) | (layer == nil ? 0 : 8))
    if let pictureID { output.append(bigEndian: pictureID) }
    if let layer {
      output.append(layer.index << 6 | (layer.isSync ? 0x20 : 0))
      output.append(layer.baseIndex)
    }
    return true
  }

  /// Writes other numbers over those of a payload. A payload without them stays as it is.
  ///
  /// - Parameters:
  ///   - pictureID: the number of the frame, of which the lower fifteen bits are written.
  ///   - base: the number of the base frame, of which the lower eight bits are written.
  package static func renumber(_ payload: inout [UInt8], pictureID: Int64, base: Int64) {
    guard payload.count > 2, payload[0] & 4 != 0 else { return }
    payload[1] = UInt8(truncatingIfNeeded: pictureID >> 8) & 0x7F
    payload[2] = UInt8(truncatingIfNeeded: pictureID)
    if payload[0] & 8 != 0, payload.count > 4 { payload[4] = UInt8(truncatingIfNeeded: base) }
  }
}
