internal import CallCore
internal import ScenarioFormat

/// A message of an app or a server that is not as the vocabulary declares it is a bug of the profile, or of its declaration.
/// It cannot be turned off. What puppets say and faults change is nobody's bug.
final class FittingMessages {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    context.watch.listen(toAll: "signal.misfit") { [unowned trace = context.trace] record in
      let field = { (name: String) in trace.datum(name, of: record)?.description ?? "" }
      report(
        Violation(
          .fittingMessages, at: record.time,
          actual: "\(field("type")) from \(field("from")) to \(field("to")) at \(Wording.time(record.time)): "
            + field("problem")))
    }
  }
}
