import CallCore
import ICE
import SDP
import StackWorlds
import TURN
import Testing

@testable import PeerSession

/// From which sockets an ICE restart gathers, and what becomes of the old ones.
@Suite struct RestartSocketsTests {
  private func call(adjust: (inout SessionConfiguration) -> Void = { _ in }) throws -> SessionPair {
    let pair = SessionPair(adjust: adjust)
    pair.startServer()
    try connect(pair)
    return pair
  }

  /// Offer and answer, then candidates as the TURN server yields them.
  private func connect(_ pair: SessionPair, restarting: Bool = false) throws {
    if restarting { pair.a.session.restartICE() }
    try pair.negotiate()
    for _ in 0..<5 {
      pair.run(for: .milliseconds(200))
      try pair.exchangeCandidates()
    }
    pair.run(for: .seconds(2))
  }

  private func ports(_ side: SessionPair.Side) -> Set<UInt16> {
    Set(side.session.ice.localCandidates.filter { $0.type == .host }.map(\.port))
  }

  private func errors(_ side: SessionPair.Side) -> [Int] {
    side.events.compactMap { if case .iceServerError(_, _, let code, _) = $0 { code } else { nil } }
  }

  @Test(arguments: ICERestartSockets.allCases)
  func `a restart moves the call to new sockets, or stays on the same`(sockets: ICERestartSockets) throws {
    let pair = try call { $0.restartSockets = sockets }
    #expect(ports(pair.a) == [5_000] && ports(pair.b) == [5_000])
    try connect(pair, restarting: true)
    let expected: Set<UInt16> = sockets == .new ? [5_001] : [5_000]
    #expect(ports(pair.a) == expected && ports(pair.b) == expected)
    let media = try #require(pair.sent.last { $0.isMedia })
    #expect(expected.contains(media.path.local.port) && expected.contains(media.path.remote.port))
    #expect(pair.a.session.connectionState == .connected && pair.a.furtherSockets.count == (sockets == .new ? 1 : 0))
  }

  @Test func `no restart leaves a socket of an earlier one open`() throws {
    let pair = try call()
    for _ in 0..<5 {
      try connect(pair, restarting: true)
      pair.run(for: .seconds(40))
    }
    #expect(pair.a.session.connectionState == .connected && pair.a.furtherSockets.count == 1)
    #expect(pair.b.session.connectionState == .connected && pair.b.furtherSockets.count == 1)
    #expect(pair.a.session.gatherings.count == 1 && pair.hotWakes == 0)
  }

  @Test func `media goes on through the old relay until the new one works, and then the old one is given back`() throws
  {
    let pair = try call {
      $0.iceServers = [SessionPair.turn]
      $0.iceTransportPolicy = .relay
    }
    #expect(pair.allocationCount == 2)
    let before = pair.b.mediaReceived
    try connect(pair, restarting: true)
    #expect(pair.allocationCount == 4)
    #expect(pair.b.mediaReceived - before > 140)
    pair.run(for: .seconds(60))
    #expect(pair.allocationCount == 2 && pair.a.session.connectionState == .connected)
    #expect(errors(pair.a).isEmpty && errors(pair.b).isEmpty)
  }

  @Test func `a quota counts the old relay and the new one`() throws {
    let pair = SessionPair {
      $0.iceServers = [SessionPair.turn]
      $0.iceTransportPolicy = .relay
    }
    // Both sides are the user alice.
    pair.startServer { $0.userQuota = 2 }
    try connect(pair)
    #expect(pair.a.session.connectionState == .connected)
    try connect(pair, restarting: true)
    #expect(errors(pair.a).contains(486) && pair.allocationCount == 2)
  }

