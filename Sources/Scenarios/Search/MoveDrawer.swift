internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Draws moves from choices.
struct MoveDrawer: ~Copyable {
  private let alphabet: MoveAlphabet
  private let kinds: [MoveKind]
  private var choices: Choices

  init(_ alphabet: MoveAlphabet, kinds: [MoveKind], choices: consuming Choices) {
    self.alphabet = alphabet
    self.kinds = alphabet.kinds.filter { kinds.contains($0) }
    self.choices = choices
  }

  /// The choices so far.
  var made: [UInt64] { choices.made }

  /// Returns one to `most` moves. Each kind is left out, or has a weight, by a first choice: runs that differ in what
  /// they leave out find more than runs that mix everything (swarm testing).
  mutating func moves(most: Int) -> [TimelineEntry] {
    guard !kinds.isEmpty else { return [] }
    let weights = kinds.map { _ in [0, 1, 4, 16][choices.below(4)] }
    var moves: [TimelineEntry] = []
    for _ in 0..<(1 + choices.below(most)) {
      let kind = kinds[choices.index(weights: weights)]
      guard let effect = effect(of: kind) else { continue }
      moves.append(TimelineEntry(flooding(trigger(of: effect), effect), effect))
    }
    return moves
  }

  // MARK: Triggers

  private static let delays: [Interval] = [
    .zero, .milliseconds(1), .milliseconds(10), .milliseconds(50), .milliseconds(100), .milliseconds(300), .seconds(1),
    .seconds(3), .seconds(10),
  ]

  private mutating func delay() -> Interval { choices.pick(Self.delays) }

  private mutating func trigger(of effect: TimelineEntry.Effect) -> TimelineEntry.Trigger {
    if case .send(let message) = effect, choices.chance(80), let trigger = trigger(of: message) { return trigger }
    if effect.waits, choices.chance(75) { return .at(.zero) }
    switch choices.below(4) {
    case 0: return .at(.zero + .milliseconds(10 * Int64(choices.below(Int(alphabet.horizon.milliseconds / 10)))))
    default:
      let participant = choices.pick(alphabet.participants)
      guard let machine = participant.machine else { return .at(.zero) }
      let record = alphabet.record
      let state = pick(machine.states) { record.enters($0.name, participant) }.name
      let anchor = Anchor(kind: .entersState(subject: participant.name, machine: machine.name, state: state))
      return .after(delay(), of: anchor)
    }
  }

  /// Returns a time at which the receiver of a message is connected, and the message that gives the content has passed;
  /// nil if no such time is known.
  private mutating func trigger(of message: RawMessage) -> TimelineEntry.Trigger? {
    guard alphabet.record.course != nil,
      let receiver = alphabet.participants.first(where: { $0.name == message.to }), let machine = receiver.machine
    else { return nil }
    let triggers = machine.states.flatMap { state in
      TableMoment.all(of: receiver, in: state.name, alphabet).compactMap { try? $0.trigger(of: message).get() }
    }
    guard !triggers.isEmpty else { return nil }
    let trigger = choices.pick(triggers)
    return choices.chance(50) ? trigger.later(by: delay()) : trigger
  }

  /// Picks an element; most often one that the scenario shows without moves.
  private mutating func pick<Element>(_ elements: [Element], isSeen: (Element) -> Bool) -> Element {
    let seen = elements.filter(isSeen)
    return choices.chance(90) && !seen.isEmpty ? choices.pick(seen) : choices.pick(elements)
  }

  private mutating func pick(
    _ messages: [MessageDeclaration], of participant: MoveAlphabet.Participant
  ) -> MessageDeclaration {
    let seen = alphabet.record.received[participant.vocabulary.profile] ?? []
    return pick(messages) { seen.contains($0.name) }
  }

  /// Makes one message of twenty a flood: more than any queue may keep.
  private mutating func flooding(
    _ trigger: TimelineEntry.Trigger, _ effect: TimelineEntry.Effect
  ) -> TimelineEntry.Trigger {
    guard case .send = effect, choices.chance(5), case .after(_, let anchor) = trigger else { return trigger }
    return .flood(from: anchor)
  }

  private mutating func duration() -> Interval {
    choices.pick([.milliseconds(10), .milliseconds(100), .seconds(1), .seconds(3), .seconds(10), .seconds(35)])
  }

  // MARK: Effects

  private mutating func effect(of kind: MoveKind) -> TimelineEntry.Effect? {
    switch kind {
    case .send: message().map { .send($0) }
    case .drop: signalling(.signalDrop)
    case .duplicate: signalling(.signalDuplicate)
    case .delay: signalling(.signalDelay)
    case .reorder: signalling(.signalReorder)
    case .corrupt: signalling(.signalCorrupt)
    case .action: action()
    case .disconnect: disconnection()
    case .link: link()
    case .nat: nat()
    case .relay: relay()
    case .packets: packets()
    case .device: device()
    }
  }

