internal import CallCore
package import ScenarioFormat
internal import Vocabulary

/// The table of moves of a scenario: every message in every state from every sender, every fault and mutation of every
/// message, every action in every state, and every pair of actions in a connected call. It is finite, and is tried as a
/// whole.
///
/// A move that is known to meet nothing is no row, and is counted.
package struct MoveTable: Sendable {
  /// The reason why a move meets nothing.
  package enum Lack: String, Error, CaseIterable, Sendable {
    /// The scenario does not come to the state.
    case state
    /// The message that gives the content has not passed by the end of the state.
    case model
    /// The receiver has no connection to the server in the state.
    case connection
    /// No message of the type comes to the participant.
    case message
    /// The message that comes does not have the field.
    case field
  }

  /// Moves that are no rows.
  package struct Omission: Sendable, Hashable {
    package let lack: Lack
    package fileprivate(set) var count = 0
    /// The states, types or fields that are missing, in order.
    package fileprivate(set) var missing: [String] = []
  }

  /// The moves: one in a row, or two.
  package private(set) var rows: [[TimelineEntry]] = []
  /// The moves that are no rows, by the reason.
  package private(set) var omissions: [Omission] = Lack.allCases.map { Omission(lack: $0) }

  package init(_ alphabet: MoveAlphabet, kinds: [MoveKind] = MoveKind.allCases) {
    let kinds = alphabet.kinds.filter { kinds.contains($0) }
    for participant in alphabet.participants {
      let messages = kinds.contains(.send) ? Self.messages(to: participant, alphabet) : []
      let early = kinds.contains(.send) ? Self.earlyCandidates(to: participant, alphabet) : []
      let actions = kinds.contains(.action) ? alphabet.actions(of: participant) : []
      for state in participant.machine?.states ?? [] {
        let moments = TableMoment.all(of: participant, in: state.name, alphabet)
        if moments.isEmpty {
          omit(.state, "\(participant.name) \(state.name)", messages.count + actions.count)
        }
        for moment in moments {
          add(messages, early, to: participant, at: moment)
          rows += actions.map { [TimelineEntry(moment.trigger, $0)] }
        }
      }
      addFaults(of: participant, alphabet, kinds)
    }
    if kinds.contains(.action) { rows += Self.pairs(alphabet) }
    omissions.removeAll { $0.count == 0 }
  }

  private mutating func omit(_ lack: Lack, _ missing: String, _ count: Int = 1) {
    guard count > 0, let index = omissions.firstIndex(where: { $0.lack == lack }) else { return }
    omissions[index].count += count
    if !omissions[index].missing.contains(missing) { omissions[index].missing.append(missing) }
  }

  private mutating func add(
    _ messages: [RawMessage], _ early: [RawMessage], to participant: MoveAlphabet.Participant, at moment: TableMoment
  ) {
    var floods: [RawMessage] = []
    for message in messages {
      switch moment.trigger(of: message) {
      case .success(let trigger):
        rows.append([TimelineEntry(trigger, .send(message))])
        if trigger == moment.trigger, Self.isWorthFlooding(message, participant) { floods.append(message) }
      case .failure(let lack):
        omit(lack, lack == .model ? message.like ?? message.type : "\(participant.name) \(moment.state)")
      }
    }
    // Where candidates of the run are not there yet, made-up ones are.
    floods += early.filter { message in
      moment.trigger(of: message) == .success(moment.trigger) && !floods.contains { $0.type == message.type }
    }
    // A flood begins with the state.
    guard let anchor = moment.anchor else { return }
    rows += floods.map { [TimelineEntry(.flood(from: anchor), .send($0))] }
  }

  /// Returns every ordered pair of actions in a call that is connected, each with its first arguments, and with another
  /// peer where it takes one: what one leaves behind, another may lose.
  private static func pairs(_ alphabet: MoveAlphabet) -> [[TimelineEntry]] {
    guard let first = alphabet.participants.first, let machine = first.machine,
      let connected = machine.states.first(where: { machine.role(of: $0.name) == .connected })
    else { return [] }
    let anchor = Anchor(kind: .entersState(subject: first.name, machine: machine.name, state: connected.name))
    let actions = alphabet.participants.flatMap { alphabet.mainActions(of: $0) }
    return actions.flatMap { one in
      actions.map { another in
        [
          TimelineEntry(.after(.milliseconds(500), of: anchor), one),
          TimelineEntry(.after(.milliseconds(1_500), of: anchor), another),
        ]
      }
    }
  }

  /// The events of a connection that an app waits for.
  static let lateEvents: [ConnectionEventName] = [
    .iceCandidate, .iceConnectionStateChange, .connectionStateChange, .signalingStateChange, .stateChange, .error,
    .track,
  ]

  /// Adds the faults and mutations of the first message of each type that comes to a participant.
  private mutating func addFaults(
    of participant: MoveAlphabet.Participant, _ alphabet: MoveAlphabet, _ kinds: [MoveKind]
  ) {
    for message in participant.served {
      let faults = Self.faults(of: message, kinds)
      let seen = alphabet.record.message(message.name, to: participant)
      if alphabet.record.course != nil, seen == nil {
        omit(.message, message.name, faults.count)
        continue
      }
      for (kind, more) in faults {
        if let missing = Mutations.lack(of: more, of: message, in: seen) {
          omit(.field, "\(message.name).\(missing)")
          continue
        }
        let arguments = [("message", Value.text(message.name)), ("to", .text(participant.name)), ("count", .count(1))]
        var fault = Fault(kind: kind, arguments: Arguments(arguments + more))
        fault.callServer = alphabet.server(of: participant)
        rows.append([TimelineEntry(.at(.zero), .fault(fault, duration: nil))])
      }
    }
    if kinds.contains(.packets) {
      for content in ["stun", "dtls", "rtp", "rtcp"] {
        let arguments: [(String, Value)] = [("protocol", .text(content)), ("to", .text(participant.name))]
        let fault = Fault(kind: .packetForge, arguments: Arguments(arguments))
        rows.append([TimelineEntry(.at(.zero), .fault(fault, duration: nil))])
      }
    }
    if kinds.contains(.device) {
      rows += Self.lateEvents.map {
        [TimelineEntry(.at(.zero), .late($0, of: participant.name, by: .seconds(1), for: nil))]
      }
    }
  }

  /// Returns the faults and mutations of a message, with their arguments.
  private static func faults(
    of message: MessageDeclaration, _ kinds: [MoveKind]
  ) -> [(kind: FaultKind, arguments: [(String, Value)])] {
    var faults: [(kind: FaultKind, arguments: [(String, Value)])] = []
    if kinds.contains(.drop) { faults.append((.signalDrop, [])) }
    if kinds.contains(.duplicate) { faults.append((.signalDuplicate, [])) }
    if kinds.contains(.delay) {
      faults += [1, 5, 20].map { (.signalDelay, [("by", .duration(.seconds($0)))]) }
    }
    if kinds.contains(.reorder) { faults.append((.signalReorder, [])) }
    if kinds.contains(.corrupt) { faults += Mutations.all(of: message).map { (.signalCorrupt, $0) } }
    return faults
  }
}

