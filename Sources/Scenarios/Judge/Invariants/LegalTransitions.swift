internal import CallCore
internal import ScenarioFormat

/// A transition that the vocabulary does not allow is a bug of the app, whatever caused it. This check cannot be turned
/// off.
final class LegalTransitions {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      context.watch.listen(to: PeerEvents.illegalTransition, of: peer) { record, machine, old, new, event in
        let actual = "\(peer)'s \(machine) was to go from \(old) to \(new) on \(event) at \(Wording.time(record.time))"
        report(Violation(.legalTransitions, at: record.time, actual: actual))
      }
    }
  }
}
