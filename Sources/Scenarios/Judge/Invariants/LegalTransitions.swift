internal import CallCore
internal import ScenarioFormat

/// A transition that the vocabulary does not allow is a bug of the app, whatever caused it. This check cannot be turned
/// off.
final class LegalTransitions {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    // Of a peer, or of a pair of peers.
    context.watch.listen(to: PeerEvents.illegalTransition) { [trace = context.trace] record, machine, old, new, event in
      let subject = trace.name(of: record.subject)
      let actual = "\(subject)'s \(machine) was to go from \(old) to \(new) on \(event) at \(Wording.time(record.time))"
      report(Violation(.legalTransitions, at: record.time, actual: actual))
    }
  }
}
