internal import CallCore
internal import ScenarioFormat

/// A transition that the vocabulary does not allow is a bug of the app, whoever provoked it. It cannot be turned off.
final class LegalTransitions {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      context.watch.listen(context.watch.slot(peer, "illegal-transition")) { [unowned trace = context.trace] record in
        let field = { (name: String) in trace.datum(name, of: record)?.description ?? "" }
        report(
          Violation(
            .legalTransitions, at: record.time,
            actual: "\(peer)'s \(field("machine")) was to go from \(field("from")) to \(field("to")) "
              + "on \(field("event")) at \(Wording.time(record.time))"))
      }
    }
  }
}
