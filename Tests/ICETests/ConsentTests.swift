import CallCore
import StackWorlds
import Testing

@testable import ICE

/// RFC 7675, seen alone: the liveness timers are set so far out that only consent can end a pair.
@Suite struct ConsentTests {
  private var consentOnly: ICESettings {
    var settings = ICESettings()
    settings.stablePingInterval = .minutes(60)
    settings.stabilizingPingInterval = .minutes(60)
    settings.receivingTimeout = .minutes(60)
    settings.unwritableTimeout = .minutes(60)
    settings.inactiveTimeout = .minutes(60)
    settings.deadTimeout = .minutes(60)
    return settings
  }

  private func connected(_ settings: ICESettings) throws -> TestNetwork {
    let network = TestNetwork(settings: settings)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    return network
  }

  private func expiry(of peer: TestPeer) -> Instant? {
    peer.diary.first { if case .consentExpired = $0.event { true } else { false } }?.at
  }

  @Test func `consent is checked every 4 to 6 s at random`() throws {
    let network = try connected(consentOnly)
    let start = network.now
    network.run(until: at(310))
    let times = network.alice.checkTimes.filter { $0 > start }
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.count > 45)
    #expect(gaps.allSatisfy { $0 >= .seconds(4) && $0 <= .seconds(6) })
    #expect(Set(gaps).count > 10)
    #expect(network.alice.state == .completed)
  }

  @Test func `consent ends 30 s after the last valid response, for good`() throws {
    let network = try connected(consentOnly)
    let path = try #require(network.alice.sendingPath)
    // Nothing of Bob's that answers reaches Alice: his checks do.
    network.tap = { bytes, from, _ in from.port == 6000 && bytes[0] == 1 ? nil : bytes }
    let last = try #require(network.alice.selected?.lastResponseAt)
    network.run(until: at(60))
    #expect(expiry(of: network.alice) == last + .seconds(30))
    #expect(!network.alice.canSend)
    // Bob still hears Alice answer, and the path stays forbidden when the responses come back.
    network.tap = { bytes, _, _ in bytes }
    let sent = network.alice.checkTimes.count
    network.run(until: at(120))
    #expect(!network.alice.canSend && network.alice.pairs.allSatisfy { $0.path != path })
    #expect(network.alice.checkTimes.count == sent)
    #expect(network.alice.state == .failed)
  }

  @Test func `a lost reply, and even four in a row, are harmless`() throws {
    let network = try connected(consentOnly)
    var toLose = 4
    network.tap = { bytes, from, _ in
      guard from.port == 6000, bytes[0] == 1, toLose > 0 else { return bytes }
      toLose -= 1
      return nil
    }
    network.run(until: at(100))
    #expect(toLose == 0)
    #expect(expiry(of: network.alice) == nil)
    #expect(network.alice.canSend)
  }

  @Test func `data that arrives is not consent`() throws {
    let network = try connected(consentOnly)
    let path = try #require(network.alice.sendingPath)
    network.isBlocked = { _, _ in true }
    let last = try #require(network.alice.selected?.lastResponseAt)
    for second in 11...50 {
      network.run(until: at(Double(second)))
      network.alice.agent.markReceived(on: path, at: network.now)
    }
    #expect(expiry(of: network.alice) == last + .seconds(30))
  }

  @Test func `with the usual timers a blackhole still reports the end of consent`() throws {
    let network = try connected(ICESettings())
    let last = try #require(network.alice.selected?.lastResponseAt)
    network.isBlocked = { _, _ in true }
    network.run(until: at(60))
    #expect(expiry(of: network.alice) == last + .seconds(30))
    let last2 = try #require(
      network.alice.diary.last { if case .selectedPairChanged = $0.event { true } else { false } })
    guard case .selectedPairChanged(nil) = last2.event else {
      Issue.record("the selected pair is still there")
      return
    }
  }

  @Test func `a restart gives the path a new chance`() throws {
    let network = try connected(consentOnly)
    network.isBlocked = { _, _ in true }
    network.run(until: at(60))
    #expect(network.alice.state == .failed && network.bob.state == .failed)
    network.isBlocked = { _, _ in false }
    try restartBoth(network)
    network.run(until: at(63))
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }
}

/// Alice offers a restart and Bob answers at once.
func restartBoth(_ network: TestNetwork) throws {
  let bases = [network.alice, network.bob].map { peer in
    peer.agent.localCandidates.filter { $0.type == .host || $0.type == .relay }
  }
  for (peer, candidates) in zip([network.alice, network.bob], bases) {
    try peer.agent.restart(at: network.now)
    for candidate in candidates { try peer.agent.addLocalCandidate(candidate, at: network.now) }
    network.drain(peer)
  }
  try network.signalAll()
}
