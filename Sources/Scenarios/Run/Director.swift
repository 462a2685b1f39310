internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import VirtualPeer

/// Fires the entries of a timeline: waits for each trigger, then has its effect performed.
///
/// Effects never happen inside the event that triggers them, but in a separate event at the same time.
final class Director {
  private let scenario: Scenario
  private let clock: PeerClock
  private let anchors: Anchors
  private let watch: Watch
  private let perform: (TimelineEntry) -> Void
  private let trace: Trace
  private let subject: TraceSubject
  private var conditions: [Condition] = []
  private var pending = 0
  private var counts: [String: Int] = [:]
  /// The time of each entry's first firing.
  private var firstFirings: [String: Instant] = [:]
  /// Entries whose `until` has come.
  private var stopped: Set<String> = []
  /// How often each entry has fired at the time of its last firing.
  private var bursts: [String: (time: Instant, count: Int)] = [:]
  /// An entry that fires more often at one time brings its own anchor, and is stopped: time would never go on.
  private static let burstLimit = 1_000
  private var isOver = false

  /// - Parameter perform: performs an entry's effect.
  init(
    _ scenario: Scenario, clock: PeerClock, anchors: Anchors, watch: Watch, trace: Trace,
    perform: @escaping (TimelineEntry) -> Void
  ) {
    self.scenario = scenario
    self.clock = clock
    self.anchors = anchors
    self.watch = watch
    self.trace = trace
    self.perform = perform
    subject = trace.subject(ReservedName.timekeeper)
    for entry in scenario.timeline { arm(entry) }
  }

  /// Returns whether an entry has fired for the first time at a point in time.
  func begins(_ entry: TimelineEntry, at time: Instant) -> Bool { firstFirings[entry.id] == time }

  /// Returns the number of firings of an entry.
  func count(of entry: TimelineEntry) -> Int { counts[entry.id] ?? 0 }

  /// Whether the timeline is complete: every entry has fired as often as it says.
  var isDone: Bool {
    pending == 0 && scenario.timeline.allSatisfy { lack(of: $0) == nil || isEndless($0) }
  }

  /// Whether an entry was stopped because it brought its own anchor again and again at one time.
  func isEndless(_ entry: TimelineEntry) -> Bool { bursts[entry.id].map { $0.count > Self.burstLimit } ?? false }

  /// Returns why an entry fired less often than it says, or nil: at the end of a run this makes the run vacuous.
  func lack(of entry: TimelineEntry) -> String? {
    let count = count(of: entry)
    guard count > 0 else { return "its trigger never came" }
    if let burst = bursts[entry.id], burst.count > Self.burstLimit {
      return
        "it fired \(Self.burstLimit) times at \(Wording.time(burst.time)) and was stopped: what it does brings its anchor at "
        + "once; give it a longer 'after'"
    }
    switch entry.trigger {
    case .at, .after: return nil
    case .when(_, _, let times): return count < times ? "it fired \(count) of \(times) times" : nil
    case .every(_, _, let until, let times):
      if let times, count >= times { return nil }
      if let until {
        return stopped.contains(entry.id) || isPast(until) ? nil : "\(Wording.quoted(until)), which ends it, never came"
      }
      return times.map { "it fired \(count) of \($0) times" }
    }
  }

  /// Returns whether an anchor has come. No event announces a point in time, so its state is queried.
  private func isPast(_ anchor: Anchor) -> Bool { anchors.first(anchor).map { $0 <= clock.now } ?? false }

  private func arm(_ entry: TimelineEntry) {
    switch entry.trigger {
    case .at(let time): clock.schedule(at: time) { [unowned self] in fire(entry) }
    case .after(let delay, let anchor):
      listen(anchor) { [unowned self] in fire(entry, after: delay) }
    case .when(let predicate, let delay, let times):
      let condition = Condition(predicate, watch: watch)
      conditions.append(condition)
      var armed = 0
      let begin = { [unowned self] in
        if armed >= times { return }
        armed += 1
        fire(entry, after: delay)
      }
      condition.listenToRises { _ in begin() }
    case .every(let period, let from, let until, let times):
      if let until { listen(until) { [unowned self] in stopped.insert(entry.id) } }
      if let from {
        var hasBegun = false
        listen(from) { [unowned self] in
          guard !hasBegun else { return }
          hasBegun = true
          tick(entry, period, times)
        }
      } else {
        tick(entry, period, times)
      }
    }
  }

  /// Calls `action` each time the anchor comes; a point in time comes once, by a timer.
  private func listen(_ anchor: Anchor, _ action: @escaping () -> Void) {
    if case .time(let time) = anchor.kind {
      clock.schedule(at: max(time, clock.now), action)
    } else {
      anchors.listen(anchor) { _ in action() }
    }
  }

  private func tick(_ entry: TimelineEntry, _ period: Interval, _ times: Int?) {
    clock.schedule(after: period) { [unowned self] in
      if stopped.contains(entry.id) { return }
      if let times, count(of: entry) >= times { return }
      fire(entry)
      tick(entry, period, times)
    }
  }

  private func fire(_ entry: TimelineEntry, after delay: Interval) {
    pending += 1
    clock.schedule(after: delay) { [unowned self] in
      pending -= 1
      fire(entry)
    }
  }

  /// Stops all firings.
  func end() { isOver = true }

  private func fire(_ entry: TimelineEntry) {
    guard !isOver, !isEndless(entry) else { return }
    let now = clock.now
    let before = bursts[entry.id].map { $0.time == now ? $0.count : 0 } ?? 0
    bursts[entry.id] = (now, before + 1)
    guard !isEndless(entry) else { return }
    counts[entry.id, default: 0] += 1
    if firstFirings[entry.id] == nil { firstFirings[entry.id] = now }
    trace.cause = trace.write(RunEvents.fired, subject, entry.id)
    anchors.entryFired(entry.id, at: now)
    perform(entry)
  }
}
