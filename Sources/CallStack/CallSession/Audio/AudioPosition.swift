/// A sample of an RTP stream.
public struct AudioPosition: Hashable, Sendable {
  public let ssrc: UInt32
  /// At 48 kHz.
  public let timestamp: UInt32

  public init(ssrc: UInt32, timestamp: UInt32) {
    self.ssrc = ssrc
    self.timestamp = timestamp
  }
}
