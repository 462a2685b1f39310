import CallCore
import PeerSession
import SDP
import StackWorlds
import Statistics
import Testing

@Suite struct RestartTests {
  private func ufrag(_ sdp: String) -> String? {
    sdp.split(separator: "\r\n").first { $0.hasPrefix("a=ice-ufrag:") }.map(String.init)
  }

  @Test func `every restart brings new credentials, also right after another and without end of candidates`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    var seen: Set<String> = []
    for round in 0..<4 {
      let (first, second) = round % 2 == 0 ? (pair.a, pair.b) : (pair.b, pair.a)
      try pair.restart(from: first, to: second)
      pair.run(for: .milliseconds(round < 2 ? 30 : 1_000))
      let offer = try first.session.createOffer()
      seen.insert(try #require(ufrag(offer.sdp)))
      #expect(first.session.connectionState == .connected)
    }
    #expect(seen.count == 4)
    #expect(pair.hotWakes == 0)
  }

  @Test func `a restart that is rolled back leaves the call as it was and the next offer restarts`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let before = try pair.a.session.createOffer()
    pair.a.session.restartICE()
    let abandoned = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(abandoned, at: pair.now)
    try pair.a.session.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""), at: pair.now)
    pair.run(for: .seconds(6))
    #expect(pair.a.session.connectionState == .connected)
    let next = try pair.a.session.createOffer()
    #expect(Set([before, abandoned, next].compactMap { ufrag($0.sdp) }).count == 3)
  }

  @Test func `a restart that was never offered does not spoil the answer to the peer's offer`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let before = ufrag(try pair.a.session.createOffer().sdp)
    pair.a.session.restartICE()
    _ = try pair.a.session.createOffer()
    try pair.negotiate(from: pair.b, to: pair.a)
    #expect(ufrag(pair.a.session.localDescription?.sdp ?? "") == before)
    let next = ufrag(try pair.a.session.createOffer().sdp)
    #expect(next != before && next != nil)
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .connected)
  }

  @Test func `an offer of a restart that is never set restarts nothing`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let described = pair.a.session.localDescription
    let before = try #require(described)
    pair.a.events = []
    pair.a.observations = []
    pair.a.session.restartICE()
    let offer = try pair.a.session.createOffer()
    #expect(ufrag(offer.sdp) != ufrag(before.sdp) && !offer.sdp.contains("a=candidate:"))
    // The same until it is set: a later call is no other restart.
    let again = try pair.a.session.createOffer()
    #expect(ufrag(again.sdp) == ufrag(offer.sdp))
    pair.drain(pair.a)
    pair.run(for: .seconds(10))
    let kept = pair.a.session.localDescription
    #expect(kept == before)
    let isToldOfRestart = pair.a.observations.contains { if case .iceRestart = $0 { true } else { false } }
    #expect(!isToldOfRestart)
    try pair.a.session.setLocalDescription(again, at: pair.now)
    pair.drain(pair.a)
    let restarts = pair.a.observations.count { if case .iceRestart(byPeer: false) = $0 { true } else { false } }
    #expect(restarts == 1)
    try pair.answer(again, of: pair.a, by: pair.b)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(2))
    #expect(ufrag(pair.a.session.localDescription?.sdp ?? "") == ufrag(offer.sdp))
    #expect(pair.a.connectionStates.isEmpty)
  }

  @Test func `a restart wished for outlives the peer's, offered and taken back`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let before = ufrag(try pair.a.session.createOffer().sdp)
    pair.b.session.restartICE()
    let offer = try pair.b.session.createOffer()
    try pair.b.session.setLocalDescription(offer, at: pair.now)
    pair.a.session.restartICE()
    try pair.a.session.setRemoteDescription(offer, at: pair.now)
    try pair.a.session.setRemoteDescription(SessionDescriptionText(.rollback, sdp: ""), at: pair.now)
    try pair.b.session.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""), at: pair.now)
    #expect(ufrag(try pair.a.session.createOffer().sdp) != before)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
  }

  @Test func `the pair that carries media through a restart is in the statistics`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    pair.a.session.restartICE()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    pair.run(for: .seconds(1))
    let statistics = pair.a.session.statistics(at: pair.now)
    let transport = try #require(statistics.entries.first { $0.type == "transport" })
    let selected = try #require(statistics.entries.first { .text($0.id) == transport["selectedCandidatePairId"] })
    #expect(selected["packetsSent"] != .integer(0) && selected["state"] == .text("succeeded"))
    for member in ["localCandidateId", "remoteCandidateId"] {
      #expect(statistics.entries.contains { .text($0.id) == selected[member] })
    }
    #expect(Set(statistics.entries.map(\.id)).count == statistics.entries.count)
  }

  @Test func `restarts from both sides at once end with one of them`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    for side in [pair.a, pair.b] {
      side.session.restartICE()
      try side.session.setLocalDescription(try side.session.createOffer(), at: pair.now)
    }
    try pair.b.session.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""), at: pair.now)
    try pair.a.session.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""), at: pair.now)
    try pair.restart(from: pair.a, to: pair.b)
    pair.run(for: .seconds(8))
    for side in [pair.a, pair.b] {
      #expect(side.session.connectionState == .connected)
      #expect(side.session.signalingState == .stable)
    }
  }

  @Test func `a handoff with a restart carries media from the new address within a second`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    pair.a.move(to: "198.51.100.9", at: pair.now)
    pair.drain(pair.a)
    let before = pair.sent.count
    pair.run(for: .milliseconds(100))
    #expect(!pair.sent[before...].contains { $0.fromA })
    try pair.restart(from: pair.a, to: pair.b)
    let received = pair.b.mediaReceived
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaReceived - received > 25)
    #expect(pair.a.session.connectionState == .connected)
    let local = pair.a.events.compactMap {
      if case .selectedCandidatePairChange(let local, _) = $0 { local.networkType } else { nil }
    }
    #expect(local.last == "cellular")
  }
}
