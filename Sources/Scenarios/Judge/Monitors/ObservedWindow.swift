package import CallCore
package import ScenarioFormat

/// The part of a run that a window names: from the event of its first anchor up to, not including, that of its second.
///
/// A point in time has no events of its own, so events at exactly that time belong to the part after it.
package final class ObservedWindow {
  enum Phase: Equatable {
    case waiting
    case open(since: Instant)
    case closed(since: Instant, until: Instant)
  }

  private let window: Window
  private let context: MonitorContext
  private(set) var phase = Phase.waiting
  /// Called once after the event that opens it, and once after the one that closes it; not when ``contains(_:)`` shows
  /// it.
  var onChange: ((Instant) -> Void)?

  package init(_ window: Window, _ context: MonitorContext) {
    self.window = window
    self.context = context
  }

  /// Starts to listen; `onChange` must be set before.
  package func start() {
    switch window.from?.kind {
    case nil: open(at: .zero)
    case .time(let time) where time <= .zero: open(at: .zero)
    case .time(let time): context.alarms.schedule(at: time) { [weak self] in self?.open(at: time) }
    case .end: break
    default:
      guard let from = window.from else { break }
      context.anchors.listen(from) { [weak self] in self?.open(at: $0) }
    }
    switch window.to?.kind {
    case nil, .end: break
    case .time(let time): context.alarms.schedule(at: time) { [weak self] in self?.close(at: time) }
    default:
      guard let to = window.to else { break }
      context.anchors.listen(to) { [weak self] in self?.close(at: $0) }
    }
  }

  /// Returns whether the present is inside; a window that begins or ends by the clock opens and closes here.
  package func contains(_ now: Instant) -> Bool {
    openByClock(at: now)
    if let to = window.to, let limit = to.time, now >= limit { end(at: limit) }
    if case .open = phase { return true }
    return false
  }

  var isOpen: Bool {
    if case .open = phase { return true }
    return false
  }

  package var openedAt: Instant? {
    switch phase {
    case .waiting: nil
    case .open(let since), .closed(let since, _): since
    }
  }

  package var closedAt: Instant? {
    guard case .closed(_, let until) = phase else { return nil }
    return until
  }

  /// Whether an anchor or a time will close it, rather than the end of the run. The run waits for that.
  var waitsForAnchor: Bool {
    switch phase {
    case .waiting: window.from != nil && window.from?.kind != .end
    case .open: isBounded
    case .closed: false
    }
  }

  private var isBounded: Bool { window.to.map { $0.kind != .end } ?? false }

  /// Whether an event of a peer opens it: then the change by that event is the first value inside, and the value before
  /// is outside.
  var opensWithPeerEvent: Bool { window.from?.isPeerEvent ?? false }

  /// Calls `action` when the clock is about to open the window, before all events at that time.
  func beforeClockOpens(_ action: @escaping () -> Void) {
    guard let from = window.from, let time = from.time, time > .zero else { return }
    context.alarms.schedule(at: time - .nanoseconds(1), action)
  }

  /// Calls `action` when an entry is about to open the window, before the entry's effect.
  func beforeEntryOpens(_ action: @escaping () -> Void) {
    guard let from = window.from, case .entry = from.kind else { return }
    context.anchors.listen(from) { [unowned self] _ in if openedAt == nil { action() } }
  }

  /// The reason why a condition that held to the end of the run proves little, or nil: the run has no set duration, and
  /// no entry fired after the window opened, so that it was open only for the wait before the end.
  var brevity: String? {
    guard case .open(let since) = phase, !isBounded, context.scenario.duration == nil else { return nil }
    if let last = context.anchors.lastFiring, last > since { return nil }
    return "nothing on the timeline came after the window opened at \(Wording.time(since)), and nothing says how long "
      + "the run lasts: write run:"
  }

  private func open(at time: Instant) {
    if begin(at: time) { announce(time) }
  }

  private func close(at time: Instant) {
    openByClock(at: time)
    if end(at: time) { announce(time) }
  }

  /// Opens it by the clock, which precedes all events at its time.
  private func openByClock(at now: Instant) {
    if let from = window.from, let time = from.time, now >= time { begin(at: time) }
  }

  @discardableResult
  private func begin(at time: Instant) -> Bool {
    guard phase == .waiting else { return false }
    phase = isOver(at: time) ? .closed(since: time, until: time) : .open(since: time)
    return true
  }

  /// Returns whether the clock would have closed it by a time, had it been open.
  private func isOver(at time: Instant) -> Bool {
    guard let to = window.to, let limit = to.time else { return false }
    return time >= limit
  }

  @discardableResult
  private func end(at time: Instant) -> Bool {
    guard case .open(let since) = phase else { return false }
    phase = .closed(since: since, until: time)
    return true
  }

  private func announce(_ time: Instant) {
    context.watch.afterEvent { [weak self] in self?.onChange?(time) }
  }

  /// The reason why nothing was judged at the end of the run, or nil when the window was as intended.
  var emptiness: String? {
    switch phase {
    case .waiting:
      guard let from = window.from else { return nil }
      if from.kind == .end { return "the window begins with the end of the run" }
      return "\(Wording.quoted(from)) never came"
    case .open(let since):
      guard isBounded, let to = window.to else { return nil }
      let earlier = context.anchors.first(to).map { ", only at \(Wording.time($0)), before the window opened" } ?? ""
      return "the window that opened at \(Wording.time(since)) never closed: \(Wording.quoted(to)) never came\(earlier)"
    case .closed(let since, let until):
      guard since == until else { return nil }
      if let from = window.from, let to = window.to, from.time == nil, isOver(at: since) {
        return "the window ends at \(to.text), but \(Wording.quoted(from)) came only at \(Wording.time(since))"
      }
      return "the window opened and closed at \(Wording.time(since))"
    }
  }

  var text: String {
    switch (window.from, window.to) {
    case (nil, nil): "throughout the run"
    case (nil, let to?): "until \(to.text)"
    case (let from?, nil): "from \(from.text) to the end"
    case (let from?, let to?): "between \(from.text) and \(to.text)"
    }
  }
}

extension Anchor {
  /// The point in time; nil for an event.
  fileprivate var time: Instant? {
    if case .time(let time) = kind { time } else { nil }
  }

  /// Whether it occurs within an event of a peer.
  var isPeerEvent: Bool {
    switch kind {
    case .time, .end, .entry: false
    case .definition, .entersState, .becomesTrue, .event: true
    }
  }
}
