package import CallCore

/// The present value of everything that a scenario watches, updated from the trace as it is written.
///
/// Expectations, triggers and invariants register their slots before the run; an unregistered event costs one table
/// lookup. Listeners are called within the write, so they must not run the world.
package final class Watch: TraceObserver {
  /// A watched value or event: one kind about one subject. `Value` is the type of its first field in the schema, or
  /// `TraceDatum` where the kind is known only by name.
  package struct Slot<Value>: Hashable { fileprivate let index: Int }

  private struct Entry {
    let subject: TraceSubject
    let kind: String
    /// The event that set the present value.
    var setBy: TraceRecord?
    var wasSet = false
    /// Whether it is unknown because the process of the app has ended.
    var isLost = false
    var changedAt: Instant?
    var eventCount = 0
    var listeners: [(TraceRecord) -> Void] = []
    var lossListeners: [() -> Void] = []

    var isOfConnection: Bool { Watch.isOfConnection(kind) }
  }

  package let trace: Trace
  /// The alarms of the run's monitors.
  let alarms = Alarms()
  private var entries: [Entry] = []
  /// The registered entries by the name of their kind.
  private var wanted: [String: [Int]] = [:]
  /// The registered entries by the id of their kind, filled as kinds are declared.
  private var byKind: [[Int]] = []
  /// The listeners of a kind about any subject, by the id of the kind.
  private var ofAllByKind: [[(TraceRecord) -> Void]] = []
  /// Runs work after the world's current event, or immediately between events. Without a world, each record is an
  /// event.
  package var afterWorldEvent: (@escaping () -> Void) -> Void = { $0() }
  private var depth = 0
  private var borders: [() -> Void] = []
  private var deferred: [() -> Void] = []
  /// Whether work waits for the end of the event.
  private var isWaiting = false
  private var isFiringAlarms = false
  private var latest = Instant.zero

  package init(trace: Trace) {
    self.trace = trace
    trace.add(self)
    listen(to: PeerEvents.openConnections) { [unowned self] record, count in
      if count == 0 { forget(record) { $0.isOfConnection } }
    }
    listen(to: PeerEvents.valueForgotten) { [unowned self] record, name in
      forget(record, withProcess: true) { $0.kind == name }
    }
  }

  // MARK: Registering

  /// Returns the slot of a kind about a subject, as a scenario names them.
  package func slot(_ subject: String, _ kind: String) -> Slot<TraceDatum> {
    Slot(index: index(of: kind, about: subject))
  }

  /// Returns the slot of a kind of the schema about a subject.
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

  /// Returns whether a value is unknown while there is no connection.
  static func isOfConnection(_ kind: String) -> Bool {
    ["selected.", "stats.", "q."].contains { kind.hasPrefix($0) }
  }

  /// Calls `listener` for every event of the slot, after its value is updated.
  package func listen<Value>(_ slot: Slot<Value>, _ listener: @escaping (TraceRecord) -> Void) {
    entries[slot.index].listeners.append(listener)
  }

  /// Calls `listener` each time the slot's value becomes unknown again.
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

  /// Calls `listener` for every event of the kind, whichever its subject.
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

  /// Runs `work` after the current event; immediately when there is none.
  func afterEvent(_ work: @escaping () -> Void) {
    if depth == 0, isFiringAlarms { return work() }
    deferred.append(work)
    if depth == 0 { waitForEnd() }
  }

  /// Runs `work` after the event, before monitors look: it begins or ends their windows.
  func beforeLooks(_ work: @escaping () -> Void) {
    borders.append(work)
    if depth == 0 { waitForEnd() }
  }

  /// Ends the watch. Listeners retain their monitors, which retain the watch: without this call, the run would leak.
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

  /// Returns the newest value, or nil before the first, and after its connection has closed or its process has ended.
  package func value(_ slot: Slot<TraceDatum>) -> TraceDatum? { entries[slot.index].setBy.flatMap(trace.value) }

  package func value<Value: TraceFieldValue>(_ slot: Slot<Value>) -> Value? {
    entries[slot.index].setBy.flatMap { trace.value(of: $0, as: Value.self) }
  }

  /// Returns whether the slot ever had a value.
  func wasSet<Value>(_ slot: Slot<Value>) -> Bool { entries[slot.index].wasSet }

  /// Returns whether the value is unknown because the process of the app has ended.
  func isLost<Value>(_ slot: Slot<Value>) -> Bool { entries[slot.index].isLost }

  /// Returns the time at which the newest value was written.
  func changedAt<Value>(_ slot: Slot<Value>) -> Instant? { entries[slot.index].changedAt }

  /// Returns the number of events of the slot.
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

  /// Treats all records that `work` writes, between two events of the world, as one event.
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

  /// Fires the alarms before a time, ahead of the event that begins now.
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

  /// Forgets the values of a closed connection, or of a process that has ended: the selected pair, statistics and quality
  /// are unknown until there is another, and what an app says until it is launched again.
  private func forget(_ record: TraceRecord, withProcess: Bool = false, _ isForgotten: (Entry) -> Bool) {
    for index in entries.indices where entries[index].subject == record.subject && isForgotten(entries[index]) {
      guard entries[index].setBy != nil else { continue }
      (entries[index].setBy, entries[index].isLost) = (nil, withProcess)
      entries[index].changedAt = record.time
      for listener in entries[index].lossListeners { listener() }
    }
  }

  private func update(_ index: Int, with record: TraceRecord) {
    entries[index].eventCount += 1
    entries[index].changedAt = record.time
    if trace.isObservable(record.kind) {
      entries[index].setBy = record
      (entries[index].wasSet, entries[index].isLost) = (true, false)
    }
    for listener in entries[index].listeners { listener(record) }
  }
}
