internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Messages change a call only if they are of that call and from its other side: those of a third user, and a refusal from
/// the caller, leave the peer's main machine where it is, and no message brings back a call that the peer has ended.
final class CallMessages {
  /// One peer, and its call when the message in hand arrived.
  private final class Side {
    let peer: String
    let machine: StateMachine
    /// Whether a call has one other side.
    let isForTwo: Bool
    var ended: [String: Instant] = [:]
    /// The user ids of the users that this one called since its last call ended.
    var placed: [String] = []
    /// The action that called the last of them, which the app may still refuse.
    var placing: String?
    var isInCall = false
    var call: String?
    /// The user id of the call's other side.
    var partner: String?

    init(_ peer: String, _ machine: StateMachine, isForTwo: Bool) {
      self.peer = peer
      self.machine = machine
      self.isForTwo = isForTwo
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
      let isForTwo = vocabulary.connections == .single && !vocabulary.actions.contains { $0.role?.isOfRoom == true }
      follow(Side(peer, machine, isForTwo: isForTwo))
    }
  }

  private func follow(_ side: Side) {
    let (watch, scenario, vocabulary) = (context.watch, context.scenario, context.vocabulary(of: side.peer))
    let callID = watch.slot(side.peer, PeerEvents.callID)
    let callPeer = watch.slot(side.peer, PeerEvents.callPeer)
    let state = watch.slot(side.peer, side.machine.name)
    arrivals.listen(of: side.peer) { [unowned watch] _ in
      let role = watch.value(state).flatMap { side.machine.role(of: $0.description) }
      side.isInCall = role != .idle && role != .over && role != nil
      side.call = watch.value(callID)
      side.partner = watch.value(callPeer).map { scenario.userID(of: $0) }
    }
    watch.listen(to: PeerEvents.callEnded, of: side.peer) { [unowned watch] record, _ in
      if let id = watch.value(callID) { side.ended[id] = side.ended[id] ?? record.time }
      (side.placed, side.placing) = ([], nil)
    }
    watch.listen(to: PeerEvents.action, of: side.peer) { _, action, other in
      switch vocabulary?.action(action)?.role {
      case .begin:
        side.placed.append(scenario.userID(of: other))
        side.placing = action
      // A room keeps its id.
      case .join: side.ended = [:]
      default: break
      }
    }
    watch.listen(to: PeerEvents.actionRefused, of: side.peer) { _, action, _ in
      guard action == side.placing else { return }
      side.placed.removeLast()
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
    } else if !side.isForTwo {
      return
    } else if side.isInCall, !message.sender.isEmpty, let partner = side.partner, message.sender != partner {
      // Another call may come in beside this one.
      guard side.machine.role(of: new) != .alerting || message.call == side.call else { return }
      let actual = "\(course) from \(name(of: message.sender)), in a call with \(name(of: partner))"
      partnerOnly?(Violation(.partnerOnly, at: time, actual: actual))
    } else if side.isInCall, message.role == .refusal, let partner = side.partner, !side.placed.contains(partner) {
      let actual = "\(course), a refusal, in a call that \(name(of: partner)) placed"
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
