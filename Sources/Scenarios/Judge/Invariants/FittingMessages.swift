internal import CallCore
internal import ScenarioFormat

/// A message of an app or a server that does not match its declaration in the vocabulary is a bug of the profile or of
/// the declaration. This check cannot be turned off. Messages of puppets and messages that faults change are exempt.
final class FittingMessages {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    context.watch.listen(to: ServerEvents.messageMisfit) { record, type, sender, receiver, problem in
      let actual = "\(type) from \(sender) to \(receiver) at \(Wording.time(record.time)): \(problem)"
      report(Violation(.fittingMessages, at: record.time, actual: actual))
    }
  }
}
