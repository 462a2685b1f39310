import CallCore
import PeerSession
import StackWorlds
import Statistics
import Testing

@Suite struct CallTests {
  @Test(arguments: [false, true]) func `two sessions connect and hear each other`(ipv6: Bool) throws {
    let pair = SessionPair(ipv6: ipv6)
    try pair.negotiate()
    pair.run(for: .seconds(3))
    for side in [pair.a, pair.b] {
      #expect(side.connectionStates == [.connecting, .connected])
      #expect(side.mediaReceived > 100)
    }
  }

  @Test func `no payload crosses the wire in clear`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    var prefixes: Set<UInt64> = []
    for case .mediaSent(_, _, let prefix) in pair.a.observations { prefixes.insert(prefix) }
    #expect(!prefixes.isEmpty)
    let onWire = pair.sent.filter { $0.fromA && $0.isMedia }
    #expect(onWire.count >= prefixes.count)
    for packet in onWire {
      let prefix = packet.bytes.span.bytes.bigEndian(UInt64.self, at: 12)
      #expect(!prefixes.contains(prefix ?? 0))
    }
  }

  @Test func `equal seeds send equal bytes`() throws {
    func transcript() throws -> [[UInt8]] {
      let pair = SessionPair(seed: 42)
      try pair.negotiate()
      pair.run(for: .seconds(2))
      return pair.sent.map(\.bytes)
    }
    #expect(try transcript() == transcript())
  }

  @Test func `closing says goodbye and falls silent`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1), talking: false)
    let byes = pair.b.observations.count { if case .remoteBye = $0 { true } else { false } }
    #expect(byes == 1)
    #expect(pair.a.session.connectionState == .closed)
    #expect(pair.a.session.wake == .never)
    let sent = pair.sent.count { $0.fromA }
    pair.run(for: .seconds(5), talking: false)
    #expect(pair.sent.count { $0.fromA } == sent)
  }

  @Test func `statistics count what was sent and received`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(12))
    let report = pair.b.session.statistics(at: pair.now)
    let inbound = try #require(report.first("inbound-rtp", kind: "audio"))
    #expect(inbound["packetsReceived"] == .integer(Int64(pair.b.mediaReceived)))
    #expect(inbound["packetsLost"] == .integer(0))
    let remote = try #require(pair.a.session.statistics(at: pair.now).first("remote-inbound-rtp"))
    guard case .real(let roundTrip)? = remote["roundTripTime"] else {
      Issue.record("no round trip time")
      return
    }
    #expect(abs(roundTrip - 0.04) < 0.002)
  }

  @Test func `a wrong fingerprint ends in failure and no media flows`() throws {
    let pair = SessionPair()
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    var lines = answer.sdp.split(separator: "\r\n").map(String.init)
    for index in lines.indices where lines[index].hasPrefix("a=fingerprint:") {
      lines[index] = "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":")
    }
    let forged = SessionDescriptionText(.answer, sdp: lines.joined(separator: "\r\n") + "\r\n")
    try pair.a.session.setRemoteDescription(forged, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(3))
    #expect(pair.a.session.connectionState == .failed)
    let reasons = pair.a.events.compactMap { if case .dtlsFailed(let reason) = $0 { reason } else { nil } }
    #expect(reasons == ["fingerprint-mismatch"])
    #expect(pair.a.mediaSent == 0)
  }

  @Test func `garbage on the socket is counted and changes nothing`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    var random = RandomStream(seed: 9)
    let path = Path(local: pair.b.interface.socket, remote: pair.a.interface.socket)
    for _ in 0..<500 {
      let length = Int(random.uniform(below: 200))
      let garbage = random.bytes(length)
      pair.b.session.receive(garbage.span.bytes, on: path, at: pair.now)
    }
    pair.drain(pair.b)
    let received = pair.b.mediaReceived
    pair.run(for: .seconds(1))
    #expect(pair.b.session.connectionState == .connected)
    #expect(pair.b.mediaReceived > received + 40)
  }

  @Test(arguments: [true, false]) func `an ICE restart from either side keeps media flowing`(byOfferer: Bool) throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    let (first, second) = byOfferer ? (pair.a, pair.b) : (pair.b, pair.a)
    try pair.restart(from: first, to: second)
    let before = (pair.a.mediaReceived, pair.b.mediaReceived)
    pair.run(for: .seconds(2))
    for side in [pair.a, pair.b] {
      #expect(side.observations.contains { if case .iceRestart = $0 { true } else { false } })
      #expect(side.session.connectionState == .connected)
    }
    #expect(pair.a.mediaReceived - before.0 >= 95)
    #expect(pair.b.mediaReceived - before.1 >= 95)
  }

  @Test func `muting sends silence, not nothing`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    pair.a.session.setAudioEnabled(false)
    let before = pair.b.mediaReceived
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaReceived - before >= 45)
  }

  @Test func `DTLS that fails by itself ends media, and ICE goes on`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .connected)
    #expect(pair.a.session.failDTLS(at: pair.now) && !pair.a.session.failDTLS(at: pair.now))
    pair.drain(pair.a)
    let sent = pair.sent.count { $0.fromA && $0.isRTP }
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .failed)
    #expect(["connected", "completed"].contains("\(pair.a.session.iceConnectionState)"))
    #expect(pair.a.failures == ["internal-error"])
    #expect(pair.sent.count { $0.fromA && $0.isRTP } == sent)
  }
}
