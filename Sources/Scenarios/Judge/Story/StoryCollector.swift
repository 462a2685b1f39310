package import CallCore
package import ScenarioFormat
package import Statistics

/// Collects the story of a run: the one observer that reports and explanations read.
///
/// It must hear of each event before whoever explains something by it. What it keeps is bounded, and it writes nothing.
package final class StoryCollector: TraceObserver {
  private let scenario: Scenario?
  private(set) var machines: [RunStory.Machine] = []
  private var machineIndex: [MachineKey: Int] = [:]
  private(set) var faults: [RunStory.FaultInterval] = []
  private(set) var firings = Bounded<RunStory.Firing>(limit: 256)
  private(set) var deeds = Bounded<RunStory.Deed>(limit: 256)
  private(set) var notes = Bounded<RunStory.Note>(limit: 512)
  private(set) var drops = StoryDrops()
  private var messages: StoryMessages
  private var media = StoryMedia()
  private var pairs = StoryPairs()
  private var samples = StorySamples()
  private var end = Instant.zero
  private var order = 0
  private var roles: [Role?] = []

  private struct MachineKey: Hashable {
    let subject: TraceSubject
    let kind: TraceKind
  }

  private enum Role {
    case nothing, state, sent, received, faulted, fired, acted, refused, applied, cleared, note, selected, connections
    case mediaSent, mediaReceived, dropped, droppedByRelay, droppedFromStream
  }

  static let machineLimit = 512
  static let changeLimit = 256
  static let faultLimit = 512

  /// - Parameter scenario: what the names in the trace are of; nil where a trace is all there is.
  package init(_ scenario: Scenario?) {
    self.scenario = scenario
    messages = StoryMessages(delays: scenario?.signallingDelays ?? [])
  }

  // MARK: Events

  package func observe(_ record: TraceRecord, in trace: Trace) {
    end = record.time
    switch role(of: record.kind, in: trace) {
    case .nothing: break
    case .mediaSent: media.sent(record, in: trace)
    case .mediaReceived: media.received(record, in: trace)
    case .dropped: drops.add(record, from: 2, in: trace)
    case .droppedByRelay: drops.add(record, from: 1, in: trace)
    case .droppedFromStream: drops.addFromStream(record, in: trace)
    case .selected: pairs.set(record, in: trace)
    case .connections: pairs.count(record, in: trace)
    case .state: change(record, in: trace)
    case .sent: send(record, in: trace)
    case .received: receive(record, in: trace)
    case .faulted:
      let words = words(["effect", "type", "from"], of: record, in: trace)
      messages.faulted(words[0], type: words[1], user: words[2], at: record.time)
    case .fired:
      let entry = words(["entry"], of: record, in: trace)[0]
      firings.append(.init(order: nextOrder(), time: record.time, entry: entry))
    case .acted:
      let words = words(["action", "to"], of: record, in: trace)
      deeds.append(
        .init(
          order: nextOrder(), time: record.time, peer: trace.name(of: record.subject), action: words[0],
          target: words[1]))
    case .refused:
      deeds.changeLast { $0.isRefused = $0.peer == trace.name(of: record.subject) || $0.isRefused }
      note(record, in: trace)
    case .note: note(record, in: trace)
    case .applied: begin(record, in: trace)
    case .cleared: clear(record, in: trace)
    }
  }

  /// Takes a sample of a subject's statistics, which the trace has only as far as scenarios ask for them.
  package func sample(_ report: StatsReport, of subject: String, at time: Instant) {
    samples.add(report, of: subject, at: time)
  }

  private func nextOrder() -> Int {
    order += 1
    return order
  }

  private func words(_ names: [String], of record: TraceRecord, in trace: Trace) -> [String] {
    names.map { trace.datum($0, of: record)?.description ?? "" }
  }

  private func change(_ record: TraceRecord, in trace: Trace) {
    let key = MachineKey(subject: record.subject, kind: record.kind)
    if machineIndex[key] == nil {
      guard machines.count < Self.machineLimit else { return }
      machineIndex[key] = machines.count
      machines.append(
        .init(
          subject: trace.name(of: record.subject), name: trace.declarations[Int(record.kind.id)].name,
          changes: .init(limit: Self.changeLimit)))
    }
    guard let index = machineIndex[key] else { return }
    let value = trace.datum(at: 0, of: record).description
    let isInitial = trace.datum("event", of: record) == .symbol("start")
    machines[index].changes.append(
      .init(order: nextOrder(), time: record.time, value: value, isInitial: isInitial))
  }

  private func send(_ record: TraceRecord, in trace: Trace) {
    let (from, words) = (trace.name(of: record.subject), words(["type", "peer"], of: record, in: trace))
    messages.sent(
      .init(
        order: nextOrder(), from: from, to: words[1].isEmpty ? from : words[1], type: words[0], sent: record.time,
        isUnsent: trace.datum("lost", of: record) == .flag(true)))
  }

  private func receive(_ record: TraceRecord, in trace: Trace) {
    let words = words(["type", "peer"], of: record, in: trace)
    messages.received(
      type: words[0], by: trace.name(of: record.subject), from: words[1], at: record.time, order: nextOrder())
  }

  private func note(_ record: TraceRecord, in trace: Trace) {
    notes.append(
      .init(
        order: nextOrder(), time: record.time, subject: trace.name(of: record.subject),
        kind: trace.declarations[Int(record.kind.id)].name,
        fields: (0..<Int(record.fieldCount)).map { trace.datum(at: $0, of: record).description }))
  }

  private func begin(_ record: TraceRecord, in trace: Trace) {
    guard faults.count < Self.faultLimit else { return }
    let words = words(["entry", "fault"], of: record, in: trace)
    let fault = scenario?.entry(words[0])?.fault
    faults.append(
      .init(
        entry: words[0], kind: words[1], label: fault?.label ?? words[1],
        targets: fault.flatMap { scenario?.targets(of: $0) } ?? [],
        lasts: (fault?.kind ?? FaultKind(rawValue: words[1]))?.lasts ?? true, order: nextOrder(), start: record.time))
  }

  /// Those of one entry are of one length, so the first to begin is the first to end.
  private func clear(_ record: TraceRecord, in trace: Trace) {
    let entry = words(["entry"], of: record, in: trace)[0]
    guard let index = faults.firstIndex(where: { $0.entry == entry && $0.lasts && $0.end == nil }) else { return }
    (faults[index].end, faults[index].endOrder) = (record.time, nextOrder())
  }

  private func role(of kind: TraceKind, in trace: Trace) -> Role {
    while roles.count <= Int(kind.id) { roles.append(nil) }
    if let known = roles[Int(kind.id)] { return known }
    let role = Self.role(named: trace.declarations[Int(kind.id)].name)
    roles[Int(kind.id)] = role
    return role
  }

  private static func role(named name: String) -> Role {
    switch name {
    case "signal.sent": .sent
    case "signal.received": .received
    case "signal.faulted": .faulted
    case "timeline.fired": .fired
    case "user.action": .acted
    case "action-refused": .refused
    case "fault.applied": .applied
    case "fault.cleared": .cleared
    case "media.sent": .mediaSent
    case "media.received": .mediaReceived
    case "packet.dropped": .dropped
    case "turn.dropped": .droppedByRelay
    case "stream.message-dropped": .droppedFromStream
    case "connections.open": .connections
    case "audible": .state
    default:
      name.hasSuffix(".state")
        ? .state : name.hasPrefix("selected.") ? .selected : RunStory.Note.kinds[name] == nil ? .nothing : .note
    }
  }

  // MARK: Reading

  /// The states of a machine of a subject so far.
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
    story.deeds = deeds
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

extension Trace {
  func name(of subject: TraceSubject) -> String { subjects[Int(subject.id)] }
}
