internal import CallCore
internal import ScenarioFormat

/// Servers with a delay, while a call waits for their responses.
struct SlowServers {
  /// A shorter delay is not noticeable in a call.
  private static let limit = Interval.milliseconds(100)

  private let scenario: Scenario

  init(_ scenario: Scenario) { self.scenario = scenario }

  /// `the TURN server relay answers each request only after 3s (delay: 3s), and a pair with a relay takes several of them`
  func lines(of peers: [String], _ isMeant: (Topology.Server.Kind) -> Bool) -> [String] {
    let real = peers.compactMap { scenario.peer($0) }.filter(\.hasCallStack)
    let slow = scenario.topology.servers.filter { $0.delay >= Self.limit && isMeant($0.kind) }
    return slow.compactMap { server in
      let isAwaited = real.contains { peer in
        switch server.kind {
        case .turn: peer.ice.asks(server.name)
        case .stun: peer.ice.asks(server.name) && peer.ice.policy != .relay
        case .declared: peer.profile?.value == server.profile?.value
        }
      }
      return isAwaited ? line(of: server) : nil
    }
  }

  private func line(of server: Topology.Server) -> String {
    let delay = "only after \(server.delay) (delay: \(server.delay))"
    return switch server.kind {
    case .turn:
      "the TURN server \(server.name) answers each request \(delay), and a pair with a relay takes several of them"
    case .stun: "the STUN server \(server.name) answers \(delay), so that server-reflexive candidates come late"
    case .declared(let kind): "the \(kind) server \(server.name) passes messages on \(delay)"
    }
  }
}
