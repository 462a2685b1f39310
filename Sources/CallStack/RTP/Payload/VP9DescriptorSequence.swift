package import CallCore

/// Numbers the pictures of a VP9 sender: picture numbers of fifteen bits and TL0PICIDX, both from random values on (RFC
/// 9628 section 4.2).
package struct VP9DescriptorSequence: Sendable {
  private var picture: PictureID
  private var base: UInt8

  package init(random: inout RandomStream) {
    picture = .long(UInt16(random.uniform(below: 1 << 15)))
    base = UInt8(random.uniform(below: 1 << 8))
  }

  /// Begins the next picture. Its layer frames share one number.
  package mutating func beginPicture(temporalLayer: UInt8 = 0) {
    picture = picture.next
    if temporalLayer == 0 { base &+= 1 }
  }

  /// Returns the descriptor of a layer frame in non-flexible mode.
  ///
  /// - Parameters:
  ///   - structure: the scalability structure; a key frame's lowest layer needs one, with its group of pictures.
  package func frame(
    isInterPicturePredicted: Bool, layer: VP9PayloadDescriptor.Layer = .init(),
    structure: VP9ScalabilityStructure? = nil
  ) -> VP9PayloadDescriptor {
    VP9PayloadDescriptor(
      pictureID: picture, isInterPicturePredicted: isInterPicturePredicted, layer: layer, temporalLayerZeroIndex: base,
      structure: structure)
  }

  /// Returns the descriptor of a layer frame in flexible mode, with the distances to its references; none for a frame
  /// that refers to no earlier picture.
  package func frame(
    references: VP9References, layer: VP9PayloadDescriptor.Layer = .init(), structure: VP9ScalabilityStructure? = nil
  ) -> VP9PayloadDescriptor {
    VP9PayloadDescriptor(
      pictureID: picture, isInterPicturePredicted: references.count > 0, layer: layer, isFlexible: true,
      references: references, structure: structure)
  }
}
