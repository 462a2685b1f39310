internal import CallCore
internal import CallSession

/// Reads what a peer's statistics are at this moment, for who cannot wait for the next sample.
final class StatsReader {
  /// The report of a peer now, or nil while it has no connection. Nil itself before there is a world.
  var report: ((String) -> StatsReport?)?
  /// Calls when the event at work is over; within it, peers are in the midst of what they do.
  var afterEvent: (@escaping () -> Void) -> Void = { $0() }

  func hasConnection(_ peer: String) -> Bool { report?(peer) != nil }

  /// The number in its base unit, or nil while the statistic does not exist.
  func number(of path: ValuePath) -> Double? {
    guard let value = report?(path.peer)?.value(of: path) else { return nil }
    let number: Double
    switch value {
    case .integer(let integer): number = Double(integer)
    case .real(let real): number = real
    case .flag, .text: return nil
    }
    switch path.type.traceType {
    case .integer: return number.rounded()
    case .interval where path.isTimestamp: return number / 1_000
    default: return number
    }
  }
}

extension ValuePath {
  /// Whether it is read from a peer's statistics, at any moment.
  var isStatistic: Bool { name.hasPrefix("stats.") }

  /// W3C counts durations in seconds, and timestamps in milliseconds since 1970.
  var isTimestamp: Bool { name.hasSuffix("Timestamp") }

  /// Whether it is at zero while it is not there yet, also within a connection. What is told of the other end has counted
  /// by the time it is told, and so has a candidate pair that is selected.
  var startsAtZero: Bool {
    let parts = name.split(separator: ".")
    guard isStatistic, parts.count > 2,
      ["inbound-rtp", "outbound-rtp", "transport", "media-source"].contains(parts[1])
    else { return false }
    return counting != nil
  }
}