  private mutating func fault(
    _ kind: FaultKind, _ arguments: [(String, Value)] = [], server: String? = nil, for duration: Interval? = nil
  ) -> TimelineEntry.Effect {
    var fault = Fault(kind: kind, arguments: Arguments(arguments))
    fault.callServer = server
    fault.direction = fault.arguments.text("direction").flatMap { Fault.Direction(rawValue: $0) }
    return .fault(fault, duration: duration)
  }

  private mutating func message() -> RawMessage? {
    let receiver = choices.pick(alphabet.participants)
    let messages = receiver.messages
    guard !messages.isEmpty, let server = alphabet.server(of: receiver) else { return nil }
    let senders = alphabet.senders(to: receiver)
    // The first ones are the other participants, whose messages an app is most likely to obey.
    let sender = choices.pick(senders.prefix(max(1, alphabet.participants.count - 1)) + senders)
    let recorded = alphabet.recorded(to: receiver)
    if choices.chance(10), !recorded.isEmpty {
      var message = choices.pick(recorded)
      message.from = sender
      return message
    }
    let declaration = choices.pick(messages)
    var message = RawMessage(type: declaration.name, from: sender, to: receiver.name)
    message.server = server
    message.like = choices.chance(40) ? declaration.name : model(for: receiver)
    if choices.chance(20) { message.number = 1 + choices.below(3) }
    return message
  }

  /// Returns the type of a message that gives the content: most often the first one of the scenario, which is there at
  /// any time.
  private mutating func model(for receiver: MoveAlphabet.Participant) -> String {
    if let first = alphabet.record.messages.first, choices.chance(60) { return first.type }
    return pick(receiver.vocabulary.messages, of: receiver).name
  }

  private mutating func signalling(_ kind: FaultKind) -> TimelineEntry.Effect? {
    let receiver = choices.pick(alphabet.participants)
    guard !receiver.served.isEmpty, let server = alphabet.server(of: receiver) else { return nil }
    let record = alphabet.record
    let message = pick(receiver.served) { record.message($0.name, to: receiver) != nil }
    var arguments: [(String, Value)] = [("message", .text(message.name)), ("to", .text(receiver.name))]
    if choices.chance(80) { arguments.append(("count", .count(1))) }
    if kind == .signalDelay {
      arguments.append(("by", .duration(max(.milliseconds(1), choices.chance(50) ? delay() : duration()))))
    }
    if kind == .signalCorrupt {
      let seen = record.message(message.name, to: receiver)
      let all = Mutations.all(of: message)
      arguments += choices.pick(all.filter { Mutations.lack(of: $0, of: message, in: seen) == nil })
    }
    return fault(kind, arguments, server: server)
  }

  private mutating func action() -> TimelineEntry.Effect? {
    let participant = choices.pick(alphabet.participants)
    guard !participant.actions.isEmpty else { return nil }
    let action = choices.pick(participant.actions)
    var arguments: [(String, Value)] = []
    for parameter in action.parameters where parameter.isRequired {
      guard parameter.isPeer else {
        let written = alphabet.arguments(of: action, participant)
        guard !written.isEmpty else { return nil }
        return .action(peer: participant.name, name: action.name, arguments: choices.pick(written))
      }
      arguments.append((parameter.name, parameter.value(choices.pick(alphabet.participants).name)))
    }
    return .action(peer: participant.name, name: action.name, arguments: Arguments(arguments))
  }

  private mutating func disconnection() -> TimelineEntry.Effect? {
    let participant = choices.pick(alphabet.participants)
    guard let server = alphabet.server(of: participant) else { return nil }
    if choices.chance(50) { return fault(.signalBlackhole, server: server, for: duration()) }
    return fault(.signalDisconnect, [("peer", .text(participant.name))], server: server, for: duration())
  }

