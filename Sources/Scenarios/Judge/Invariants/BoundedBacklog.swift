internal import CallCore
internal import ScenarioFormat

/// What an app keeps until something else comes is limited, however much arrives.
final class BoundedBacklog {
  /// More than any correct peer sends before its description or its answer.
  static let limit = 1_000

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for subject in context.scenario.peers.flatMap({ Set([$0.name] + $0.connectionSubjects).sorted() }) {
      context.watch.listen(to: PeerEvents.backlog, of: subject) { record, queue, count in
        guard count >= Self.limit else { return }
        let actual = "\(subject) keeps \(count) \(queue) at \(Wording.time(record.time))"
        report(Violation(.boundedBacklog, at: record.time, actual: actual))
      }
    }
  }
}
