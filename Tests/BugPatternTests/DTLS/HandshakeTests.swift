import CallCore
import DTLS
import PeerSession
import StackWorlds
import Testing

/// Patterns 27 to 31: handshakes over paths that lose, and peers that are early.
@Suite struct HandshakePatternTests {
  @Test func `27 - a lost hello costs one short timer`() throws {
    try proves(.handshakeTimerIgnoresRoundTrip, by: "regressions/27-dtls-first-timer")
  }

  @Test func `27 - three flights lost in a row are repeated in their turn`() throws {
    try proves(.flightRepeatedOnce, by: "dtls/repeated-loss")
  }

  @Test func `28 - a server repeats its last flight when the client repeats its own`() throws {
    try proves(.lastFlightNotRepeated, by: "regressions/28-last-flight-lost")
  }

  @Test func `29 - a hello in two datagrams that comes early is kept whole`() throws {
    try proves(.earlyFragmentDropped) { claims in
      let call = DTLSPair()
      var hellos: [Int] = []
      // The client's hello is as long as with a post-quantum key share: it leaves in two fragments.
      call.fate = { [unowned call] _, datagram in
        guard datagram.from == .client else { return .deliver }
        if let fragments = Self.fragments(of: datagram.bytes) {
          hellos = fragments.map(\.count)
          for fragment in fragments { call.inject(fragment, from: .client) }
        } else {
          call.inject(Self.renumbered(datagram.bytes), from: .client)
        }
        return .lose
      }
      call.server.bind(to: DTLSPair.clientPath.reversed, at: call.now)
      try call.startClient()
      call.run(until: .zero + .milliseconds(200))
      claims("the hello is in two datagrams", hellos.count == 2)
      // The answer comes: the server learns who the client is.
      try call.startServer()
      call.run(until: .zero + .milliseconds(900))
      claims("the handshake is done before any timer", call.bothConnected)
      claims("with equal keys", call.keysAgree)
    }
  }

  /// A ClientHello in two fragments, each in a datagram (RFC 6347 section 4.2.3); nil for another datagram.
  private static func fragments(of datagram: [UInt8]) -> [[UInt8]]? {
    guard datagram.count > 25, datagram[0] == 22, datagram[3...4] == [0, 0], datagram[13] == 1 else { return nil }
    let body = datagram[25...]
    let half = body.count / 2
    return [body.prefix(half), body.dropFirst(half)].enumerated().map { index, part in
      let (offset, length) = (index * half, part.count + 12)
      var record = Array(datagram[..<10]) + [UInt8(index), UInt8(length >> 8), UInt8(length & 0xFF)]
      record += datagram[13..<19] + [0, UInt8(offset >> 8), UInt8(offset & 0xFF)]
      return record + [0, UInt8(part.count >> 8), UInt8(part.count & 0xFF)] + part
    }
  }

  /// The datagram with every record of epoch 0, which nothing authenticates, one number later: the second fragment has
  /// taken one.
  private static func renumbered(_ datagram: [UInt8]) -> [UInt8] {
    var (bytes, offset) = (datagram, 0)
    while offset + 13 <= bytes.count {
      if bytes[offset + 3...offset + 4] == [0, 0] { bytes[offset + 10] += 1 }
      offset += 13 + Int(bytes[offset + 11]) << 8 + Int(bytes[offset + 12])
    }
    return bytes
  }

  @Test func `30 - each side acts the role that it advertised`() throws {
    try proves(.advertisedRoleNotActed, by: "regressions/30-setup-role")
  }

  @Test func `30 - a renegotiation from the other side does not turn the roles round`() throws {
    try proves(.roleForgottenInRenegotiation) { claims in
      let pair = SessionPair()
      try pair.negotiate()
      pair.run(for: .seconds(1))
      // Bob is the DTLS client, for Alice offered. Now he offers.
      let offer = try pair.b.session.createOffer()
      try pair.b.session.setLocalDescription(offer, at: pair.now)
      try pair.a.session.setRemoteDescription(offer, at: pair.now)
      let answer = try pair.a.session.createAnswer()
      try pair.a.session.setLocalDescription(answer, at: pair.now)
      claims("Alice stays the server", answer.sdp.contains("a=setup:passive"))
      try pair.b.session.setRemoteDescription(answer, at: pair.now)
      let received = pair.b.mediaReceived
      pair.run(for: .seconds(1))
      claims("media goes on", pair.b.mediaReceived - received > 40)
    }
  }

  @Test func `31 - a hello before the answer is kept and answered with it`() throws {
    try proves(.earlyHelloDropped) { claims in
      let call = DTLSPair()
      call.server.bind(to: DTLSPair.clientPath.reversed, at: call.now)
      try call.startClient()
      call.run(until: .zero + .milliseconds(200))
      try call.startServer()
      call.run(until: .zero + .milliseconds(900))
      claims("the handshake is done before the client asks again", call.bothConnected)
      claims("with equal keys", call.keysAgree)
    }
  }

  @Test func `43 - a handshake fits the path`() throws {
    try proves(.handshakeIgnoresPathMTU, by: "dtls/broken-path-mtu")
  }
}
