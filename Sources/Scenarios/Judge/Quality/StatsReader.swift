internal import CallCore
internal import ScenarioFormat
package import Statistics

/// Reads a peer's present statistics, for monitors that cannot wait for the next sample.
package final class StatsReader {
  /// Returns the present report of a peer, or nil while it has no connection. The property is nil before there is a
  /// world.
  package var report: ((String) -> StatsReport?)?
  /// Runs work after the current event; within it, peers are in an intermediate state.
  package var afterEvent: (@escaping () -> Void) -> Void = { $0() }

  /// The receivers of the reports that come by the clock, by their subjects.
  private var receivers: [String: [(StatsReport) -> Void]] = [:]

  /// What becomes of the speech over connections, by subject, where values depend on it.
  private var speech: [String: SpeechLoss] = [:]
  private var ended: [String: EndedStreams] = [:]

  package init() {}

  /// Calls `receiver` with every report of a subject that comes by the clock.
  func receive(_ subject: String, _ receiver: @escaping (StatsReport) -> Void) {
    receivers[subject, default: []].append(receiver)
  }

  /// Passes a report on that comes by the clock.
  package func deliver(_ report: StatsReport, of subject: String) {
    for receiver in receivers[subject] ?? [] { receiver(report) }
  }

  /// Ends the listening: receivers retain their monitors.
  package func close() { receivers.removeAll() }

  /// Notes which streams of a subject's connection have ended, before values of its report are read.
  func note(_ report: StatsReport, of subject: String) { ended[subject, default: EndedStreams()].take(report) }

  /// Forgets the streams of a closed connection.
  func forget(_ subject: String) { ended[subject] = nil }

  /// The streams of a subject's connection that have ended.
  func endedStreams(of subject: String) -> [StatsReport.Entry] { ended[subject]?.entries ?? [] }

  /// Returns a value of a report, with what streams have counted that have ended.
  func value(of path: ValuePath, in report: StatsReport) -> StatsReport.Value? {
    report.value(of: path, ended: endedStreams(of: path.subject))
  }

  /// Notes what becomes of the speech over a connection.
  func follow(_ loss: SpeechLoss) { speech[loss.connection] = loss }

  /// Returns for how long somebody spoke whom a connection brings; nil if that is unknown.
  func speechTime(over connection: String) -> Interval? {
    speech[connection].flatMap { $0.isKnown ? .milliseconds(10) * Int64($0.counts.frames) : nil }
  }

  func hasConnection(_ peer: String) -> Bool { report?(peer) != nil }

  /// Returns the number in its base unit, or nil while the statistic does not exist.
  func number(of path: ValuePath) -> Double? {
    guard let report = report?(path.subject) else { return nil }
    note(report, of: path.subject)
    guard let number = value(of: path, in: report)?.number else { return nil }
    switch path.type.traceType {
    case .integer: return number.rounded()
    // As precise as in the trace: of a counter that did not move, a sample and what is read at a border are equal.
    case .interval: return path.interval(number).seconds
    default: return number
    }
  }
}
