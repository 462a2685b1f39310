import CallCore
import PeerSession
import SDP
import StackWorlds
import Testing

@testable import ICE

/// Patterns 12 and 13: what an ICE restart replaces, and what taking one back restores.
@Suite struct RestartTests {
  @Test func `12 - checks after a restart carry the peer's new credentials`() throws {
    try proves(.restartKeepsOldCredentials) { claims in
      let network = TestNetwork()
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      try network.signalAll()
      network.run(until: at(10))
      let before = network.alice.selected?.id
      for peer in [network.alice, network.bob] {
        let host = try #require(peer.agent.localCandidates.first { $0.type == .host })
        try peer.agent.restart(at: network.now)
        try peer.agent.addLocalCandidate(host, at: network.now)
        network.drain(peer)
      }
      try network.signalAll()
      network.run(for: .seconds(5))
      claims("media moved to a pair of the new generation", network.alice.selected?.id != before)
      claims("Bob knows the user names", network.bob.counters.unknownUfrag == 0)
      claims("both are done", network.alice.state == .completed && network.bob.state == .completed)
    }
  }

  @Test func `13 - a restart that was rolled back does not show in the next answer`() throws {
    try proves(.rolledBackRestartStands) { claims in
      let pair = SessionPair()
      try pair.negotiate()
      pair.run(for: .seconds(1))
      // Alice's restart meets an offer of Bob's that has nothing to do with ICE, and she gives way.
      pair.a.session.restartICE()
      try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
      let offer = try pair.b.session.createOffer()
      try pair.b.session.setLocalDescription(offer, at: pair.now)
      try pair.a.session.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""), at: pair.now)
      try pair.a.session.setRemoteDescription(offer, at: pair.now)
      let answer = try pair.a.session.createAnswer()
      try pair.a.session.setLocalDescription(answer, at: pair.now)
      try pair.b.session.setRemoteDescription(answer, at: pair.now)
      let received = pair.b.mediaReceived
      pair.run(for: .seconds(20))
      claims("Bob goes on to hear Alice", pair.b.mediaReceived - received > 900)
      claims("they stay connected", !pair.a.connectionStates.contains(.disconnected))
      claims("nothing is left to negotiate but the restart", pair.a.session.signalingState == .stable)
    }
  }
}
