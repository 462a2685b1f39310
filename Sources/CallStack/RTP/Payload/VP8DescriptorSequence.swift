package import CallCore

/// Numbers the frames of a VP8 sender: picture numbers of fifteen bits and TL0PICIDX, both from random values on (RFC
/// 7741 section 4.2).
package struct VP8DescriptorSequence: Sendable {
  private var picture: PictureID
  private var base: UInt8

  package init(random: inout RandomStream) {
    picture = .long(UInt16(random.uniform(below: 1 << 15)))
    base = UInt8(random.uniform(below: 1 << 8))
  }

  /// Returns the descriptor of the next frame.
  ///
  /// - Parameters:
  ///   - temporalLayer: the frame's layer; nil for a stream without layers, which has no TL0PICIDX.
  ///   - isLayerSync: whether the frame refers only to the lowest layer.
  ///   - isNonReference: whether no other frame refers to it.
  package mutating func next(
    temporalLayer: UInt8? = nil, isLayerSync: Bool = false, isNonReference: Bool = false
  ) -> VP8PayloadDescriptor {
    picture = picture.next
    if temporalLayer == 0 { base &+= 1 }
    return VP8PayloadDescriptor(
      isNonReference: isNonReference, pictureID: picture, temporalLayerZeroIndex: temporalLayer == nil ? nil : base,
      temporalLayer: temporalLayer, isLayerSync: isLayerSync)
  }
}
