internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge

/// A Mermaid sequence diagram of a run's story: signalling between the peers, their state changes, what they hear, what
/// their users do, the entries of the timeline, and faults.
///
/// A message is drawn according to its fate: as lost if it was not received, and at its arrival if that was late.
struct SequenceDiagram {
  /// The maximum number of lines: longer diagrams are unreadable, and Mermaid refuses them.
  static let lineLimit = 200

  private let story: RunStory
  private var participants: [String] = []
  private var lines: [String] = []
  private var hidden = 0
  /// The messages that have a line in the diagram.
  private var drawn: Set<Int> = []

  init(_ story: RunStory) {
    self.story = story
    hidden = story.omittedMessages + story.userActions.omitted
    for event in events { draw(event.kind) }
  }

  var text: String {
    var text = "sequenceDiagram\n"
    for (index, name) in participants.enumerated() { text += "  participant P\(index) as \(Self.escape(name))\n" }
    for line in lines { text += "  \(line)\n" }
    if hidden > 0, !participants.isEmpty { text += "  Note over P0: and \(hidden) more\n" }
    return text
  }

  // MARK: Events

  private enum Event {
    case sent(Int)
    case received(Int, receipt: Int)
    case change(subject: String, machine: String, RunStory.Machine.Change)
    case action(RunStory.UserAction)
    case firing(RunStory.Firing)
    case applied(RunStory.FaultInterval)
    case cleared(RunStory.FaultInterval, at: Instant)
  }

  /// State machines that are not part of a call's course.
  private static let hiddenMachines = [
    NetworkEvents.linkState.name, NetworkEvents.interfaceState.name, NetworkEvents.hostState.name,
    PeerConnectionEvents.gatheringState.name, PeerConnectionEvents.signalingState.name,
  ]

  private var events: [(order: Int, kind: Event)] {
    var events: [(order: Int, kind: Event)] = []
    for machine in story.machines where !Self.hiddenMachines.contains(machine.name) {
      // The initial states of an app carry no information.
      events += machine.changes.elements.filter { !$0.isInitial }.map {
        ($0.order, .change(subject: machine.subject, machine: machine.name, $0))
      }
    }
    for (index, message) in story.messages.enumerated() {
      events.append((message.order, .sent(index)))
      for (receipt, coming) in message.receipts.enumerated() where message.comesApart(receipt) {
        events.append((coming.order, .received(index, receipt: receipt)))
      }
    }
    events += story.userActions.elements.map { ($0.order, .action($0)) }
    // An unnamed entry is shown by its effect.
    events += story.firings.elements.filter { !$0.entry.hasPrefix("#") }.map { ($0.order, .firing($0)) }
    for fault in story.faults {
      events.append((fault.order, .applied(fault)))
      if let order = fault.endOrder, let end = fault.end { events.append((order, .cleared(fault, at: end))) }
    }
    return events.sorted { $0.order < $1.order }
  }

  // MARK: Lines

  private mutating func draw(_ event: Event) {
    if case .received(let index, _) = event, !drawn.contains(index) { return }
    guard lines.count < Self.lineLimit else {
      hidden += 1
      return
    }
    switch event {
    case .sent(let index): drawSending(index)
    case .received(let index, let receipt): drawArrival(of: story.messages[index], receipt)
    case .change(let subject, let machine, let change):
      note(over: participant(subject), "\(machine) \(change.value)", at: change.time)
    case .action(let action):
      let words = [action.action, action.target].filter { !$0.isEmpty }.joined(separator: " ")
      note(over: participant(action.peer), "user \(words)", at: action.time)
    case .firing(let firing): note(over: everybody(), "entry \(firing.entry)", at: firing.time)
    case .applied(let fault): note(over: everybody(), "fault \(fault.kind) [\(fault.entry)]", at: fault.start)
    case .cleared(let fault, let end): note(over: everybody(), "cleared \(fault.kind) [\(fault.entry)]", at: end)
    }
  }

  private mutating func note(over names: String, _ text: String, at time: Instant) {
    lines.append("Note over \(names): \(Self.escape(text)) (\(Self.seconds(time)))")
  }

  private mutating func drawSending(_ index: Int) {
    let message = story.messages[index]
    drawn.insert(index)
    let (from, to) = (participant(message.from), participant(message.to))
    let details = ([Self.seconds(message.sent)] + message.effects).joined(separator: ", ")
    let word = Self.escape(message.type)
    // A receiver with state machines is shown through their changes; a puppet has none.
    let isWatched = story.machines.contains { $0.subject == message.to && $0.name.hasSuffix(".state") }
    lines.append(
      message.isLate
        ? "Note over \(from): sends \(word) (\(details))"
        : "\(from)\(message.isLost(by: isWatched ? story.end : nil) ? "-x" : "->>")\(to): \(word) (\(details))")
  }

  private mutating func drawArrival(of message: RunStory.Message, _ receipt: Int) {
    let copy = receipt > 0 ? ", again" : ""
    let times = "\(Self.seconds(message.receipts[receipt].time)), sent \(Self.seconds(message.sent))\(copy)"
    lines.append("\(participant(message.from))->>\(participant(message.to)): \(Self.escape(message.type)) (\(times))")
  }

  /// Returns the participants seen so far.
  private mutating func everybody() -> String {
    let first = participants.isEmpty ? participant(ReservedName.timekeeper) : "P0"
    return participants.count > 1 ? "\(first),P\(participants.count - 1)" : first
  }

  private mutating func participant(_ name: String) -> String {
    if let index = participants.firstIndex(of: name) { return "P\(index)" }
    participants.append(name)
    return "P\(participants.count - 1)"
  }

  private static func seconds(_ time: Instant) -> String { TextStyle.decimal(time.seconds, places: 3) + " s" }

  /// Mermaid ends a statement at `;` and begins an entity with `#`.
  static func escape(_ text: String) -> String {
    var out = ""
    for character in TextStyle.printable(text) {
      switch character {
      case "#": out += "#35;"
      case ";": out += "#59;"
      case "<": out += "#lt;"
      case ">": out += "#gt;"
      default: out.append(character)
      }
    }
    return out
  }
}
