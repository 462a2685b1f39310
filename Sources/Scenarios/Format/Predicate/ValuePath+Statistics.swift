extension ValuePath {
  /// Whether it is read from a peer's statistics, at any moment.
  package var isStatistic: Bool { name.hasPrefix("stats.") }

  /// W3C counts durations in seconds, and timestamps in milliseconds since 1970.
  package var isTimestamp: Bool { name.hasSuffix("Timestamp") }

  /// Whether it is at zero while it is not there yet, also within a connection. What is told of the other end has counted
  /// by the time it is told, and so has a candidate pair that is selected.
  package var startsAtZero: Bool {
    let parts = name.split(separator: ".")
    guard isStatistic, parts.count > 2,
      ["inbound-rtp", "outbound-rtp", "transport", "media-source"].contains(parts[1])
    else { return false }
    return counting != nil
  }

  /// Whether it is sampled from statistics, and so is unknown until the first sample.
  package var isSampled: Bool { name.hasPrefix("stats.") || name.hasPrefix("q.") }
}
