internal import CallCore
internal import ScenarioFormat

/// A message of an app or a server that is not as the vocabulary declares it is a bug of the profile, or of its declaration.
/// It cannot be turned off. What puppets say and faults change is nobody's bug.
final class FittingMessages {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    context.watch.listen(to: ServerEvents.messageMisfit) { record, type, sender, receiver, problem in
      let actual = "\(type) from \(sender) to \(receiver) at \(Wording.time(record.time)): \(problem)"
      report(Violation(.fittingMessages, at: record.time, actual: actual))
    }
  }
}
