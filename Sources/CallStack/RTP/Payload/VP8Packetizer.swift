import CallCore

/// Cuts a VP8 frame into payloads of about equal size (RFC 7741 section 4.4).
///
/// Partitions are not told apart: all packets are of partition 0, and the first begins it.
package struct VP8Packetizer: Sendable {
  private let descriptor: VP8PayloadDescriptor
  private var split: PayloadSplit
  /// The number of packets.
  package var packetCount: Int { split.count }

  /// Prepares a frame. Returns nil when it is empty or a packet has no room.
  ///
  /// - Parameter descriptor: the fields all packets share; the packetizer sets S and the partition.
  package init?(frameSize: Int, descriptor: VP8PayloadDescriptor, limits: PayloadLimits) {
    guard let split = PayloadSplit(byteCount: frameSize, limits: limits.reduced(by: descriptor.encodedSize)) else {
      return nil
    }
    self.split = split
    self.descriptor = descriptor
  }

  /// Writes the next payload of the prepared frame.
  ///
  /// - Returns: its place in the frame; nil after the last, or, with nothing written, when it does not fit or the frame
  ///   is another one.
  package mutating func next(of frame: RawSpan, into output: inout OutputSpan<UInt8>) -> PayloadPlace? {
    split.writeNext(of: frame, into: &output) { [descriptor] place in
      var descriptor = descriptor
      descriptor.partition = 0
      descriptor.beginsPartition = place.isFirst
      return descriptor
    }
  }
}
