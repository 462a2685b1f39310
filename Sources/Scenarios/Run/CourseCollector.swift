internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import VirtualPeer
internal import Vocabulary

/// Collects the course of a run, for a search.
///
/// Create it before the world, because it needs the first states.
final class CourseCollector {
  private(set) var course = RunCourse()
  private let trace: Trace

  init(_ context: MonitorContext) {
    trace = context.trace
    var machines: [String: Set<String>] = [:]
    for peer in context.scenario.peers where peer.stack == .real {
      guard let machine = context.vocabulary(of: peer.name)?.mainMachine else { continue }
      machines[machine.name, default: []].insert(peer.name)
    }
    for (machine, peers) in machines.sorted(by: { $0.key < $1.key }) {
      trace.listen(to: PeerEvents.state(machine)) { [unowned self] record, state, _, _ in
        let peer = trace.name(of: record.subject)
        if peers.contains(peer) { enter(state, peer, at: record.time) }
      }
    }
  }

  private func enter(_ state: String, _ peer: String, at time: Instant) {
    if let last = course.stays.lastIndex(where: { $0.peer == peer }) { course.stays[last].until = time }
    course.stays.append(RunCourse.Stay(peer: peer, state: state, from: time))
  }

  /// Follows the messages that a server passes on, and the connections of peers to it.
  func follow(_ server: CallServerHost, _ scenario: Scenario) {
    let name = server.name
    let users = scenario.peers.map { (name: $0.name, user: scenario.userID(of: $0.name)) }
    server.faults.onMessage = { [unowned self] message in
      guard message.content != nil, course.passage(of: message.type, by: name) == nil else { return }
      course.passages.append(RunCourse.Passage(server: name, type: message.type, time: trace.now))
    }
    server.onConnectionsChanged = { [unowned self, unowned server] in
      for (peer, user) in users { note(server.isConnected(user: user), peer, name) }
    }
  }

  private func note(_ isConnected: Bool, _ peer: String, _ server: String) {
    let open = course.connections.lastIndex { $0.peer == peer && $0.server == server && $0.until == nil }
    switch (open, isConnected) {
    case (nil, true):
      course.connections.append(RunCourse.Connection(server: server, peer: peer, from: trace.now))
    case (let open?, false): course.connections[open].until = trace.now
    case (nil, false), (_?, true): break
    }
  }
}
