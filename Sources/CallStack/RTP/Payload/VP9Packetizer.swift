import CallCore

/// Cuts a VP9 layer frame into payloads of about equal size (RFC 9628 section 4.5).
///
/// Only the first packet carries the scalability structure.
package struct VP9Packetizer: Sendable {
  private let descriptor: VP9PayloadDescriptor
  private var split: PayloadSplit
  /// The number of packets.
  package var packetCount: Int { split.count }

  /// Prepares a frame. Returns nil when it is empty or a packet has no room.
  ///
  /// - Parameter descriptor: the fields all packets share; the packetizer sets B and E.
  package init?(frameSize: Int, descriptor: VP9PayloadDescriptor, limits: PayloadLimits) {
    let structureSize = descriptor.structure?.encodedSize ?? 0
    var limits = limits.reduced(by: descriptor.encodedSize - structureSize)
    limits.firstReduction += structureSize
    limits.singleReduction += structureSize
    guard let split = PayloadSplit(byteCount: frameSize, limits: limits) else { return nil }
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
      descriptor.beginsFrame = place.isFirst
      descriptor.endsFrame = place.isLast
      if !place.isFirst { descriptor.structure = nil }
      return descriptor
    }
  }
}
