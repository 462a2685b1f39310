internal import CallCore
package import ScenarioFormat
internal import Vocabulary

/// The table of moves of a scenario: every message in every state from every sender, every fault and mutation of every
/// message, every action in every state, and every pair of actions in a connected call. It is finite, and is tried as a
/// whole.
package struct MoveTable: Sendable {
  /// The moves: one in a row, or two.
  package let rows: [[TimelineEntry]]

  package init(_ alphabet: MoveAlphabet, kinds: [MoveKind] = MoveKind.allCases) {
    let kinds = alphabet.kinds.filter { kinds.contains($0) }
    var rows: [TimelineEntry] = []
    for participant in alphabet.participants {
      for state in participant.machine?.states ?? [] {
        let trigger = Self.entering(state.name, participant)
        if kinds.contains(.send) {
          let messages = Self.messages(to: participant, alphabet)
          rows += messages.map { TimelineEntry(trigger, .send($0)) }
          if case .after(_, let anchor) = trigger {
            let floods = messages.filter { Self.isWorthFlooding($0, participant) }
            rows += floods.map { TimelineEntry(.flood(from: anchor), .send($0)) }
          }
        }
        if kinds.contains(.action) {
          rows += Self.actions(of: participant, alphabet).map { TimelineEntry(trigger, $0) }
        }
      }
      rows += Self.faults(of: participant, alphabet, kinds)
    }
    self.rows = rows.map { [$0] } + (kinds.contains(.action) ? Self.pairs(alphabet) : [])
  }

  /// Returns every ordered pair of actions in a call that is connected: what one leaves behind, another may lose.
  private static func pairs(_ alphabet: MoveAlphabet) -> [[TimelineEntry]] {
    guard let first = alphabet.participants.first, let machine = first.machine,
      let connected = machine.states.first(where: { machine.role(of: $0.name) == .connected })
    else { return [] }
    let anchor = Anchor(kind: .entersState(subject: first.name, machine: machine.name, state: connected.name))
    let actions = alphabet.participants.flatMap { Self.actions(of: $0, alphabet) }
    return actions.flatMap { one in
      actions.map { another in
        [
          TimelineEntry(.after(.milliseconds(500), of: anchor), one),
          TimelineEntry(.after(.milliseconds(1_500), of: anchor), another),
        ]
      }
    }
  }

  /// What an app may have to keep: candidates and descriptions, each from the first other participant alone.
  private static func isWorthFlooding(_ message: RawMessage, _ participant: MoveAlphabet.Participant) -> Bool {
    guard message.like == message.type, message.from != participant.name,
      let declaration = participant.messages.first(where: { $0.name == message.type })
    else { return false }
    return declaration.field(.candidate) != nil || declaration.field(.description) != nil
  }

  /// The state has been entered, and what the app did at that moment is done.
  private static func entering(_ state: String, _ participant: MoveAlphabet.Participant) -> TimelineEntry.Trigger {
    let machine = participant.machine?.name ?? ""
    return .after(
      .milliseconds(10), of: Anchor(kind: .entersState(subject: participant.name, machine: machine, state: state)))
  }

  /// Returns every message to a participant: with the content of the newest of its type, of every other type that gives
  /// it a call and a description, and of a message of another run.
  private static func messages(
    to participant: MoveAlphabet.Participant, _ alphabet: MoveAlphabet
  ) -> [RawMessage] {
    let senders = alphabet.senders(to: participant)
    guard let server = alphabet.server(of: participant) else { return [] }
    var messages: [RawMessage] = []
    for declaration in participant.messages {
      let models = participant.vocabulary.messages.filter {
        $0.name == declaration.name || $0.field(.description) != nil
      }
      for sender in senders {
        for model in models {
          var message = RawMessage(type: declaration.name, from: sender, to: participant.name)
          (message.server, message.like) = (server, model.name)
          messages.append(message)
        }
      }
    }
    return messages + alphabet.recorded(to: participant).filter { senders.contains($0.from) }
  }

  private static func actions(
    of participant: MoveAlphabet.Participant, _ alphabet: MoveAlphabet
  ) -> [TimelineEntry.Effect] {
    participant.actions.flatMap { action -> [TimelineEntry.Effect] in
      let peers = action.parameters.filter { $0.isPeer && $0.isRequired }
      guard action.parameters.allSatisfy({ !$0.isRequired || $0.isPeer }), peers.count < 2 else { return [] }
      guard let peer = peers.first else {
        return [.action(peer: participant.name, name: action.name, arguments: Arguments())]
      }
      return alphabet.participants.map { other in
        .action(
          peer: participant.name, name: action.name, arguments: Arguments([(peer.name, peer.value(other.name))]))
      }
    }
  }

  /// The events of a connection that an app waits for.
  static let lateEvents: [ConnectionEventName] = [
    .iceCandidate, .iceConnectionStateChange, .connectionStateChange, .signalingStateChange, .stateChange, .error,
    .track,
  ]

  /// Returns the faults and mutations of the first message of each type that comes to a participant.
  private static func faults(
    of participant: MoveAlphabet.Participant, _ alphabet: MoveAlphabet, _ kinds: [MoveKind]
  ) -> [TimelineEntry] {
    var effects: [TimelineEntry.Effect] = []
    for message in participant.served {
      func add(_ kind: FaultKind, _ more: [(String, Value)] = []) {
        let arguments = [("message", Value.text(message.name)), ("to", .text(participant.name)), ("count", .count(1))]
        var fault = Fault(kind: kind, arguments: Arguments(arguments + more))
        fault.callServer = alphabet.server(of: participant)
        effects.append(.fault(fault, duration: nil))
      }
      if kinds.contains(.drop) { add(.signalDrop) }
      if kinds.contains(.duplicate) { add(.signalDuplicate) }
      if kinds.contains(.delay) {
        for seconds in [1, 5, 20] { add(.signalDelay, [("by", .duration(.seconds(Int64(seconds))))]) }
      }
      if kinds.contains(.reorder) { add(.signalReorder) }
      if kinds.contains(.corrupt) { for mutation in Mutations.all(of: message) { add(.signalCorrupt, mutation) } }
    }
    if kinds.contains(.packets) {
      for content in ["stun", "dtls", "rtp", "rtcp"] {
        let arguments: [(String, Value)] = [("protocol", .text(content)), ("to", .text(participant.name))]
        effects.append(.fault(Fault(kind: .packetForge, arguments: Arguments(arguments)), duration: nil))
      }
    }
    if kinds.contains(.device) {
      for event in lateEvents {
        effects.append(.late(event, of: participant.name, by: .seconds(1), for: nil))
      }
    }
    return effects.map { TimelineEntry(.at(.zero), $0) }
  }
}

