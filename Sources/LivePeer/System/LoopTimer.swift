package import CallCore

/// A timer with a fixed handler and a deadline that can be changed at the cost of a store.
package final class LoopTimer {
  /// The time to fire; nil for never. It is nil again when the handler runs.
  package var deadline: Instant?
  private let handler: () -> Void

  package init(_ handler: @escaping () -> Void) { self.handler = handler }

  /// Runs the handler if the deadline has passed.
  package func fire(ifDueAt now: Instant) {
    guard let deadline, deadline <= now else { return }
    self.deadline = nil
    handler()
  }
}
