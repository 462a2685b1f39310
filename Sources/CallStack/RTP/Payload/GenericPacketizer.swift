import CallCore

/// Cuts a frame of a codec without a payload format into payloads of about equal size.
package struct GenericPacketizer: Sendable {
  private let descriptor: GenericPayloadDescriptor
  private var split: PayloadSplit
  /// The number of packets.
  package var packetCount: Int { split.count }

  /// Prepares a frame. Returns nil when it is empty or a packet has no room.
  package init?(
    frameSize: Int, isKeyFrame: Bool, pictureID: UInt16?, layer: GenericPayloadDescriptor.Layer? = nil,
    limits: PayloadLimits
  ) {
    descriptor = GenericPayloadDescriptor(
      isKeyFrame: isKeyFrame, beginsFrame: false, pictureID: pictureID, layer: layer)
    guard let split = PayloadSplit(byteCount: frameSize, limits: limits.reduced(by: descriptor.encodedSize)) else {
      return nil
    }
    self.split = split
  }

  /// Writes the next payload of the prepared frame.
  ///
  /// - Returns: its place in the frame; nil after the last, or, with nothing written, when it does not fit or the frame
  ///   is another one.
  package mutating func next(of frame: RawSpan, into output: inout OutputSpan<UInt8>) -> PayloadPlace? {
    split.writeNext(of: frame, into: &output) { [descriptor] place in
      var descriptor = descriptor
      descriptor.beginsFrame = place.isFirst
      return descriptor
    }
  }
}
