import CallCore
import CallSession
import SDP
import StackWorlds
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
