extension ValuePath {
  /// Whether the value is one of a peer's W3C statistics, which are readable at any time.
  package var isStatistic: Bool { name.hasPrefix("stats.") }

  /// Whether the value is a time in milliseconds since 1970. Other W3C times are durations in seconds.
  package var isTimestamp: Bool { name.hasSuffix("Timestamp") }

  /// Whether the value counts from zero before its statistics object exists, also within a connection. Objects about
  /// the remote end, and a selected candidate pair, have counted before they appear.
  package var startsAtZero: Bool {
    let parts = name.split(separator: ".")
    guard isStatistic, parts.count > 2,
      ["inbound-rtp", "outbound-rtp", "transport", "media-source"].contains(parts[1])
    else { return false }
    return counting != nil
  }

  /// Whether the value is sampled from statistics, and so is unknown until the first sample.
  package var isSampled: Bool { name.hasPrefix("stats.") || name.hasPrefix("q.") }
}
