/// A sample of an RTP stream.
package struct AudioPosition: Hashable, Sendable {
  package let ssrc: UInt32
  /// At 48 kHz.
  package let timestamp: UInt32

  package init(ssrc: UInt32, timestamp: UInt32) {
    self.ssrc = ssrc
    self.timestamp = timestamp
  }
}