  private mutating func link() -> TimelineEntry.Effect? {
    let link: (String, Value) = ("link", .text(choices.pick(alphabet.links)))
    switch choices.below(6) {
    case 0: return fault(.linkDown, [link], for: duration())
    case 1: return fault(.linkBlackhole, [link], for: duration())
    case 2:
      let direction = choices.pick(Fault.Direction.allCases).rawValue
      return fault(.linkOneWay, [link, ("direction", .text(direction))], for: duration())
    case 3:
      let times = [Interval.milliseconds(100), .milliseconds(500), .seconds(2)]
      return fault(
        .linkFlap,
        [link, ("down", .duration(choices.pick(times))), ("up", .duration(choices.pick(times))), ("cycles", .count(3))])
    default:
      var impairments = Topology.Impairments()
      switch choices.below(4) {
      case 0: impairments.loss = .random(rate: choices.pick([0.02, 0.1, 0.3, 0.6]))
      case 1: impairments.delay = choices.pick([.milliseconds(100), .milliseconds(400), .seconds(2)])
      case 2: impairments.rate = DataRate(bitsPerSecond: choices.pick([8_000, 24_000, 64_000]))
      default: impairments.reorder = choices.pick([0.05, 0.3])
      }
      var fault = Fault(kind: .linkSet, arguments: Arguments([link]))
      fault.impairments = impairments
      return .fault(fault, duration: duration())
    }
  }

  private mutating func nat() -> TimelineEntry.Effect? {
    let network: (String, Value) = ("network", .text(choices.pick(alphabet.translated)))
    return fault(choices.pick([.natReboot, .natExpire, .natRemap]), [network])
  }

  private mutating func relay() -> TimelineEntry.Effect? {
    if alphabet.relays.isEmpty || (!alphabet.stunServers.isEmpty && choices.chance(20)) {
      let servers = alphabet.stunServers + alphabet.relays
      return fault(.stunSilent, [("server", .text(choices.pick(servers)))], for: max(.seconds(1), duration()))
    }
    let server: (String, Value) = ("server", .text(choices.pick(alphabet.relays)))
    let kinds: [FaultKind] = [
      .turnRestart, .turnStaleNonce, .turnExpirePermissions, .turnExpireChannels, .turnDeny, .turnReject, .stunSilent,
    ]
    let kind = choices.pick(kinds)
    let code =
      kind == .turnReject ? [("code", Value.count(choices.pick([400, 401, 403, 437, 438, 441, 486, 500, 508])))] : []
    return fault(kind, [server] + code, for: kind.lasts ? duration() : nil)
  }

  private mutating func packets() -> TimelineEntry.Effect? {
    let participant: Value = .text(choices.pick(alphabet.participants).name)
    let content: (String, Value) = ("protocol", .text(choices.pick(["stun", "rtp", "rtcp", "dtls"])))
    switch choices.below(5) {
    case 0:
      let flight = Value.count(1 + choices.below(6))
      return fault(.dtlsDrop, [("from", participant), ("flight", flight), ("count", .count(1))])
    case 1: return fault(.dtlsDrop, [("from", participant), ("nth", .list([.count(1 + choices.below(8))]))])
    case 2: return fault(.packetForge, [content, ("to", participant)], for: duration())
    case 3: return fault(.packetDrop, [content, ("to", participant)], for: duration())
    default: return fault(.packetDrop, [content, ("from", participant)], for: duration())
    }
  }

  private mutating func device() -> TimelineEntry.Effect? {
    let participant = choices.pick(alphabet.participants)
    let peer: (String, Value) = ("peer", .text(participant.name))
    switch choices.below(5) {
    case 0, 1:
      let event = choices.pick(MoveTable.lateEvents)
      return .late(event, of: participant.name, by: max(.milliseconds(1), delay()), for: max(.seconds(1), duration()))
    case 2:
      let latency = choices.pick([Interval.milliseconds(60), .milliseconds(400)])
      return fault(.deviceAudioLate, [peer, ("by", .duration(latency))], for: duration())
    case 3:
      let jump = choices.pick([Interval.seconds(-3_600), .seconds(60), .seconds(86_400)])
      return fault(.clockJump, [peer, ("by", .duration(jump))])
    default:
      guard participant.interfaces.count > 1 else { return nil }
      return .action(
        peer: participant.name, name: CommonVocabulary.switchNetwork.name,
        arguments: Arguments([("to", .text(choices.pick(participant.interfaces)))]))
    }
  }
}

extension TimelineEntry.Effect {
  /// Whether it waits for something to act on, so that most such moves are there from the start.
  fileprivate var waits: Bool {
    guard case .fault(let fault, _) = self else { return false }
    switch fault.kind {
    case .signalDrop, .signalDuplicate, .signalDelay, .signalReorder, .signalCorrupt, .dtlsDrop, .stunSilent,
      .deviceEventsLate:
      return true
    default: return false
    }
  }
}

extension TimelineEntry.Trigger {
  /// Returns the trigger with a longer delay.
  fileprivate func later(by delay: Interval) -> TimelineEntry.Trigger {
    switch self {
    case .at(let time): .at(time + delay)
    case .after(let own, let anchor): .after(own + delay, of: anchor)
    case .when, .every: self
    }
  }
}
