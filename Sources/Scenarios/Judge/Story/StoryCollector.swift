package import CallCore
package import ScenarioFormat
package import Statistics

/// Collects the story of a run, which is the source of all reports and explanations.
///
/// Create it before the objects that explain by it, so that it receives each event first. Its size is bounded, and it
/// writes nothing to the trace.
package final class StoryCollector: TraceObserver {
  private let scenario: Scenario?
  private(set) var machines: [RunStory.Machine] = []
  private var machineIndex: [MachineKey: Int] = [:]
  private(set) var faults: [RunStory.FaultInterval] = []
  private(set) var firings = Bounded<RunStory.Firing>(limit: 256)
  private(set) var userActions = Bounded<RunStory.UserAction>(limit: 256)
  private(set) var notes = Bounded<RunStory.Note>(limit: 512)
  private(set) var drops = StoryDrops()
  private var messages: StoryMessages
  private var media = StoryMedia()
  private var pairs = StoryPairs()
  private var samples = StorySamples()
  private var end = Instant.zero
  private var order = 0
  private var machineKinds: [MachineKind?] = []

  private struct MachineKey: Hashable {
    let subject: TraceSubject
    let kind: TraceKind
  }

  /// The role of a kind in the story, by its declaration alone.
  private enum MachineKind {
    case none
    /// A state machine of an app's vocabulary.
    case app(TraceReader<String, String, String>)
    /// Any other state or flag.
    case value
  }

  static let machineLimit = 512
  static let changeLimit = 256
  static let faultLimit = 512

  /// - Parameter scenario: the scenario of the names in the trace; nil if only the trace is available.
  package init(_ scenario: Scenario?, trace: Trace) {
    self.scenario = scenario
    messages = StoryMessages(delays: scenario?.signallingDelays ?? [])
    trace.add(self)
    listenToTimeline(trace)
    listenToMessages(trace)
    listenToPairs(trace)
    listenToPackets(trace)
    listenToNotes(trace)
  }

  // MARK: Events

  package func observe(_ record: TraceRecord, in trace: Trace) {
    end = record.time
    switch machineKind(of: record.kind, in: trace) {
    case .none: break
    case .app(let reader):
      let (value, _, event) = reader.values(of: record, in: trace)
      change(record, to: value, isInitial: event == "start", in: trace)
    case .value:
      if let value = trace.value(of: record) { change(record, to: value.description, isInitial: false, in: trace) }
    }
  }

  private func machineKind(of kind: TraceKind, in trace: Trace) -> MachineKind {
    while machineKinds.count <= Int(kind.id) { machineKinds.append(nil) }
    if let known = machineKinds[Int(kind.id)] { return known }
    let declaration = trace.declarations[Int(kind.id)]
    let event = PeerEvents.state(declaration.name)
    let result: MachineKind =
      if [PeerEvents.audible.name, PeerEvents.visible.name].contains(declaration.name) {
        .value
      } else if !declaration.name.hasSuffix(".state") {
        .none
      } else {
        declaration.fields == event.fields ? .app(trace.reader(of: event)) : .value
      }
    machineKinds[Int(kind.id)] = result
    return result
  }

  private func listenToTimeline(_ trace: Trace) {
    trace.listen(to: RunEvents.fired) { [unowned self] record, entry in
      firings.append(.init(order: nextOrder(), time: record.time, entry: entry))
    }
    trace.listen(to: RunEvents.faultApplied) { [unowned self] record, entry, fault in
      begin(fault, of: entry, at: record.time)
    }
    trace.listen(to: RunEvents.faultCleared) { [unowned self] record, entry, _ in clear(entry, at: record.time) }
    trace.listen(to: PeerEvents.action) { [unowned self, unowned trace] record, action, target in
      userActions.append(
        .init(
          order: nextOrder(), time: record.time, peer: trace.name(of: record.subject), action: action, target: target))
    }
  }

  private func listenToMessages(_ trace: Trace) {
    trace.listen(to: ServerEvents.messageSent) { [unowned self, unowned trace] record, type, receiver, isLost in
      let sender = trace.name(of: record.subject)
      messages.sent(
        .init(
          order: nextOrder(), from: sender, to: receiver.isEmpty ? sender : receiver, type: type, sent: record.time,
          isUnsent: isLost))
    }
    trace.listen(to: ServerEvents.messageReceived) { [unowned self, unowned trace] record, type, sender in
      messages.received(
        type: type, by: trace.name(of: record.subject), from: sender, at: record.time, order: nextOrder())
    }
    trace.listen(to: ServerEvents.messageFaulted) { [unowned self] record, effect, type, user, _ in
      messages.faulted(effect, type: type, user: user, at: record.time)
    }
  }

  private func listenToPairs(_ trace: Trace) {
    for end in PeerConnectionEvents.PairEnd.allCases {
      trace.listen(to: PeerConnectionEvents.selectedType(end)) { [unowned self, unowned trace] record, type in
        pairs.set(\.type, type, at: end, of: trace.name(of: record.subject))
      }
      trace.listen(to: PeerConnectionEvents.selectedAddress(end)) { [unowned self, unowned trace] record, address in
        pairs.set(\.address, address, at: end, of: trace.name(of: record.subject))
      }
      trace.listen(to: PeerConnectionEvents.selectedPort(end)) { [unowned self, unowned trace] record, port in
        pairs.set(\.port, port, at: end, of: trace.name(of: record.subject))
        // The trace contains the remote end after the local one.
        if end == .remote { pairs.complete(trace.name(of: record.subject), at: record.time) }
      }
    }
    trace.listen(to: PeerConnectionEvents.selectedRelayProtocol) { [unowned self, unowned trace] record, word in
      pairs.set(\.relayProtocol, word, at: .local, of: trace.name(of: record.subject))
    }
    trace.listen(to: PeerEvents.openConnections) { [unowned self, unowned trace] record, count in
      if count == 0 { pairs.closeAll(of: trace.name(of: record.subject), at: record.time) }
    }
  }

  private func listenToPackets(_ trace: Trace) {
    trace.listen(to: PeerConnectionEvents.mediaSent) { [unowned self, unowned trace] record, source, byteCount, _ in
      media.sent(record, source, byteCount, in: trace)
    }
    trace.listen(to: PeerConnectionEvents.mediaReceived) { [unowned self, unowned trace] record, source, byteCount in
      media.received(record, source, byteCount, in: trace)
    }
    trace.listen(to: NetworkEvents.packetDropped) { [unowned self, unowned trace] record, reason, _, from, to, _ in
      drops.add(record, reason, from: from, to: to, in: trace)
    }
    trace.listen(to: ServerEvents.relayDropped) { [unowned self, unowned trace] record, reason, from, to, _ in
      drops.add(record, reason, from: from, to: to, in: trace)
    }
    trace.listen(to: NetworkEvents.messageDropped) { [unowned self, unowned trace] record, content, _ in
      drops.addFromStream(record, content, in: trace)
    }
  }

  /// Adds a sample of a subject's statistics, of which the trace contains only those that scenarios use.
  package func sample(_ report: StatsReport, of subject: String, at time: Instant) {
    samples.add(report, of: subject, at: time)
  }

  func append(_ note: RunStory.Note) { notes.append(note) }

  func refuseLastAction(of peer: String) { userActions.changeLast { $0.isRefused = $0.peer == peer || $0.isRefused } }

  func nextOrder() -> Int {
    order += 1
    return order
  }

  private func change(_ record: TraceRecord, to value: String, isInitial: Bool, in trace: Trace) {
    let key = MachineKey(subject: record.subject, kind: record.kind)
    if machineIndex[key] == nil {
      guard machines.count < Self.machineLimit else { return }
      machineIndex[key] = machines.count
      machines.append(
        .init(
          subject: trace.name(of: record.subject), name: trace.name(of: record.kind),
          changes: .init(limit: Self.changeLimit)))
    }
    guard let index = machineIndex[key] else { return }
    machines[index].changes.append(
      .init(order: nextOrder(), time: record.time, value: value, isInitial: isInitial))
  }

  private func begin(_ name: String, of entry: String, at time: Instant) {
    guard faults.count < Self.faultLimit else { return }
    let fault = scenario?.entry(entry)?.fault
    faults.append(
      .init(
        entry: entry, kind: name, label: fault?.label ?? name,
        targets: fault.flatMap { scenario?.targets(of: $0) } ?? [],
        lasts: (fault?.kind ?? FaultKind(rawValue: name))?.lasts ?? true, order: nextOrder(), start: time))
  }

  /// Ends a fault of an entry. All faults of one entry have the same duration, so the first to begin is the first to
  /// end.
  private func clear(_ entry: String, at time: Instant) {
    guard let index = faults.firstIndex(where: { $0.entry == entry && $0.lasts && $0.end == nil }) else { return }
    (faults[index].end, faults[index].endOrder) = (time, nextOrder())
  }

  // MARK: Reading

  /// Returns the states of a machine of a subject so far.
  func changes(_ machine: String, of subject: String) -> Bounded<RunStory.Machine.Change>? {
    machines.first { $0.subject == subject && $0.name == machine }?.changes
  }

  /// The story so far.
  package var story: RunStory {
    var story = RunStory()
    story.participants = scenario?.participants ?? []
    story.machines = machines
    story.faults = faults
    story.firings = firings
    story.userActions = userActions
    story.notes = notes
    story.messages = messages.all
    story.omittedMessages = messages.omitted
    story.pairs = pairs.story
    story.flows = media.flows
    story.drops = drops.series
    story.gauges = samples.gauges
    story.end = end
    return story
  }
}
