/// Regroups interleaved samples of any length, such as a device's 10 ms, into whole frames of one packet.
public struct PCMFramer: ~Copyable {
  private var samples: [Int16] = []
  private var consumed = 0
  /// Interleaved samples in a frame: samples a channel times channels.
  public var frameSize: Int

  /// - Precondition: `frameSize` is positive.
  public init(frameSize: Int) {
    precondition(frameSize > 0, "a frame has samples")
    self.frameSize = frameSize
  }

  public mutating func append(_ input: Span<Int16>) {
    if consumed > 0 {
      samples.removeFirst(consumed)
      consumed = 0
    }
    input.withUnsafeBufferPointer { samples.append(contentsOf: $0) }
  }

  /// Hands out the next whole frame, or returns nil when fewer samples are waiting.
  public mutating func withNextFrame<Result, Failure: Error>(
    _ body: (Span<Int16>) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard samples.count - consumed >= frameSize else { return nil }
    let start = consumed
    consumed += frameSize
    return try body(samples.span.extracting(start..<start + frameSize))
  }

  /// Interleaved samples waiting for a whole frame.
  public var pendingCount: Int { samples.count - consumed }
}
