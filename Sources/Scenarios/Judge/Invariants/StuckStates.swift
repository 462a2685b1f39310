internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// After the time to recover no peer may be in a transient state: it is idle, connected, or its call has ended.
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

/// The stage of a peer's main machine, in terms that all profiles share.
enum CallStage {
  /// There is no call, or it has ended.
  case none(state: String)
  case connected(since: Instant)
  case underway(state: String, since: Instant)

  /// Watches the state of a peer's call from the start, so that it can be queried later.
  static func follow(_ peer: String, _ context: MonitorContext) {
    if let machine = context.mainMachine(of: peer) { _ = context.watch.slot(peer, machine.name) }
  }

  /// Returns nil for a puppet, before a machine's first state, and for a peer that is not watched.
  init?(of peer: String, _ context: MonitorContext) {
    guard let machine = context.mainMachine(of: peer) else { return nil }
    let slot = context.watch.slot(peer, machine.name)
    guard let state = context.watch.value(slot)?.description else { return nil }
    let since = context.watch.changedAt(slot) ?? .zero
    switch machine.role(of: state) {
    case .connected: self = .connected(since: since)
    case .idle, .over: self = .none(state: state)
    case .alerting, .settingUp, .recovering, nil: self = .underway(state: state, since: since)
    }
  }
}
