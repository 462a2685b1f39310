package import CallCore
package import ScenarioFormat

/// The times at which the anchors of a scenario came: firings of entries, entered states, events, first truths.
package final class Anchors {
  /// The times at which an anchor came.
  private final class Record {
    var times: [Instant] = []
    var listeners: [(Instant) -> Void] = []

    func come(at time: Instant) {
      times.append(time)
      for listener in listeners { listener(time) }
    }
  }

  private let watch: Watch
  private let definitions: [Scenario.Definition]
  private var records: [String: Record] = [:]
  private var conditions: [Condition] = []
  /// The end of the run, once it is over: windows that end with the run end here.
  private(set) var endOfRun: Instant?

  /// The last firing of any timeline entry, or nil before the first.
  private(set) var lastFiring: Instant?

  /// Starts to listen. Must be called before the world is made, because the initial values of peers come at the start.
  package init(_ scenario: Scenario, watch: Watch) {
    self.watch = watch
    definitions = scenario.definitions
    for anchor in scenario.timeline.flatMap(\.trigger.anchors) { _ = record(of: anchor) }
  }

  /// Calls `listener` each time the anchor comes, and immediately for each past time. Points in time and the end of the
  /// run are not announced, but can be queried.
  package func listen(_ anchor: Anchor, _ listener: @escaping (Instant) -> Void) {
    let record = record(of: anchor)
    record.listeners.append(listener)
    for time in record.times { listener(time) }
  }

  /// Returns the first time of the anchor, or nil while it has not come.
  package func first(_ anchor: Anchor) -> Instant? {
    switch anchor.kind {
    case .time(let time): time
    case .end: endOfRun
    default: record(of: anchor).times.first
    }
  }

  /// Returns all times of the anchor.
  func all(_ anchor: Anchor) -> [Instant] {
    switch anchor.kind {
    case .time(let time): [time]
    case .end: endOfRun.map { [$0] } ?? []
    default: record(of: anchor).times
    }
  }

  /// Returns the first firing of a timeline entry.
  package func firstFiring(of id: String) -> Instant? { records["entry \(id)"]?.times.first }

  package func entryFired(_ id: String, at time: Instant) {
    lastFiring = time
    if records["entry \(id)"] == nil { records["entry \(id)"] = Record() }
    records["entry \(id)"]?.come(at: time)
  }

  func finish(at time: Instant) { endOfRun = time }

  /// Returns the record of an anchor, which begins with the first call: query it before the run begins.
  private func record(of anchor: Anchor) -> Record {
    let key = Self.key(anchor.kind)
    if let known = records[key] { return known }
    let record = Record()
    records[key] = record
    switch anchor.kind {
    case .time, .end, .entry: break
    case .definition(let name):
      guard let definition = definitions.first(where: { $0.name == name }) else { break }
      let condition = Condition(definition.predicate, watch: watch)
      conditions.append(condition)
      condition.listenToRises { if record.times.isEmpty { record.come(at: $0) } }
    case .entersState(let subject, let machine, let state):
      let slot = watch.slot(subject, machine)
      watch.listen(slot) { [unowned self] event in
        if watch.value(slot) == .symbol(state) { record.come(at: event.time) }
      }
    case .becomesTrue(let subject, let value):
      let slot = watch.slot(subject, value)
      watch.listen(slot) { [unowned self] event in
        guard watch.value(slot) == .flag(true), record.times.isEmpty else { return }
        watch.beforeLooks { [unowned self] in
          if watch.value(slot) == .flag(true), record.times.isEmpty { record.come(at: event.time) }
        }
      }
    case .event(let subject, let name):
      listen(to: name, of: subject) { record.come(at: $0) }
    }
    return record
  }

  private func listen(to name: String, of subject: String, _ come: @escaping (Instant) -> Void) {
    func rest(after prefix: String) -> String? { name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil }
    if let awaited = rest(after: EventPrefix.user) {
      watch.listen(to: PeerEvents.action, of: subject) { event, action, _ in
        if action == awaited { come(event.time) }
      }
    } else if let awaited = rest(after: EventPrefix.code) {
      watch.listen(to: PeerEvents.code, of: subject) { event, code in if code == awaited { come(event.time) } }
    } else if let awaited = rest(after: EventPrefix.sent) {
      watch.listen(to: ServerEvents.messageSent, of: subject) { event, type, _, isLost in
        if type == awaited, !isLost { come(event.time) }
      }
    } else if let awaited = rest(after: EventPrefix.received) {
      watch.listen(to: ServerEvents.messageReceived, of: subject) { event, type, _ in
        if type == awaited { come(event.time) }
      }
    } else {
      watch.listen(watch.slot(subject, name)) { come($0.time) }
    }
  }

  private static func key(_ kind: Anchor.Kind) -> String {
    switch kind {
    case .time(let time): "time \(time.nanoseconds)"
    case .end: "end"
    case .entry(let id): "entry \(id)"
    case .definition(let name): "definition \(name)"
    case .entersState(let subject, let machine, let state): "state \(subject) \(machine) \(state)"
    case .becomesTrue(let subject, let value): "true \(subject) \(value)"
    case .event(let subject, let name): "event \(subject) \(name)"
    }
  }
}
