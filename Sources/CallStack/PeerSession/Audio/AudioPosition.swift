/// The position of a sample in an RTP stream.
package struct AudioPosition: Hashable, Sendable {
  package let ssrc: UInt32
  /// The RTP timestamp at 48 kHz.
  package let timestamp: UInt32

  package init(ssrc: UInt32, timestamp: UInt32) {
    self.ssrc = ssrc
    self.timestamp = timestamp
  }
}
