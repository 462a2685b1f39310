import CallCore

/// Cuts a frame of a codec without a payload format into payloads of about equal size.
package struct GenericPacketizer: Sendable {
  private let descriptor: GenericPayloadDescriptor
  private var split: PayloadSplit
  private var offset = 0
  /// The number of packets.
  package var packetCount: Int { split.count }

  /// Prepares a frame. Returns nil when it is empty or a packet has no room.
  package init?(frameSize: Int, isKeyFrame: Bool, pictureID: UInt16?, limits: PayloadLimits) {
    descriptor = GenericPayloadDescriptor(isKeyFrame: isKeyFrame, beginsFrame: false, pictureID: pictureID)
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
    var following = split
    guard let size = following.next(), offset + size <= frame.byteCount,
      output.freeCapacity >= descriptor.encodedSize + size
    else { return nil }
    let place = PayloadPlace(isFirst: offset == 0, isLast: offset + size == frame.byteCount)
    var descriptor = descriptor
    descriptor.beginsFrame = place.isFirst
    guard descriptor.write(into: &output) else { return nil }
    output.append(contentsOf: frame.extracting(offset..<offset + size))
    split = following
    offset += size
    return place
  }
}
