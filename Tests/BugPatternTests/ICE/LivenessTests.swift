import CallCore
import PeerSession
import StackWorlds
import Testing

@testable import ICE

/// Patterns 15, 16 and 17: what silence, suspension and lost networks do to a call.
@Suite struct LivenessTests {
  @Test func `15 - consent ends 30 s after the last valid response and not after the last request`() throws {
    try proves(.consentRunsFromRequest) { claims in
      // The other timers are set so far out that only consent can end the pair.
      var settings = ICESettings()
      settings.stablePingInterval = .minutes(60)
      settings.stabilizingPingInterval = .minutes(60)
      settings.receivingTimeout = .minutes(60)
      settings.unwritableTimeout = .minutes(60)
      settings.inactiveTimeout = .minutes(60)
      settings.deadTimeout = .minutes(60)
      let network = TestNetwork(settings: settings)
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      try network.signalAll()
      network.run(until: at(10))
      let last = try #require(network.alice.selected?.lastResponseAt)
      // Bob's checks reach Alice, his answers do not.
      network.tap = { bytes, from, _ in from.port == 6000 && bytes[0] == 1 ? nil : bytes }
      network.run(until: at(60))
      let end = network.alice.diary.first { if case .consentExpired = $0.event { true } else { false } }
      claims("consent ended in time", end?.at == last + .seconds(30))
      claims("nothing is sent any more", !network.alice.canSend)
    }
  }

  @Test func `16 - after a suspension checks leave one at a time`() throws {
    try proves(.overdueChecksSentAtOnce) { claims in
      var settings = ICESettings()
      settings.prunesPairs = false
      settings.backupPingInterval = .seconds(4)
      let network = TestNetwork(settings: settings)
      try network.addHost(network.alice, "192.0.2.1:5000")
      for index in 0..<8 { try network.addHost(network.bob, "192.0.2.2:\(6_000 + index)") }
      try network.signalAll()
      network.run(until: at(60))
      // Nobody runs for 6 s, after which every pair is due.
      let resumed = network.now + .seconds(6)
      let before = network.alice.checkTimes.count
      for _ in 0..<50 {
        network.alice.agent.advance(to: resumed)
        network.drain(network.alice)
      }
      claims("one check leaves at once", network.alice.checkTimes.count - before == 1)
      claims("the others follow", (network.alice.wake.deadline ?? .zero) > resumed)
    }
  }

  /// What wakes the device is its microphone, or what came just after it had fallen asleep.
  @Test(arguments: [false, true])
  func `16 - after a suspension nothing is sent without consent`(somethingCame: Bool) throws {
    try proves(.consentOutlivesSuspension) { claims in
      let pair = SessionPair()
      try pair.negotiate()
      pair.run(for: .seconds(3))
      claims("both are heard", pair.a.mediaReceived > 0 && pair.b.mediaReceived > 0)
      // The answer to Alice's last check waits at her socket.
      var answer: SessionPair.Sent?
      pair.drops = { datagram in
        guard !datagram.fromA, datagram.bytes[0] == 1 else { return false }
        answer = datagram
        return true
      }
      while answer == nil { pair.run(for: .milliseconds(20)) }
      let late = try #require(answer)
      pair.now += .seconds(60)
      let sent = pair.sent.count
      if somethingCame {
        pair.a.session.receive(late.bytes.span.bytes, on: late.path.reversed, at: pair.now)
        pair.drain(pair.a)
      }
      pair.a.talk(at: pair.now)
      pair.drain(pair.a)
      claims("nothing leaves", !pair.sent[sent...].contains { $0.fromA && $0.isMedia })
      pair.a.session.advance(to: pair.now)
      claims("consent has run out", pair.a.session.iceConnectionState == .failed)
    }
  }

  @Test func `17 - the backup pair takes over when its interface is gone`() throws {
    try proves(.backupPairsPruned) { claims in
      let (network, wifi, cellular) = try TestNetwork.connected()
      network.alice.agent.withdrawLocalCandidates(base: wifi, at: network.now)
      network.drain(network.alice)
      network.isBlocked = { from, to in from == wifi || to == wifi }
      network.run(for: .seconds(5))
      claims("Alice is on the backup", network.alice.selected?.base == cellular)
      claims("Bob is too", network.bob.selected?.remoteEndpoint == cellular)
    }
  }
}
