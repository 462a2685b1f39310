internal import CallCore
internal import Vocabulary

/// After the time to recover no peer may be on its way: it is idle, connected, or its call has ended.
struct StuckStates {
  private let context: MonitorContext

  init(_ context: MonitorContext) { self.context = context }

  func check(at time: Instant, _ report: (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      guard let stage = CallStage(of: peer, context), case .underway(let state, let since) = stage else { continue }
      report(
        Violation(
          .settled, at: time, actual: "\(peer) is still \(state) since \(Wording.time(since))"))
    }
  }
}

/// Where a peer's main machine stands, as far as every profile has it.
enum CallStage {
  /// The initial state or a terminal one.
  case none(state: String)
  case connected(since: Instant)
  case underway(state: String, since: Instant)

  /// Keeps the state of a peer's call from the start, for who asks for it later.
  static func follow(_ peer: String, _ context: MonitorContext) {
    if let machine = context.mainMachine(of: peer) { _ = context.watch.slot(peer, machine.name) }
  }

  /// Nil for a puppet, before a machine's first state, and of a peer whom nobody follows.
  init?(of peer: String, _ context: MonitorContext) {
    guard let machine = context.mainMachine(of: peer) else { return nil }
    let slot = context.watch.slot(peer, machine.name)
    guard let state = context.watch.value(slot)?.description else { return nil }
    let since = context.watch.changedAt(slot) ?? .zero
    // A vocabulary that says of no state that a call may stay there is taken by the usual word.
    let active = machine.states.filter(\.isActive).map(\.name)
    if active.isEmpty ? state == "connected" : active.contains(state) {
      self = .connected(since: since)
    } else if state == machine.states.first?.name
      || machine.states.contains(where: { $0.name == state && $0.isTerminal })
    {
      self = .none(state: state)
    } else {
      self = .underway(state: state, since: since)
    }
  }
}