  @Test func `a restart that is rolled back gives up its sockets and its relay`() throws {
    let pair = try call { $0.iceServers = [SessionPair.turn] }
    pair.a.session.restartICE()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .milliseconds(500))
    #expect(pair.allocationCount == 3 && pair.a.furtherSockets.count == 1)
    try pair.a.session.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""), at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(5))
    #expect(pair.allocationCount == 2 && pair.a.furtherSockets.isEmpty)
    #expect(pair.a.session.connectionState == .connected)
    try connect(pair, restarting: true)
    #expect(ports(pair.a) == [5_002] && pair.a.session.connectionState == .connected)
  }

  @Test func `an interface that comes later goes after those that are told`() throws {
    let pair = try call {
      $0.gathering = .continually
      $0.iceServers = [SessionPair.turn]
    }
    for address in ["192.0.2.7", "192.0.2.8"] {
      pair.a.bringUp(address, at: pair.now)
      pair.drain(pair.a)
      pair.run(for: .seconds(1))
    }
    let priorities = pair.a.session.ice.localCandidates.map(\.priority)
    #expect(priorities.count >= 6 && Set(priorities).count == priorities.count)
    let hosts = pair.a.session.ice.localCandidates.filter { $0.type == .host }
    #expect(
      hosts.sorted { $0.priority > $1.priority }.compactMap(\.endpoint).map { "\($0.address)" } == [
        "192.0.2.1", "192.0.2.7", "192.0.2.8",
      ])
  }

  @Test func `an interface that no other socket can be opened on is gathered on by its old one`() throws {
    let pair = try call()
    pair.a.nextSocket = { _ in nil }
    try connect(pair, restarting: true)
    #expect(ports(pair.a) == [5_000] && ports(pair.b) == [5_001])
    #expect(pair.a.session.connectionState == .connected)
    pair.run(for: .seconds(60))
    #expect(pair.a.session.connectionState == .connected && pair.a.session.ice.pairs.contains { $0.base.port == 5_000 })
  }

  @Test func `an interface that goes while its new socket is awaited is not waited for`() throws {
    let pair = try call()
    pair.a.session.restartICE()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    pair.a.move(to: "192.0.2.9", at: pair.now)
    pair.drain(pair.a)
    let told = pair.a.candidates.compactMap(\.text).compactMap { ICECandidate($0) }
    #expect(told.map(\.endpoint) == [pair.a.interface.socket])
    #expect(pair.a.session.iceGatheringState == .complete)
  }

  @Test func `a name stands for an address, whatever socket of it is told`() throws {
    let name = "5df3f44b-8737-4fa0-a707-d72a4532e84b.local"
    let pair = SessionPair()
    pair.a.obfuscate(as: name)
    try pair.negotiate()
    pair.a.session.restartICE()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    pair.drain(pair.a)
    let told = try #require(pair.a.candidates.compactMap(\.text).last)
    #expect(told.contains(" \(name) 5001 ") && !told.contains("192.0.2.1"))
  }

  // MARK: Interfaces that come up before the call

  @Test func `an interface that comes up before a pair works is gathered on at once, and told while gathering`() throws
  {
    let silent = ICEServer(kind: .stun, endpoint: Endpoint(IPAddress("203.0.113.77")!, port: 3_478))
    let pair = SessionPair { $0.iceServers = [silent] }
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: .zero)
    pair.drain(pair.a)
    pair.run(for: .seconds(1), talking: false)
    pair.a.bringUp("198.51.100.44", at: pair.now)
    pair.drain(pair.a)
    let told = pair.a.candidates.compactMap(\.text).compactMap { ICECandidate($0) }
    #expect(told.contains { $0.endpoint?.address == IPAddress("198.51.100.44")! })
    pair.run(for: .seconds(60), talking: false)
    #expect(pair.a.session.iceGatheringState == .complete && pair.a.candidates.count { $0.text == nil } == 1)
  }

  @Test func `after the end of candidates such an interface is shown by its checks`() throws {
    let pair = SessionPair()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: .zero)
    pair.drain(pair.a)
    pair.a.candidates = []
    pair.a.bringUp("198.51.100.44", at: pair.now)
    pair.drain(pair.a)
    #expect(pair.a.candidates.isEmpty && pair.a.session.iceGatheringState == .complete)
    #expect(pair.a.session.ice.localCandidates.contains { $0.endpoint?.address == IPAddress("198.51.100.44")! })
  }

  // MARK: Priorities

  @Test func `no two candidates have one priority, and the server named first goes first`() throws {
    let second = Endpoint(IPAddress("203.0.113.1")!, port: 3_479)
    let pair = SessionPair {
      $0.iceServers = [
        ICEServer(kind: .stun, endpoint: SessionPair.turnServer), SessionPair.turn,
        ICEServer(kind: .turn, endpoint: second, username: "alice", credential: "secret"),
      ]
    }
    var gatherer = CandidateGatherer(configuration: pair.a.session.configuration, random: RandomSource(seed: 1))
    gatherer.gather(
      [Endpoint(IPAddress("192.0.2.1")!, port: 1), Endpoint(IPAddress("192.0.2.7")!, port: 2)], at: .zero)
    let preferences = gatherer.relays.map { ($0.base.port, $0.server.endpoint.port, $0.rank.relayPreference(0)) }
    #expect(preferences.map(\.2) == preferences.map(\.2).sorted(by: >))
    #expect(preferences.map(\.0) == [1, 1, 2, 2] && preferences.map(\.1) == [3_478, 3_479, 3_478, 3_479])
    var all: [UInt16] = []
    for relay in gatherer.relays { all += [relay.rank.relayPreference(0), relay.rank.relayPreference(1)] }
    #expect(Set(all).count == 8 && all.first == .max)
    #expect(Set(gatherer.relays.map(\.rank.reflexivePreference)).count == 4)
  }

  @Test func `an error names the server by its URI`() throws {
    let pair = SessionPair {
      $0.iceServers = [ICEServer(kind: .turn, endpoint: SessionPair.turnServer, username: "alice", credential: "wrong")]
    }
    pair.startServer()
    try connect(pair)
    let urls = pair.a.events.compactMap { if case .iceServerError(_, let url, 401, _) = $0 { url } else { nil } }
    #expect(urls == ["turn:203.0.113.1:3478"])
  }
}
