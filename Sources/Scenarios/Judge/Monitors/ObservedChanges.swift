internal import CallCore

/// What a watched value takes, event by event, and what it held when a window opened.
final class ObservedChanges {
  private let context: MonitorContext
  private let slot: Watch.Slot
  private let span: ObservedWindow
  /// Values heard of in the event being told.
  private var heard: [String] = []
  /// What it held before those.
  private var before: String?

  /// Make it before the window starts.
  ///
  /// - Parameter look: called once after each event that writes the value.
  init(of slot: Watch.Slot, in span: ObservedWindow, _ context: MonitorContext, look: @escaping (Instant) -> Void) {
    (self.context, self.slot, self.span) = (context, slot, span)
    context.watch.listen(slot) { [unowned self] record in
      guard record.fieldCount > 0 else { return }
      heard.append(context.trace.datum(at: 0, of: record).description)
      context.later(look)
    }
    context.watch.listen(slot, toLosses: { [unowned self] in (before, heard) = (nil, []) })
    span.beforeEntryOpens { [unowned self] in _ = take() }
  }

  /// The values since it was asked last, and what the value held before them.
  func take() -> (before: String?, news: [String]) {
    defer {
      before = heard.last ?? before
      heard = []
    }
    return (before, heard)
  }

  /// What counts as held when the window opens, given what was taken then. An event of a peer that opens the window
  /// replaces what held before it.
  func held(before: String?, news: [String]) -> String? {
    if news.isEmpty { return context.watch.value(slot)?.description }
    return span.opensWithPeerEvent ? nil : before
  }
}
