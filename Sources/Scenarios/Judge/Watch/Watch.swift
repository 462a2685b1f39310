package import CallCore

/// The present value of everything a scenario watches, kept by reading the trace as it is written.
///
/// Expectations, triggers and invariants register what they need before the run; whatever nobody registered costs one
/// table look-up an event. Listeners are told from within the write, so they must not drive the world themselves.
package final class Watch: TraceObserver {
  /// A watched value or event: one kind about one subject. `Value` is the type that the schema has for its first field, or
  /// `TraceDatum` where the kind is known by its name alone.
  package struct Slot<Value>: Hashable { fileprivate let index: Int }

  private struct Entry {
    let subject: TraceSubject
    let kind: String
    /// The event that set the present value.
    var setBy: TraceRecord?
    var wasSet = false
    var changedAt: Instant?
    var eventCount = 0
    var listeners: [(TraceRecord) -> Void] = []
    var lossListeners: [() -> Void] = []

    var isOfConnection: Bool { Watch.isOfConnection(kind) }
  }

  package let trace: Trace
  /// What is due when nothing happens.
  let alarms = Alarms()
  private var entries: [Entry] = []
  /// Registered entries by the name of their kind.
  private var wanted: [String: [Int]] = [:]
  /// Registered entries by the id of their kind, filled in as kinds are declared.
  private var byKind: [[Int]] = []
  /// Listeners of a kind about any subject, by the id of the kind.
  private var ofAllByKind: [[(TraceRecord) -> Void]] = []
  /// Runs work once the world's event at work is over, and at once between events. While there is no world, each record
  /// is an event.
  package var afterWorldEvent: (@escaping () -> Void) -> Void = { $0() }
  private var depth = 0
  private var borders: [() -> Void] = []
  private var deferred: [() -> Void] = []
  /// Whether the end of an event is waited for.
  private var isWaiting = false
  private var isFiringAlarms = false
  private var latest = Instant.zero

  package init(trace: Trace) {
    self.trace = trace
    trace.add(self)
    listen(to: PeerEvents.openConnections) { [unowned self] record, count in
      if count == 0 { forgetConnection(record) }
    }
  }

  // MARK: Registering

  /// The slot of a kind about a subject, which a scenario names.
  package func slot(_ subject: String, _ kind: String) -> Slot<TraceDatum> {
    Slot(index: index(of: kind, about: subject))
  }

  /// The slot of a kind of the schema about a subject.
  package func slot<Value, each Rest>(
    _ subject: String, _ event: TraceEvent<Value, repeat each Rest>
  ) -> Slot<Value> {
    trace.declare(event)
    return Slot(index: index(of: event.name, about: subject))
  }

  private func index(of kind: String, about subject: String) -> Int {
    let subject = trace.subject(subject)
    if let known = wanted[kind]?.first(where: { entries[$0].subject == subject }) { return known }
    let index = entries.count
    entries.append(Entry(subject: subject, kind: kind))
    wanted[kind, default: []].append(index)
    if let declared = trace.kind(named: kind), Int(declared.id) < byKind.count {
      byKind[Int(declared.id)].append(index)
    }
    return index
  }

  /// Whether a value is unknown where there is no connection, before and after one.
  static func isOfConnection(_ kind: String) -> Bool {
    ["selected.", "stats.", "q."].contains { kind.hasPrefix($0) }
  }

  /// Calls `listener` for every event of the slot, after its value is updated.
  package func listen<Value>(_ slot: Slot<Value>, _ listener: @escaping (TraceRecord) -> Void) {
    entries[slot.index].listeners.append(listener)
  }

  /// Calls `listener` each time that the slot's value becomes unknown again.
  func listen<Value>(_ slot: Slot<Value>, toLosses listener: @escaping () -> Void) {
    entries[slot.index].lossListeners.append(listener)
  }

  /// Calls `listener` for every event of the kind about the subject, after its value is updated.
  package func listen<each Value>(
    to event: TraceEvent<repeat each Value>, of subject: String,
    _ listener: @escaping (TraceRecord, repeat each Value) -> Void
  ) {
    let reader = trace.reader(of: event)
    entries[index(of: event.name, about: subject)].listeners.append { [unowned trace] record in
      let values = reader.values(of: record, in: trace)
      listener(record, repeat each values)
    }
  }

  /// Calls `listener` for every event of the kind, whoever it is about.
  package func listen<each Value>(
    to event: TraceEvent<repeat each Value>, _ listener: @escaping (TraceRecord, repeat each Value) -> Void
  ) {
    let reader = trace.reader(of: event)
    resolveKinds()
    ofAllByKind[Int(reader.kind.id)].append { [unowned trace] record in
      let values = reader.values(of: record, in: trace)
      listener(record, repeat each values)
    }
  }

  /// Runs `work` once the event being told is over; at once when there is none.
  func afterEvent(_ work: @escaping () -> Void) {
    if depth == 0, isFiringAlarms { return work() }
    deferred.append(work)
    if depth == 0 { waitForEnd() }
  }

  /// Runs `work` when the event is over, before whoever only looks then: it begins or ends what they look at.
  func beforeLooks(_ work: @escaping () -> Void) {
    borders.append(work)
    if depth == 0 { waitForEnd() }
  }

  /// Ends the watch. Listeners hold what they tell, which holds the watch: without this, nothing of a run would go.
  package func close() {
    for index in entries.indices {
      entries[index].listeners.removeAll()
      entries[index].lossListeners.removeAll()
    }
    for index in ofAllByKind.indices { ofAllByKind[index].removeAll() }
    borders.removeAll()
    deferred.removeAll()
    alarms.removeAll()
    trace.removeObservers()
  }

  // MARK: Reading

  /// The newest value, or nil before the first, and once what it is of is gone.
  package func value(_ slot: Slot<TraceDatum>) -> TraceDatum? { entries[slot.index].setBy.flatMap(trace.value) }

  package func value<Value: TraceFieldValue>(_ slot: Slot<Value>) -> Value? {
    entries[slot.index].setBy.flatMap { trace.value(of: $0, as: Value.self) }
  }

  /// Whether it ever had a value.
  func wasSet<Value>(_ slot: Slot<Value>) -> Bool { entries[slot.index].wasSet }

  /// When the newest value was written.
  func changedAt<Value>(_ slot: Slot<Value>) -> Instant? { entries[slot.index].changedAt }

  /// How many events of the slot there were.
  func eventCount<Value>(_ slot: Slot<Value>) -> Int { entries[slot.index].eventCount }

  // MARK: TraceObserver

  package func observe(_ record: TraceRecord, in trace: Trace) {
    reach(record.time)
    let kind = Int(record.kind.id)
    if kind >= byKind.count { resolveKinds() }
    guard !byKind[kind].isEmpty || !ofAllByKind[kind].isEmpty else { return }
    depth += 1
    for index in byKind[kind] where entries[index].subject == record.subject { update(index, with: record) }
    for listener in ofAllByKind[kind] { listener(record) }
    depth -= 1
    if depth == 0 { waitForEnd() }
  }

  /// Takes all that `work` writes, between two events of the world, as one event.
  package func asOneEvent(_ work: () -> Void) {
    reach(trace.now)
    depth += 1
    work()
    depth -= 1
    if depth == 0 { waitForEnd() }
  }

  private func reach(_ time: Instant) {
    guard time > latest else { return }
    latest = time
    if depth == 0, !isWaiting { fireAlarms(before: time) }
  }

  /// Time alone decides before anything of the event that begins now.
  private func fireAlarms(before time: Instant) {
    isFiringAlarms = true
    alarms.fire(before: time)
    isFiringAlarms = false
  }

  private func waitForEnd() {
    guard !isWaiting, !deferred.isEmpty || !borders.isEmpty else { return }
    isWaiting = true
    afterWorldEvent { [weak self] in self?.endEvent() }
  }

  private func endEvent() {
    depth += 1
    while !borders.isEmpty {
      let work = borders
      borders.removeAll(keepingCapacity: true)
      for item in work { item() }
    }
    depth -= 1
    isWaiting = false
    let work = deferred
    deferred.removeAll(keepingCapacity: true)
    for item in work { item() }
  }

  private func resolveKinds() {
    while byKind.count < trace.declarations.count {
      ofAllByKind.append([])
      byKind.append(wanted[trace.declarations[byKind.count].name] ?? [])
    }
  }

  /// The peer has closed its connection: nothing is known of a selected pair, of statistics and of quality
  /// until there is another.
  private func forgetConnection(_ record: TraceRecord) {
    for index in entries.indices where entries[index].subject == record.subject && entries[index].isOfConnection {
      guard entries[index].setBy != nil else { continue }
      entries[index].setBy = nil
      entries[index].changedAt = record.time
      for listener in entries[index].lossListeners { listener() }
    }
  }

  private func update(_ index: Int, with record: TraceRecord) {
    entries[index].eventCount += 1
    entries[index].changedAt = record.time
    if trace.isObservable(record.kind) {
      entries[index].setBy = record
      entries[index].wasSet = true
    }
    for listener in entries[index].listeners { listener(record) }
  }
}
