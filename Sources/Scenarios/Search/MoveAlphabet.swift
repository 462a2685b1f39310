package import CallCore
package import ScenarioFormat
package import Vocabulary

/// Everything in a scenario that moves can act on: peers with their vocabularies, links, NATs and servers, as far as its
/// section `fuzz` allows.
package struct MoveAlphabet: Sendable {
  /// A peer with an app, so that it can be called and asked to do something.
  package struct Participant: Sendable {
    package let name: String
    package let vocabulary: ProfileVocabulary
    /// The actions that the scenario's media allow.
    package let actions: [ActionDeclaration]
    package let interfaces: [String]
    /// The messages that may be sent to the app, those that only apps send included.
    package let messages: [MessageDeclaration]

    /// The profile's main machine.
    package var machine: StateMachine? { vocabulary.mainMachine }
    /// The messages that a server sends to the app.
    package var served: [MessageDeclaration] { messages.filter { $0.direction.includes(.serverToClient) } }
  }

  package let scenario: Scenario
  package let participants: [Participant]
  /// The puppet in whose name strangers send; it is added to the scenario if it has none.
  package let stranger: String
  /// The kinds of moves that can be made, in order.
  package let kinds: [MoveKind]
  /// The links of participants.
  package let links: [String]
  /// The networks whose router has a NAT.
  package let translated: [String]
  package let relays: [String]
  package let stunServers: [String]
  /// A virtual time by which the timeline is usually complete.
  package let horizon: Interval
  /// The arguments that the timeline gives to the actions of a profile's peers, each once.
  private let written: [String: [String: [Arguments]]]
  /// A run without moves.
  package let record: BaseRecord

  package init(_ scenario: Scenario, registry: ProfileRegistry, record: BaseRecord = BaseRecord()) {
    self.scenario = scenario
    self.record = record
    let fuzz = scenario.fuzz ?? Scenario.FuzzSettings()
    let types = fuzz.messages.map(\.value)
    participants = scenario.apps(registry).map { peer, vocabulary in
      Participant(
        name: peer.name, vocabulary: vocabulary,
        actions: vocabulary.actions.filter { scenario.media == .real || !$0.needsRealMedia },
        interfaces: peer.interfaces.map(\.name),
        messages: vocabulary.messages.filter { types.isEmpty || types.contains($0.name) })
    }
    let puppets = scenario.peers.filter { $0.stack == .puppet }.map(\.name)
    let taken = scenario.peers.map(\.name) + scenario.topology.servers.map(\.name)
    stranger =
      puppets.first ?? ["mallory", "stranger"].first { !taken.contains($0) }
      ?? "stranger-\(scenario.peers.count)"
    let chosen = fuzz.moves.map(\.value)
    kinds = MoveKind.allCases.filter {
      (chosen.isEmpty || chosen.contains($0)) && scenario.obstacle(to: $0, registry) == nil
    }
    let names = participants.map(\.name)
    links = scenario.topology.links.filter { names.contains($0.from.value) }.map(\.name)
    translated = scenario.topology.networks.filter { $0.nat != nil }.map(\.name)
    relays = scenario.topology.servers.filter { $0.kind == .turn }.map(\.name)
    stunServers = scenario.topology.servers.filter { $0.kind == .stun }.map(\.name)
    horizon = Self.horizon(of: scenario)
    var written: [String: [String: [Arguments]]] = [:]
    for case .action(let peer, let name, let arguments) in scenario.timeline.map(\.effect) {
      guard let profile = participants.first(where: { $0.name == peer })?.vocabulary.profile else { continue }
      if !(written[profile]?[name]?.contains(arguments) ?? false) {
        written[profile, default: [:]][name, default: []].append(arguments)
      }
    }
    self.written = written
  }

  private static func horizon(of scenario: Scenario) -> Interval {
    if let duration = scenario.duration { return duration }
    var latest = Interval.zero
    var waits = Interval.zero
    for entry in scenario.timeline {
      switch entry.trigger {
      case .at(let time): latest = max(latest, time - .zero)
      case .after(let delay, _), .when(_, let delay, _): waits += delay
      case .every(let period, _, _, let times): waits += period * Int64(times ?? 1)
      }
    }
    return min(max(latest + waits + .seconds(1), .seconds(3)), .minutes(2))
  }

  /// Returns the scenario with additional entries, judged by the invariants alone.
  package func scenario(with moves: [TimelineEntry]) -> Scenario {
    var varied = scenario
    varied.fuzz = nil
    varied.expectations = []
    varied.expectsInvariantsOnly = true
    for move in moves {
      var entry = move
      entry.id = "#\(varied.timeline.count + 1)"
      varied.timeline.append(entry)
    }
    let senders = moves.compactMap { entry -> String? in
      if case .send(let message) = entry.effect { message.from } else { nil }
    }
    if senders.contains(stranger), varied.peer(stranger) == nil {
      var puppet = Scenario.Peer()
      puppet.name = stranger
      puppet.stack = .puppet
      varied.peers.append(puppet)
    }
    varied.lengthenForTimeline()
    return varied
  }

  /// Returns the names in which messages to a participant are sent: others first, then its own, then a stranger's.
  func senders(to participant: Participant) -> [String] {
    let all = participants.filter { $0.name != participant.name }.map(\.name) + [participant.name, stranger]
    guard let chosen = scenario.fuzz?.senders.map(\.value), !chosen.isEmpty else { return all }
    return chosen
  }

  /// Returns the messages of another run, to this participant.
  func recorded(to participant: Participant) -> [RawMessage] {
    record.messages.filter { message in
      message.to == participant.name && participant.messages.contains { $0.name == message.type }
    }
  }

  /// Returns the actions of a participant with each of the arguments that they can have: a peer for a parameter that takes
  /// one, and for any other required one what the scenario gives it.
  func actions(of participant: Participant) -> [TimelineEntry.Effect] {
    participant.actions.flatMap { action in
      arguments(of: action, participant).map { .action(peer: participant.name, name: action.name, arguments: $0) }
    }
  }

  /// Returns the actions of a participant, each once: towards the first other participant, or as the scenario has it
  /// first.
  func mainActions(of participant: Participant) -> [TimelineEntry.Effect] {
    participant.actions.compactMap { action in
      let all = arguments(of: action, participant)
      let others = all.filter { $0.entries.allSatisfy { !$0.value.value.names(participant.name) } }
      return (others.first ?? all.first).map {
        .action(peer: participant.name, name: action.name, arguments: $0)
      }
    }
  }

  /// Returns the arguments with which the table has an action.
  func arguments(of action: ActionDeclaration, _ participant: Participant) -> [Arguments] {
    let required = action.parameters.filter(\.isRequired)
    guard let first = required.first else { return [Arguments()] }
    if required.count == 1, first.isPeer {
      return participants.map { Arguments([(first.name, first.value($0.name))]) }
    }
    return written[participant.vocabulary.profile]?[action.name] ?? []
  }

  /// Returns the server by way of which messages of a peer's profile go.
  func server(of participant: Participant) -> String? {
    let servers = scenario.topology.servers(of: participant.vocabulary.profile)
    return servers.first { $0.kind == .declared(participant.vocabulary.servers.first?.name ?? "") }?.name
      ?? servers.first?.name
  }
}

extension TimelineEntry {
  /// Creates a move.
  init(_ trigger: Trigger, _ effect: Effect) {
    self.init()
    self.trigger = trigger
    self.effect = effect
  }
}

extension Value {
  /// Whether it is a text, or a list with one.
  fileprivate func names(_ text: String) -> Bool {
    switch self {
    case .text(let own): own == text
    case .list(let members): members.contains { $0.names(text) }
    case .flag, .count, .real, .duration, .rate, .percentage, .byteSize: false
    }
  }
}

extension Arguments {
  init(_ entries: [(String, Value)]) {
    self.init()
    self.entries = entries.map { ($0.0, Located($0.1)) }
  }
}

extension Scenario {
  /// Raises a length or a limit that the timeline exceeds: a file with such a run is an error.
  fileprivate mutating func lengthenForTimeline() {
    // What happens at the very end is not judged.
    let needed = earliestCompletion - Instant.zero + .seconds(1)
    duration = duration.map { max($0, needed) }
    limits.virtual = max(limits.virtual, duration ?? needed)
  }
}
