internal import CallCore
internal import ScenarioFormat
package import Statistics

/// Reads what a peer's statistics are at this moment, for who cannot wait for the next sample.
package final class StatsReader {
  /// The report of a peer now, or nil while it has no connection. Nil itself before there is a world.
  package var report: ((String) -> StatsReport?)?
  /// Calls when the event at work is over; within it, peers are in the midst of what they do.
  package var afterEvent: (@escaping () -> Void) -> Void = { $0() }

  package init() {}

  func hasConnection(_ peer: String) -> Bool { report?(peer) != nil }

  /// The number in its base unit, or nil while the statistic does not exist.
  func number(of path: ValuePath) -> Double? {
    guard let value = report?(path.subject)?.value(of: path) else { return nil }
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
