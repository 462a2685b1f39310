public import CallCore

/// The states of one direction of a link over time: its settings, up or down, and the good and bad states of its
/// channel; or what acts on packets beside all links. Two runs whose logs are equal met the same channel, whatever they
/// sent.
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

  /// Notes something beside the states of links that acts on what packets carry, such as a rule that drops them: it
  /// enters ``channelHashes(every:)`` with the present time.
  public func noteChannel(_ what: String) {
    if fabric.recordsChannels { fabric.channelLog.note(FNV1a.hash(of: what), at: now) }
  }

  /// Returns, for the end of each period that has passed and for the present, a hash over the states of all links from
  /// the start to there: settings, up or down, the states of Gilbert-Elliott channels, and the identity of random draws;
  /// and over what was noted beside them. Packets do not enter it. Empty without ``recordsChannels``.
  ///
  /// - Precondition: `period` is positive.
  public func channelHashes(every period: Interval) -> [UInt64] {
    precondition(period > .zero, "a period is positive")
    guard recordsChannels else { return [] }
    var logs = (0..<fabric.wires.count).map { fabric.wires[$0].channelLog(until: now) }
    var running = (0..<fabric.wires.count).map { index in
      var hash = FNV1a()
      hash.mix(trace.name(of: fabric.wires[index].subject).utf8)
      return hash
    }
    logs.append(fabric.channelLog.entries)
    running.append(FNV1a())
    var next = [Int](repeating: 0, count: logs.count)
    var hashes: [UInt64] = []
    var end = Instant.zero + period
    // The last of them holds the rest, with what happens now.
    while true {
      let isRest = end > now
      var whole = FNV1a()
      for log in logs.indices {
        while next[log] < logs[log].count, isRest || logs[log][next[log]].time < end {
          running[log].mix(word: UInt64(bitPattern: logs[log][next[log]].time.nanoseconds))
          running[log].mix(word: logs[log][next[log]].state)
          next[log] += 1
        }
        whole.mix(word: running[log].value)
      }
      hashes.append(whole.value)
      guard !isRest else { return hashes }
      end += period
    }
  }
}