extension TimelineEntry.Trigger {
  /// Two thousand times, every other millisecond.
  static func flood(from anchor: Anchor) -> TimelineEntry.Trigger {
    .every(.milliseconds(2), from: anchor, until: nil, times: 2_000)
  }
}

extension TimelineEntry.Effect {
  /// Makes events of a peer's connections late.
  static func late(
    _ event: ConnectionEventName, of peer: String, by delay: Interval, for duration: Interval?
  ) -> TimelineEntry.Effect {
    let arguments: [(String, Value)] = [
      ("peer", .text(peer)), ("event", .text(event.rawValue)), ("by", .duration(delay)),
    ]
    return .fault(Fault(kind: .deviceEventsLate, arguments: Arguments(arguments)), duration: duration)
  }
}

/// The arguments of `signal.corrupt` for the mutations of a message.
enum Mutations {
  static func all(of message: MessageDeclaration) -> [[(String, Value)]] {
    FrameMutation.allCases.map { [("mutation", .text($0.rawValue))] }
      + message.mutations(going: .serverToClient).map { mutation in
        (mutation.fieldName.map { [("field", .text($0))] } ?? []) + [("mutation", .text(mutation.word))]
      }
  }
}

extension ParameterDeclaration {
  /// Whether a peer is a value of the parameter.
  var isPeer: Bool { type == .peer || type == .peers }

  /// The value that names one peer.
  func value(_ peer: String) -> Value { type == .peers ? .list([.text(peer)]) : .text(peer) }
}
