internal import CallCore

/// The values that a watched value takes, event by event, and the value at the opening of a window.
final class ObservedChanges {
  private let context: MonitorContext
  private let slot: Watch.Slot<TraceDatum>
  private let span: ObservedWindow
  /// The values noted in the current event; nil where it became unknown.
  private var heard: [String?] = []
  /// The value before those.
  private var before: String?

  /// Listens to the value. Must be created before the window starts.
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

  /// Returns the values since the last call, and the value before them.
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

  /// A written value, and whether it differs from the value before.
  struct News {
    let value: String
    let isAnother: Bool
  }

  /// Returns the value that counts as held when the window opens. If an event of a peer opens the window, its value
  /// replaces the one before.
  func held(before: String?, news: [News]) -> String? {
    if news.isEmpty, let value = context.watch.value(slot) { return value.description }
    return span.opensWithPeerEvent ? nil : before
  }
}
