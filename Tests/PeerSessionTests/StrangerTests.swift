import CallCore
import Codecs
import DTLS
import ICE
import STUN
import StackWorlds
import Statistics
import Testing

@testable import PeerSession

/// Datagrams of somebody who is not the other side, at a session in a call.
@Suite struct StrangerTests {
  @Test func `of candidates without end only some are looked at, and the call goes on`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    pair.b.observations = []
    // More than an agent keeps, of those more than a description may bring.
    for number in 0..<1_000 {
      let address = "198.51.\(number / 250).\(number % 250)"
      let candidate = "candidate:1 1 udp 2130706431 \(address) 5000 typ host"
      try pair.b.session.addICECandidate(candidate, mid: "0", mLineIndex: 0, at: pair.now)
    }
    pair.drain(pair.b)
    let refusals = pair.b.observations.count {
      if case .remoteCandidateRefused(_, .tooMany) = $0 { true } else { false }
    }
    // Of 500, of which the peer's own and the end of them were two, 400 are kept, and of the rest one is told.
    #expect(refusals == 100)
    // Past the limit not even the text is read.
    try pair.b.session.addICECandidate("no candidate at all", mid: "0", mLineIndex: 0, at: pair.now)
    pair.run(for: .seconds(5))
    #expect(pair.b.session.connectionState == .connected)
    // A new description may bring as many again.
    try pair.negotiate()
    pair.b.observations = []
    try pair.b.session.addICECandidate(
      "candidate:1 1 udp 2130706431 192.168.1.1 53 typ host", mid: "0", mLineIndex: 0, at: pair.now)
    pair.drain(pair.b)
    let isTold = pair.b.observations.contains {
      if case .remoteCandidateRefused(_, .reservedPort) = $0 { true } else { false }
    }
    #expect(isTold)
  }

  private static let stranger = Endpoint("198.51.100.66:6666")!

  private func inject(_ bytes: [UInt8], from remote: Endpoint, to side: SessionPair.Side, _ pair: SessionPair) {
    let path = Path(local: side.interface.socket, remote: remote)
    side.session.receive(bytes.span.bytes, on: path, at: pair.now)
    pair.drain(side)
  }

  /// That the call goes on as if nothing had been: media both ways, no state touched, nothing in clear.
  private func expectUndisturbed(_ pair: SessionPair, sourceLocation: SourceLocation = #_sourceLocation) {
    let before = (pair.a.mediaReceived, pair.b.mediaReceived)
    pair.run(for: .seconds(1))
    for side in [pair.a, pair.b] {
      #expect(side.connectionStates == [.connecting, .connected], sourceLocation: sourceLocation)
    }
    #expect(pair.a.mediaReceived - before.0 >= 48, sourceLocation: sourceLocation)
    #expect(pair.b.mediaReceived - before.1 >= 48, sourceLocation: sourceLocation)
    #expect(pair.leaks == [], sourceLocation: sourceLocation)
  }

  private func rtp(sequence: UInt16, ssrc: UInt32) -> [UInt8] {
    var bytes: [UInt8] = [0x80, 111]
    bytes.append(bigEndian: sequence)
    bytes.append(bigEndian: UInt32(sequence) * 960)
    bytes.append(bigEndian: ssrc)
    return bytes + [UInt8](repeating: 0x55, count: 60)
  }

  @Test(arguments: [false, true]) func `media in clear is not played, whoever sends it`(fromPeersAddress: Bool) throws {
    let pair = try connected { $0.media = .real }
    let ssrc = try #require(
      pair.a.observations.lazy.compactMap { if case .mediaSent(let ssrc, _, _) = $0 { ssrc } else { nil } }.first)
    let remote = fromPeersAddress ? pair.a.interface.socket : Self.stranger
    pair.a.session.setAudioEnabled(false)
    pair.run(for: .seconds(1))
    pair.b.loudest = .silence
    let before = pair.b.mediaReceived
    for sequence in UInt16(0)..<200 { inject(rtp(sequence: sequence, ssrc: ssrc), from: remote, to: pair.b, pair) }
    for sequence in UInt16(0)..<200 { inject(rtp(sequence: sequence, ssrc: 4_711), from: remote, to: pair.b, pair) }
    #expect(pair.b.mediaReceived == before)
    // Numbers from before the replay window are not even tried.
    #expect(Set(pair.b.discarded).isSubset(of: ["srtp-authentication", "srtp-replay"]))
    pair.run(for: .seconds(1))
    #expect(pair.b.loudest < pair.a.loudest)
    #expect(pair.b.connectionStates == [.connecting, .connected] && pair.leaks == [])
  }

  @Test func `media of a stranger leaves no trace in the statistics`() throws {
    let pair = try connected()
    pair.run(for: .milliseconds(100), talking: false)
    func trace() -> [StatsReport.Entry] {
      pair.b.session.statistics(at: pair.now).entries.filter { ["inbound-rtp", "transport"].contains($0.type) }
    }
    let before = trace()
    for sequence in UInt16(0)..<500 { inject(rtp(sequence: sequence, ssrc: 9), from: Self.stranger, to: pair.b, pair) }
    #expect(trace().map { "\($0)" } == before.map { "\($0)" })
    expectUndisturbed(pair)
  }

  @Test func `a peer that sends from ever other addresses does not fill the memory`() throws {
    let pair = try connected()
    let media = pair.sent.count
    pair.drops = { !$0.fromA && $0.isMedia }
    pair.run(for: .seconds(1))
    pair.drops = { _ in false }
    let received = pair.a.mediaReceived
    var sources: [Endpoint] = []
    for datagram in pair.sent[media...] where !datagram.fromA && datagram.isMedia {
      sources.append(Endpoint(Self.stranger.address, port: 10_000 + UInt16(sources.count)))
      inject(datagram.bytes, from: sources[sources.count - 1], to: pair.a, pair)
    }
    #expect(pair.a.mediaReceived - received >= 45)
    let counted = sources.map {
      pair.a.session.traffic.counters(local: pair.a.interface.socket, remote: $0).packetsReceived
    }
    #expect(counted.allSatisfy { $0 == 0 })
  }

  @Test func `recorded packets are played once`() throws {
    let pair = try connected()
    let recorded = pair.sent.filter { $0.fromA && $0.isMedia }.map(\.bytes)
    #expect(recorded.count > 30)
    pair.run(for: .milliseconds(100), talking: false)
    let before = pair.b.mediaReceived
    for remote in [pair.a.interface.socket, Self.stranger] {
      for packet in recorded { inject(packet, from: remote, to: pair.b, pair) }
    }
    #expect(pair.b.mediaReceived == before)
    #expect(pair.b.discarded == ["srtp-replay"])
    expectUndisturbed(pair)
  }

  @Test func `one's own packets sent back are not one's peer's`() throws {
    let pair = try connected()
    let own = pair.sent.filter { !$0.fromA && $0.isMedia }.map(\.bytes)
    let before = pair.b.mediaReceived
    for packet in own { inject(packet, from: pair.a.interface.socket, to: pair.b, pair) }
    #expect(pair.b.mediaReceived == before)
    #expect(pair.b.discarded == ["srtp-authentication"])
    expectUndisturbed(pair)
  }

  @Test func `checks with wrong credentials move nothing and get no larger answer`() throws {
    let pair = try connected()
    let ufrags = (pair.b.session.ice.localCredentials.ufrag, pair.a.session.ice.localCredentials.ufrag)
    let pairs = pair.b.session.ice.pairs.count
    let sent = pair.sent.count
    var injected = 0
    for number in UInt64(0)..<60 {
      var check = STUNMessageBuilder(.request, .binding, STUNTransactionID(high: 9, low: number))
      check.append(.username, number % 2 == 0 ? "\(ufrags.0):\(ufrags.1)" : "who:what")
      check.append(.priority, .max)
      check.append(.iceControlling, .max)
      check.append(.useCandidate)
      check.appendIntegrity(key: .shortTerm(password: "guessed-it-was-not-so-hard"))
      check.appendFingerprint()
      injected += check.bytes.count
      inject(check.bytes, from: number % 3 == 0 ? pair.a.interface.socket : Self.stranger, to: pair.b, pair)
    }
    // Its own checks begin with 00 01.
    let answers = pair.sent[sent...].filter { !$0.fromA && $0.bytes.first != 0 }
    #expect(answers.reduce(0) { $0 + $1.bytes.count } <= injected)
    for answer in answers {
      let message = try STUNMessage(parsing: answer.bytes.span.bytes)
      #expect(message.messageClass == .errorResponse && message[.errorCode]?.code == 401)
    }
    #expect(pair.b.session.ice.pairs.count == pairs)
    #expect(pair.b.session.ice.selectedPair?.remoteEndpoint == pair.a.interface.socket)
    expectUndisturbed(pair)
  }

  @Test func `a handshake from elsewhere is nobody's`() throws {
    let pair = try connected()
    let dtls = pair.b.session.dtls.statistics.offPath
    for flight in try hello() { inject(flight, from: Self.stranger, to: pair.b, pair) }
    #expect(pair.b.session.dtls.statistics.offPath > dtls)
    expectUndisturbed(pair)
  }

  /// From the peer's own address, as somebody on the path can: the association that runs is not given up for it.
  @Test func `a second handshake from the peer's address does not replace the first`() throws {
    let pair = try connected()
    for _ in 0..<3 { for flight in try hello() { inject(flight, from: pair.a.interface.socket, to: pair.b, pair) } }
    for _ in 0..<3 { for flight in try hello() { inject(flight, from: pair.b.interface.socket, to: pair.a, pair) } }
    pair.run(for: .seconds(5))
    for side in [pair.a, pair.b] { #expect(side.session.dtlsState == .connected && side.failures == []) }
    expectUndisturbed(pair)
  }

  /// The first flights of a client with a certificate of its own.
  private func hello() throws -> [[UInt8]] {
    let random = RandomSource(seed: 666)
    let certificate = Certificate.generate(
      name: "mallory", entropy: .stream(random.stream("certificate")), wallClock: WallClock())
    var client = DTLSTransport(certificate: certificate, entropy: .stream(random.stream("dtls")))
    client.bind(to: Path(local: Self.stranger, remote: Endpoint("192.0.2.2:5000")!), at: .zero)
    try client.start(as: .client, remoteFingerprints: [certificate.fingerprint()], at: .zero)
    client.advance(to: .zero + .seconds(2))
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    var flights: [[UInt8]] = []
    while true {
      var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
      guard client.transmit(into: &output) != nil else { break }
      flights.append(output.span.bytes.copied)
    }
    #expect(flights.count >= 2)
    return flights
  }

  @Test func `a forged alert or close_notify in clear ends nothing`() throws {
    let pair = try connected()
    for alert: [UInt8] in [[2, 40], [1, 0], [2, 80], [1, 90]] {
      for epoch in UInt8(0)...1 {
        let record: [UInt8] = [21, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0xFF, 0xFF, 0, 2] + alert
        inject(record, from: pair.a.interface.socket, to: pair.b, pair)
      }
    }
    #expect(pair.b.session.dtlsState == .connected)
    expectUndisturbed(pair)
  }

  @Test func `RTCP in clear, a BYE among it, is not believed`() throws {
    let pair = try connected()
    let bye: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 1, 0x81, 203, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 40)
    // Neither what says of itself that it is not encrypted nor what says that it is has the tag.
    var claiming = bye
    claiming[bye.count - 14] = 0x80
    for bytes in [bye, claiming] {
      for remote in [pair.a.interface.socket, Self.stranger] { inject(bytes, from: remote, to: pair.b, pair) }
    }
    #expect(!pair.b.observations.contains { if case .remoteBye = $0 { true } else { false } })
    #expect(pair.b.discarded == ["srtp-authentication"])
    expectUndisturbed(pair)
  }
}
