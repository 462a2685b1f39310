import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct CadenceTests {
  private func connected(settings: ICESettings = ICESettings()) throws -> TestNetwork {
    let network = TestNetwork(settings: settings)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    return network
  }

  /// Nobody is there. Its pair goes before the one in use, so that it is tried.
  private var preferred: ICECandidate {
    var candidate = ICECandidate.host(endpoint("192.0.2.9:9009"))
    candidate.priority = 2_147_483_647
    return candidate
  }

  @Test func `a stable pair is checked every 170 sixty-fourths of a second`() throws {
    let network = try connected()
    network.run(until: at(60))
    let times = network.alice.checkTimes.filter { $0 > at(20) }
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.count > 12)
    #expect(gaps.allSatisfy { $0 == .microseconds(2_656_250) })
  }

  @Test func `a round trip above the stabilizing interval does not make a stable pair unstable`() throws {
    let network = try connected()
    network.delay = .milliseconds(600)
    network.run(until: at(90))
    let times = network.alice.checkTimes.filter { $0 > at(30) }
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.count > 18)
    #expect(gaps.allSatisfy { $0 == .microseconds(2_656_250) })
  }

  @Test func `a response that is missing for two round trips makes the next check come sooner`() throws {
    let network = try connected()
    network.run(until: at(20))
    var lost: Instant?
    network.tap = { [unowned network] bytes, from, _ in
      guard lost == nil, from.port == 5000, bytes[0] == 0, bytes[1] == 1 else { return bytes }
      lost = network.now
      return nil
    }
    network.run(until: at(30))
    let next = network.alice.checkTimes.first { check in lost.map { check > $0 } ?? false }
    #expect(try #require(next) - #require(lost) == .microseconds(1_062_500))
  }

  @Test func `on an idle call backups are checked every 25 s and no more`() throws {
    let network = TestNetwork()
    for host in 1...4 {
      try network.addHost(network.alice, "192.0.2.\(host):5000", localPreference: UInt16(60_000 - host))
    }
    try network.addHost(network.bob, "192.0.2.100:6000")
    try network.signalAll()
    network.run(until: at(30))
    let selected = try #require(network.alice.selected)
    network.run(until: at(330))
    #expect(network.alice.pairs.count == 4)
    for pair in network.alice.pairs where pair.id != selected.id {
      let checks = network.alice.diary.count { entry in
        if case .checkSent(pair.id, _) = entry.event { entry.at > at(30) } else { false }
      }
      #expect(checks >= 11 && checks <= 13)
    }
    #expect(network.alice.selected?.id == selected.id)
  }

  /// libwebrtc has backups only once each network has one pair left.
  @Test func `a pair of another network is checked like the selected one until no other is tried any more`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000", network: ICENetwork(id: 1, type: .ethernet))
    try network.addHost(network.alice, "198.18.0.1:5001", network: ICENetwork(id: 2, type: .cellular))
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    network.signalCandidates(from: network.bob, to: network.alice)
    network.alice.agent.addRemoteCandidate(preferred, at: network.now)
    network.drain(network.alice)
    network.run(until: at(60))
    let other = try #require(network.alice.pairs.first { $0.base.port == 5001 && $0.remoteEndpoint.port == 6000 })
    let checks = network.alice.diary.compactMap { entry in
      if case .checkSent(other.id, _) = entry.event { entry.at } else { nil }
    }
    let early = checks.filter { $0 > at(2) && $0 < at(14) }
    #expect(early.count >= 4 && zip(early.dropFirst(), early).allSatisfy { $0 - $1 < .seconds(3) })
    #expect((1...2).contains(checks.count { $0 > at(18) }))
  }

  @Test func `what a check costs counts for more in the order of checks than its pair's priority`() throws {
    let network = TestNetwork()
    try network.addHost(
      network.alice, "198.18.0.1:5001", localPreference: 65_535, network: ICENetwork(id: 2, type: .cellular))
    try network.addHost(
      network.alice, "192.0.2.1:5000", localPreference: 60_000, network: ICENetwork(id: 1, type: .wifi))
    network.alice.agent.addRemoteCandidate(.host(endpoint("192.0.2.9:9009")), at: network.now)
    var order: [UInt16] = []
    network.tap = { bytes, from, _ in
      order.append(from.port)
      return bytes
    }
    try network.exchangeCredentials()
    network.run(until: at(0.1))
    #expect(order == [5000, 5001])
  }

  /// libwebrtc gives a pair up for good when a check shows it before the candidate does that was signalled for it.
  @Test(arguments: [10, 80, 200, 400])
  func `a pair formed while the selected one does well waits for the next look`(milliseconds: Int64) throws {
    let network = try connected()
    network.run(until: at(30))
    let count = network.alice.checkTimes.count
    while network.alice.checkTimes.count == count { network.run(until: network.now + .milliseconds(1)) }
    let last = try #require(network.alice.checkTimes.last)
    network.run(until: last + .milliseconds(milliseconds))
    network.alice.agent.addRemoteCandidate(preferred, at: network.now)
    network.drain(network.alice)
    network.run(until: network.now + .seconds(2))
    let checks = network.alice.checkTimes.filter { $0 > last }
    let interval = Interval.microseconds(265_625)
    let first = milliseconds < 63 ? Interval.microseconds(62_500) : interval * (milliseconds > 265 ? 2 : 1)
    #expect(checks.first == last + first)
    #expect(checks.dropFirst().first == checks.first.map { $0 + .microseconds(62_500) })
  }

  /// When the checks of the preferred candidate were sent.
  private func checksOfPreferred(_ network: TestNetwork) throws -> [Instant] {
    let id = try #require(network.alice.pairs.first { $0.remoteEndpoint.port == 9009 }).id
    return network.alice.diary.compactMap { entry in
      if case .checkSent(id, _) = entry.event { entry.at } else { nil }
    }
  }

  @Test func `a pair formed while the selected one is in trouble is checked in its turn`() throws {
    let network = try connected()
    network.run(until: at(30))
    network.tap = { _, _, _ in nil }
    network.run(until: at(36))
    network.alice.agent.addRemoteCandidate(preferred, at: network.now)
    network.drain(network.alice)
    network.run(until: at(36.2))
    let first = try #require(checksOfPreferred(network).first)
    #expect(first - at(36) <= .microseconds(62_500))
  }

  @Test func `a pair formed shortly before the selected one stops receiving waits for that, and not for the next look`()
    throws
  {
    let network = try connected()
    network.run(until: at(30))
    network.tap = { _, _, _ in nil }
    let count = network.alice.checkTimes.count
    while network.alice.checkTimes.count == count { network.run(until: network.now + .milliseconds(1)) }
    let selected = try #require(network.alice.selected)
    guard let end = network.alice.agent.receivingEnd(selected) else {
      Issue.record("the last check was answered")
      return
    }
    network.run(until: end - .milliseconds(20))
    let present = try #require(network.alice.selected)
    let isEnd = network.alice.agent.receivingEnd(present) == end
    #expect(isEnd)
    let last = try #require(network.alice.checkTimes.last)
    let sinceLast = end - last
    #expect(sinceLast > .microseconds(82_500))
    #expect(sinceLast.nanoseconds % 265_625_000 > 20_000_000)
    network.alice.agent.addRemoteCandidate(preferred, at: network.now)
    network.drain(network.alice)
    network.run(until: end + .seconds(2))
    #expect(try checksOfPreferred(network).first == end)
  }

  @Test func `a pair that never answered is checked at the weak interval until one is selected`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.exchangeCredentials()
    network.alice.agent.addRemoteCandidate(.host(endpoint("192.0.2.9:9009")), at: network.now)
    network.drain(network.alice)
    network.run(until: at(3))
    let times = network.alice.checkTimes
    #expect(times.count == 49)
    #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 == .microseconds(62_500) })
  }

  @Test func `once a pair is selected all pairs share the strong pace, and the selected one comes first`() throws {
    var settings = ICESettings()
    settings.prunesPairs = false
    let network = try connected(settings: settings)
    let dead = endpoint("192.0.2.9:9009")
    network.run(until: at(20))
    network.alice.agent.addRemoteCandidate(.host(dead), at: network.now)
    network.drain(network.alice)
    network.run(until: at(32))
    let id = try #require(network.alice.pairs.first { $0.remoteEndpoint == dead }).id
    let toDead = network.alice.diary.filter { if case .checkSent(id, _) = $0.event { true } else { false } }.map(\.at)
    let weak = Interval.microseconds(62_500)
    #expect(zip(toDead.dropFirst(), toDead).prefix(2).allSatisfy { $0 - $1 == weak })
    let all = network.alice.checkTimes.filter { $0 > toDead[2] }
    #expect(zip(all.dropFirst(), all).allSatisfy { $0 - $1 == .microseconds(531_250) })
    // Of five checks four try the pair that does not work, and one keeps the other alive.
    #expect(toDead.filter { $0 > toDead[2] }.count * 5 >= all.count * 4 - 5)
    #expect(network.alice.state == .completed && network.alice.selected?.remoteEndpoint != dead)
  }

  @Test func `no pair is checked again before all others had their turn`() throws {
    let network = TestNetwork()
    for host in 1...5 { try network.addHost(network.alice, "192.0.2.\(host):5000") }
    try network.exchangeCredentials()
    for host in 1...5 {
      network.alice.agent.addRemoteCandidate(.host(endpoint("198.51.100.\(host):9009")), at: network.now)
    }
    network.drain(network.alice)
    network.run(until: at(12))
    let first = try #require(network.alice.pairs.first)
    let times = network.alice.diary.compactMap { entry in
      if case .checkSent(first.id, _) = entry.event { entry.at } else { nil }
    }
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    // 25 pairs, one each sixteenth of a second.
    #expect(gaps.dropFirst(2).allSatisfy { $0 >= .microseconds(25 * 62_500) })
  }

  @Test func `checks never come closer together than the pacing`() throws {
    let network = TestNetwork()
    for host in 1...5 { try network.addHost(network.alice, "192.0.2.\(host):5000") }
    try network.addHost(network.bob, "192.0.2.100:6000")
    try network.signalAll()
    network.run(until: at(5))
    network.isBlocked = { _, _ in true }
    network.run(until: at(15))
    let times = network.alice.checkTimes
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.allSatisfy { $0 >= .microseconds(62_500) })
  }

  @Test func `a pair that stops receiving is checked at the weak interval`() throws {
    let network = try connected()
    network.run(until: at(20))
    network.isBlocked = { _, _ in true }
    network.run(until: at(26))
    let times = network.alice.checkTimes.filter { $0 > at(23) && $0 < at(25) }
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.count > 29 && gaps.allSatisfy { $0 == .microseconds(62_500) })
  }

  @Test func `a quiet call wakes no more than needed`() throws {
    let network = try connected()
    network.run(until: at(20))
    let before = network.alice.advances
    network.run(until: at(80))
    #expect(network.alice.advances - before < 80)
  }

  @Test func `an indication keeps an idle path open and media makes it needless`() throws {
    var settings = ICESettings()
    settings.stablePingInterval = .minutes(60)
    settings.stabilizingPingInterval = .minutes(60)
    settings.receivingTimeout = .minutes(60)
    settings.consentInterval = .minutes(60)
    settings.consentTimeout = .minutes(60)
    settings.deadTimeout = .minutes(60)
    let network = try connected(settings: settings)
    network.run(until: at(10))
    var indications: [Instant] = []
    network.tap = { [unowned network] bytes, from, _ in
      if from.port == 5000, bytes[0] == 0, bytes[1] == 0x11 { indications.append(network.now) }
      return bytes
    }
    network.run(until: at(61))
    #expect(indications.count == 4)
    #expect(zip(indications.dropFirst(), indications).allSatisfy { $0 - $1 == .seconds(15) })
    indications = []
    for second in 62...120 {
      network.run(until: at(Double(second)))
      network.alice.agent.markSent(at: network.now)
    }
    #expect(indications.isEmpty)
    #expect(network.bob.counters.malformed == 0)
  }
}
