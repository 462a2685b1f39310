public import CallCore

/// The states of one direction of a link over time: its settings, up or down, and the good and bad states of its
/// channel. Two runs whose logs are equal met the same channel, whatever they sent.
struct ChannelLog {
  private(set) var entries: [(time: Instant, state: UInt64)] = []

  mutating func note(_ state: UInt64, at time: Instant) { entries.append((time, state)) }
}

extension Simulator {
  /// Whether links keep what ``channelHashes(every:)`` needs. Takes effect for links that are made later.
  public var recordsChannels: Bool {
    get { fabric.recordsChannels }
    set { fabric.recordsChannels = newValue }
  }

  /// Returns, for the end of each period that has passed, a hash over the states of all links from the start to there:
  /// settings, up or down, the states of Gilbert-Elliott channels, and the identity of random draws. Packets do not
  /// enter it. Empty without ``recordsChannels``.
  ///
  /// - Precondition: `period` is positive.
  public func channelHashes(every period: Interval) -> [UInt64] {
    precondition(period > .zero, "a period is positive")
    guard recordsChannels else { return [] }
    let logs = (0..<fabric.wires.count).map { fabric.wires[$0].channelLog(until: now) }
    var running = (0..<fabric.wires.count).map { index in
      var hash = FNV1a()
      hash.mix(trace.name(of: fabric.wires[index].subject).utf8)
      return hash
    }
    var next = [Int](repeating: 0, count: logs.count)
    var hashes: [UInt64] = []
    var end = Instant.zero + period
    while end <= now {
      var whole = FNV1a()
      for wire in logs.indices {
        while next[wire] < logs[wire].count, logs[wire][next[wire]].time < end {
          running[wire].mix(word: UInt64(bitPattern: logs[wire][next[wire]].time.nanoseconds))
          running[wire].mix(word: logs[wire][next[wire]].state)
          next[wire] += 1
        }
        whole.mix(word: running[wire].value)
      }
      hashes.append(whole.value)
      end += period
    }
    return hashes
  }
}
