package import CallCore

/// One thing that happens at a time that moves. Setting the time costs a store.
package final class LoopTimer {
  /// When to fire next; nil for never. It is nil again when the handler runs.
  package var deadline: Instant?
  private let handler: () -> Void

  package init(_ handler: @escaping () -> Void) { self.handler = handler }

  /// Runs the handler when its time has come.
  package func fire(ifDueAt now: Instant) {
    guard let deadline, deadline <= now else { return }
    self.deadline = nil
    handler()
  }
}
