internal import CallCore

/// What a watched value takes, event by event, and what it held when a window opened.
final class ObservedChanges {
  private let context: MonitorContext
  private let slot: Watch.Slot<TraceDatum>
  private let span: ObservedWindow
  /// Values heard of in the event being told; nil where it became unknown.
  private var heard: [String?] = []
  /// What it held before those.
  private var before: String?

  /// Make it before the window starts.
  ///
  /// - Parameter look: called once after each event that writes the value, or makes it unknown.
  init(
    of slot: Watch.Slot<TraceDatum>, in span: ObservedWindow, _ context: MonitorContext,
    look: @escaping (Instant) -> Void
  ) {
    (self.context, self.slot, self.span) = (context, slot, span)
    context.watch.listen(slot) { [unowned self] record in
      guard let value = context.trace.value(of: record) else { return }
      heard.append(value.description)
      context.later(look)
    }
    context.watch.listen(
      slot,
      toLosses: { [unowned self] in
        heard.append(nil)
        context.later(look)
      })
    span.beforeEntryOpens { [unowned self] in _ = take() }
  }

  /// What the value held, and what it has taken since it was asked last.
  func take() -> (before: String?, news: [News]) {
    defer {
      if let last = heard.last { before = last }
      heard = []
    }
    let news = zip([before] + heard, heard).compactMap { held, value in
      value.map { News(value: $0, isAnother: held != $0) }
    }
    return (before, news)
  }

  /// A value that was written, and whether it held another one, or none, before.
  struct News {
    let value: String
    let isAnother: Bool
  }

  /// What counts as held when the window opens, given what was taken then. An event of a peer that opens the window
  /// replaces what held before it.
  func held(before: String?, news: [News]) -> String? {
    if news.isEmpty, let value = context.watch.value(slot) { return value.description }
    return span.opensWithPeerEvent ? nil : before
  }
}