extension TimelineEntry.Trigger {
  /// More than any queue may keep, as fast as a file may say it: many a state does not last long.
  static func flood(from anchor: Anchor) -> TimelineEntry.Trigger {
    .every(.milliseconds(1), from: anchor, until: nil, times: 1_500)
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

extension RawMessage {
  /// Returns the shortest part of a path at which it has no value; nil if it has one at the path.
  fileprivate func outermostLack(of path: String) -> String? {
    let names = path.split(separator: ".")
    return names.indices.map { names[...$0].joined(separator: ".") }.first { !has($0) }
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

  /// Returns the shortest part of the path of a mutated field that a message does not have; nil if it has the field, or
  /// if no message is known.
  static func lack(of mutation: [(String, Value)], of message: MessageDeclaration, in seen: RawMessage?) -> String? {
    guard let seen, let field = Arguments(mutation).text("field"), message.field(field)?.role != .sender else {
      return nil
    }
    return seen.outermostLack(of: field)
  }
}

extension ParameterDeclaration {
  /// Whether a peer is a value of the parameter.
  var isPeer: Bool { type == .peer || type == .peers }

  /// The value that names one peer.
  func value(_ peer: String) -> Value { type == .peers ? .list([.text(peer)]) : .text(peer) }
}

extension MoveTable.Omission: CustomStringConvertible {
  package var description: String {
    let what =
      switch lack {
      case .state: "no run comes to the state"
      case .model: "no message to copy passes by then"
      case .connection: "the receiver has no connection then"
      case .message: "no such message comes"
      case .field: "the message does not have the field"
      }
    return "\(count) moves are not tried: \(what): \(missing.joined(separator: ", "))"
  }
}
