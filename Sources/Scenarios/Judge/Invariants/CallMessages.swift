internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Messages change a call only if they are of that call and from its other sides: those of a third user, and a refusal from
/// the caller, leave the peer's main machine where it is, and no message brings back a call that the peer has ended.
final class CallMessages {
  /// One peer, and its call when the message in hand arrived.
  private final class Side {
    let peer: String
    let machine: StateMachine
    /// Whether the app may have several calls, each with several users.
    let hasSeveral: Bool
    var ended: [String: Instant] = [:]
    /// The user ids of the users that this one called since its last call ended.
    var placed: [String] = []
    /// The same when the message in hand arrived, which may end that call.
    var placedBefore: [String] = []
    /// The action that called the last of them and their number, while the app may still refuse it.
    var placing: (action: String, count: Int)?
    var isInCall = false
    var call: String?
    /// The user ids of the call's other sides; none in a room.
    var partners: [String] = []

    init(_ peer: String, _ machine: StateMachine, hasSeveral: Bool) {
      self.peer = peer
      self.machine = machine
      self.hasSeveral = hasSeveral
    }
  }

  private let context: MonitorContext
  private let arrivals: Arrivals
  private let endedCalls: ((Violation) -> Void)?
  private let partnerOnly: ((Violation) -> Void)?

  /// - Parameters:
  ///   - endedCalls: reports calls that come back; nil if that is not judged.
  ///   - partnerOnly: reports changes by others; nil if that is not judged.
  init(
    _ context: MonitorContext, _ arrivals: Arrivals, endedCalls: ((Violation) -> Void)?,
    partnerOnly: ((Violation) -> Void)?
  ) {
    self.context = context
    self.arrivals = arrivals
    self.endedCalls = endedCalls
    self.partnerOnly = partnerOnly
    for peer in context.scenario.peers.map(\.name) {
      guard let machine = context.mainMachine(of: peer), let vocabulary = context.vocabulary(of: peer) else { continue }
      follow(Side(peer, machine, hasSeveral: vocabulary.connections != .single))
    }
  }

  private func follow(_ side: Side) {
    let (watch, scenario, vocabulary) = (context.watch, context.scenario, context.vocabulary(of: side.peer))
    let callID = watch.slot(side.peer, PeerEvents.callID)
    let callPeer = watch.slot(side.peer, PeerEvents.callPeer)
    let isOfRooms = vocabulary?.actions.contains { $0.role?.isOfRoom == true } ?? false
    let partners = { [unowned watch] () -> [String] in
      guard !isOfRooms, let names = watch.value(callPeer) else { return [] }
      return Self.users(names, scenario)
    }
    let state = watch.slot(side.peer, side.machine.name)
    arrivals.listen(of: side.peer) { [unowned watch] _ in
      let role = watch.value(state).flatMap { side.machine.role(of: $0.description) }
      side.isInCall = role != .idle && role != .over && role != nil
      side.call = watch.value(callID)
      side.partners = partners()
      side.placedBefore = side.placed
    }
    watch.listen(to: PeerEvents.callEnded, of: side.peer) { [unowned watch] record, _ in
      if let id = watch.value(callID) { side.ended[id] = side.ended[id] ?? record.time }
      // The user may have placed another call, which goes on.
      let gone = side.hasSeveral ? partners() : side.placed
      side.placed.removeAll { gone.contains($0) }
      side.placing = nil
    }
    watch.listen(to: PeerEvents.action, of: side.peer) { _, action, other in
      switch vocabulary?.action(action)?.role {
      case .begin:
        let users = Self.users(other, scenario)
        side.placed += users
        side.placing = (action, users.count)
      // A room keeps its id.
      case .join: side.ended = [:]
      default: break
      }
    }
    // Another process of the app knows of no call that is over.
    watch.listen(to: PeerEvents.appState, of: side.peer) { _, state in
      if state == AppState.terminated.rawValue { side.ended = [:] }
    }
    watch.listen(to: PeerEvents.actionRefused, of: side.peer) { _, action, _ in
      guard let placing = side.placing, action == placing.action else { return }
      side.placed.removeLast(placing.count)
      side.placing = nil
    }
    watch.listen(to: PeerEvents.state(side.machine.name), of: side.peer) { [unowned self] record, new, old, _ in
      guard new != old, let message = arrivals.current(of: side.peer) else { return }
      judge(message, moving: side, from: old, to: new, at: record.time)
    }
    watch.listen(to: PeerEvents.callID, of: side.peer) { [unowned self] record, id in
      guard let message = arrivals.current(of: side.peer), message.call == id else { return }
      judge(message, reviving: side, at: record.time)
    }
  }

  /// Returns the user ids of peers whose names stand in one text.
  private static func users(_ names: String, _ scenario: Scenario) -> [String] {
    names.split(separator: ", ").map { scenario.userID(of: String($0)) }
  }

  private func judge(_ message: ArrivedMessage, reviving side: Side, at time: Instant) {
    guard let ended = side.ended[message.call] else { return }
    let actual =
      "\(side.peer) began call \(message.call) anew at \(Wording.time(time)) on \(message.type), having ended it at "
      + Wording.time(ended)
    endedCalls?(Violation(.endedCalls, at: time, actual: actual))
  }

  private func judge(
    _ message: ArrivedMessage, moving side: Side, from old: String, to new: String, at time: Instant
  ) {
    let course = "\(side.peer) went from \(old) to \(new) at \(Wording.time(time)) on \(message.type)"
    // The end itself is a move, too: only a call that was over before this message came is.
    if let ended = side.ended[message.call], ended < time {
      let actual = "\(course) of call \(message.call), which it ended at \(Wording.time(ended))"
      endedCalls?(Violation(.endedCalls, at: time, actual: actual))
    } else if !side.isInCall || side.partners.isEmpty {
      return
    } else if !message.sender.isEmpty, !side.partners.contains(message.sender) {
      // Another call may come in beside this one, and be there beside it.
      guard message.call == side.call || !(side.hasSeveral || side.machine.role(of: new) == .alerting) else { return }
      let partners = side.partners.map(name).joined(separator: ", ")
      let actual = "\(course) from \(name(of: message.sender)), in a call with \(partners)"
      partnerOnly?(Violation(.partnerOnly, at: time, actual: actual))
    } else if message.role == .refusal, side.partners.count == 1, !side.placedBefore.contains(side.partners[0]) {
      // In a call of more than two, callees call each other, without an action of their users.
      let actual = "\(course), a refusal, in a call that \(name(of: side.partners[0])) placed"
      partnerOnly?(Violation(.partnerOnly, at: time, actual: actual))
    }
  }

  private func name(of user: String) -> String {
    context.scenario.peers.first { context.scenario.userID(of: $0.name) == user }?.name ?? user
  }
}

extension ActionDeclaration.Role {
  /// Whether the action is of a room, in which there may be many.
  fileprivate var isOfRoom: Bool {
    switch self {
    case .join, .leave: true
    default: false
    }
  }
}
