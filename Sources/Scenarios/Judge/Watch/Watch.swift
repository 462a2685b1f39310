package import CallCore

/// The present value of everything a scenario watches, kept by reading the trace as it is written.
///
/// Expectations, triggers and invariants register what they need before the run; whatever nobody registered costs one
/// table look-up an event. Listeners are told from within the write, so they must not drive the world themselves.
package final class Watch: TraceObserver {
  /// A watched value or event: one kind about one subject.
  package struct Slot: Hashable { fileprivate let index: Int }

  private struct Entry {
    let subject: TraceSubject
    let kind: String
    var value: TraceDatum?
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
  /// Listeners of a kind about any subject, by the name of the kind and by its id.
  private var wantedOfAll: [String: [(TraceRecord) -> Void]] = [:]
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
    listen(toAll: "connections.open") { [unowned self] record in
      if self.trace.datum(at: 0, of: record) == .integer(0) { forgetConnection(record) }
    }
  }

  // MARK: Registering

  /// The slot of a kind about a subject.
  package func slot(_ subject: String, _ kind: String) -> Slot {
    let subject = trace.subject(subject)
    if let known = wanted[kind]?.first(where: { entries[$0].subject == subject }) { return Slot(index: known) }
    let index = entries.count
    entries.append(Entry(subject: subject, kind: kind))
    wanted[kind, default: []].append(index)
    if let declared = trace.kind(named: kind), Int(declared.id) < byKind.count {
      byKind[Int(declared.id)].append(index)
    }
    return Slot(index: index)
  }

  /// Whether a value is unknown where there is no connection, before and after one.
  static func isOfConnection(_ kind: String) -> Bool {
    ["selected.", "stats.", "q."].contains { kind.hasPrefix($0) }
  }

  /// Calls `listener` for every event of the slot, after its value is updated.
  package func listen(_ slot: Slot, _ listener: @escaping (TraceRecord) -> Void) {
    entries[slot.index].listeners.append(listener)
  }

  /// Calls `listener` each time that the slot's value becomes unknown again.
  func listen(_ slot: Slot, toLosses listener: @escaping () -> Void) {
    entries[slot.index].lossListeners.append(listener)
  }

  /// Calls `listener` for every event of the kind, whoever it is about.
  package func listen(toAll kind: String, _ listener: @escaping (TraceRecord) -> Void) {
    wantedOfAll[kind, default: []].append(listener)
    if let declared = trace.kind(named: kind), Int(declared.id) < ofAllByKind.count {
      ofAllByKind[Int(declared.id)].append(listener)
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
    wantedOfAll.removeAll()
    for index in ofAllByKind.indices { ofAllByKind[index].removeAll() }
    borders.removeAll()
    deferred.removeAll()
    alarms.removeAll()
    trace.removeObservers()
  }

  // MARK: Reading

  /// The newest value, or nil before the first, and once what it is of is gone.
  package func value(_ slot: Slot) -> TraceDatum? { entries[slot.index].value }

  /// Whether it ever had a value.
  func wasSet(_ slot: Slot) -> Bool { entries[slot.index].wasSet }

  /// When the newest value was written.
  func changedAt(_ slot: Slot) -> Instant? { entries[slot.index].changedAt }

  /// How many events of the slot there were.
  func eventCount(_ slot: Slot) -> Int { entries[slot.index].eventCount }

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
      let name = trace.declarations[byKind.count].name
      ofAllByKind.append(wantedOfAll[name] ?? [])
      byKind.append(wanted[name] ?? [])
    }
  }

  /// The peer has closed its connection: nothing is known of a selected pair, of statistics and of quality
  /// until there is another.
  private func forgetConnection(_ record: TraceRecord) {
    for index in entries.indices where entries[index].subject == record.subject && entries[index].isOfConnection {
      guard entries[index].value != nil else { continue }
      entries[index].value = nil
      entries[index].changedAt = record.time
      for listener in entries[index].lossListeners { listener() }
    }
  }

  private func update(_ index: Int, with record: TraceRecord) {
    entries[index].eventCount += 1
    entries[index].changedAt = record.time
    if trace.declarations[Int(record.kind.id)].isObservable {
      entries[index].value = trace.datum(at: 0, of: record)
      entries[index].wasSet = true
    }
    for listener in entries[index].listeners { listener(record) }
  }
}
