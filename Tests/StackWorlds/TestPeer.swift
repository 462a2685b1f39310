package import CallCore
package import ICE
import Testing

/// One agent and a diary of what it said.
package final class TestPeer {
  package let name: String
  package var agent: ICEAgent
  package var diary: [(at: Instant, event: ICEEvent)] = []
  package var advances = 0

  package init(_ name: String, _ role: ICERole, _ settings: ICESettings, seed: UInt64, at now: Instant = .zero) {
    self.name = name
    agent = ICEAgent(
      role: role, settings: settings, random: RandomSource(seed: seed).stream(name), at: now)
  }

  // Copies, because expectations cannot look into an agent that cannot be copied.
  package var canSend: Bool { agent.canSend }
  package var sendingPath: Path? { agent.sendingPath }
  package var pairs: [ICECandidatePair] { agent.pairs }
  package var counters: ICECounters { agent.counters }
  package var role: ICERole { agent.role }
  package var wake: Wake { agent.wake }
  package var state: ICEConnectionState { agent.connectionState }
  package var selected: ICECandidatePair? { agent.selectedPair }
  package var states: [ICEConnectionState] {
    diary.compactMap { if case .connectionStateChanged(_, let to) = $0.event { to } else { nil } }
  }

  /// When the agent first entered `state` at or after `start`.
  package func entered(_ state: ICEConnectionState, since start: Instant = .zero) -> Instant? {
    diary.first {
      guard $0.at >= start, case .connectionStateChanged(_, state) = $0.event else { return false }
      return true
    }?.at
  }

  package func count(where matches: (ICEEvent) -> Bool) -> Int { diary.count { matches($0.event) } }

  package var checkTimes: [Instant] {
    diary.compactMap { if case .checkSent = $0.event { $0.at } else { nil } }
  }

  package func pair(to remote: Endpoint) -> ICECandidatePair? { agent.pairs.first { $0.remoteEndpoint == remote } }
}

package func endpoint(_ text: String) -> Endpoint {
  guard let endpoint = Endpoint(text) else { preconditionFailure("not an endpoint: \(text)") }
  return endpoint
}

package func at(_ seconds: Double) -> Instant { .zero + Interval.seconds(1).scaled(by: seconds) }
