/// Regroups interleaved samples of any length, such as a device's 10 ms, into frames of one packet each.
package struct PCMFramer: ~Copyable {
  private var samples: [Int16] = []
  private var consumed = 0
  /// The number of interleaved samples in a frame: samples per channel times channels.
  package var frameSize: Int

  /// - Precondition: `frameSize` is positive.
  package init(frameSize: Int) {
    precondition(frameSize > 0, "a frame has samples")
    self.frameSize = frameSize
  }

  package mutating func append(_ input: Span<Int16>) {
    if consumed > 0 {
      samples.removeFirst(consumed)
      consumed = 0
    }
    input.withUnsafeBufferPointer { samples.append(contentsOf: $0) }
  }

  /// Moves the next whole frame into `frame`, whose memory is reused, or returns false when there are too few samples.
  package mutating func takeFrame(into frame: inout [Int16]) -> Bool {
    guard pendingCount >= frameSize else { return false }
    frame.removeAll(keepingCapacity: true)
    frame.append(contentsOf: samples[consumed..<consumed + frameSize])
    consumed += frameSize
    return true
  }

  /// Replaces what waits by silence.
  package mutating func silence() {
    for index in consumed..<samples.count { samples[index] = 0 }
  }

  /// The number of interleaved samples that wait for a whole frame.
  package var pendingCount: Int { samples.count - consumed }
}
