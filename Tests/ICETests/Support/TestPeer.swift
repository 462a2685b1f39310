import CallCore
import Testing

@testable import ICE

/// One agent and a diary of what it said.
final class TestPeer {
  let name: String
  var agent: ICEAgent
  var diary: [(at: Instant, event: ICEEvent)] = []
  var advances = 0

  init(_ name: String, _ role: ICERole, _ settings: ICESettings, seed: UInt64, at now: Instant = .zero) {
    self.name = name
    agent = ICEAgent(
      role: role, settings: settings, random: RandomSource(seed: seed).stream(name), at: now)
  }

  // Copies, because expectations cannot look into an agent that cannot be copied.
  var canSend: Bool { agent.canSend }
  var sendingPath: Path? { agent.sendingPath }
  var pairs: [ICECandidatePair] { agent.pairs }
  var counters: ICECounters { agent.counters }
  var role: ICERole { agent.role }
  var wake: Wake { agent.wake }
  var state: ICEConnectionState { agent.connectionState }
  var selected: ICECandidatePair? { agent.selectedPair }
  var states: [ICEConnectionState] {
    diary.compactMap { if case .connectionStateChanged(_, let to) = $0.event { to } else { nil } }
  }

  /// When the agent first entered `state` at or after `start`.
  func entered(_ state: ICEConnectionState, since start: Instant = .zero) -> Instant? {
    diary.first {
      guard $0.at >= start, case .connectionStateChanged(_, state) = $0.event else { return false }
      return true
    }?.at
  }

  func count(where matches: (ICEEvent) -> Bool) -> Int { diary.count { matches($0.event) } }

  var checkTimes: [Instant] {
    diary.compactMap { if case .checkSent = $0.event { $0.at } else { nil } }
  }

  func pair(to remote: Endpoint) -> ICECandidatePair? { agent.pairs.first { $0.remoteEndpoint == remote } }
}

func endpoint(_ text: String) -> Endpoint {
  guard let endpoint = Endpoint(text) else { preconditionFailure("not an endpoint: \(text)") }
  return endpoint
}

func at(_ seconds: Double) -> Instant { .zero + Interval.seconds(1).scaled(by: seconds) }
