import CallCore
import StackWorlds
import Testing

@testable import ICE
@testable import PeerSession

/// Sessions that do without DTLS, with others that do so too and with those that do not.
@Suite struct DTLSPolicyTests {
  private static func pair(_ a: DTLSPolicy, _ b: DTLSPolicy) -> SessionPair {
    var policies = [a, b]
    return SessionPair { $0.dtlsPolicy = policies.removeFirst() }
  }

  @Test func `two sessions without DTLS send each other media in cleartext`() throws {
    let pair = Self.pair(.off, .off)
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
    #expect(!pair.sent.contains { $0.isDTLS })
    #expect(pair.sent.contains { $0.fromA && $0.isMedia } && pair.sent.contains { !$0.fromA && $0.isMedia })
  }

  @Test(arguments: [true, false])
  func `a session without DTLS and one with it find a way, and send no media`(isFirst: Bool) throws {
    let pair = isFirst ? Self.pair(.off, .offered) : Self.pair(.offered, .off)
    try pair.negotiate()
    pair.run(for: .seconds(5))
    for side in [pair.a, pair.b] {
      #expect([.connected, .completed].contains(side.session.iceConnectionState))
      #expect(side.session.connectionState == .connecting)
    }
    #expect(!pair.sent.contains { $0.isMedia })
  }

  @Test func `a session that requires DTLS refuses a description without it`() throws {
    #expect(throws: SessionError.self) { try Self.pair(.off, .required).negotiate() }
    #expect(throws: SessionError.self) { try Self.pair(.required, .off).negotiate() }
  }

  @Test func `an offer without DTLS says so`() throws {
    let sdp = try Self.pair(.off, .off).a.session.createOffer().sdp
    #expect(sdp.contains("m=audio 9 RTP/AVPF "))
    #expect(!sdp.contains("a=fingerprint") && !sdp.contains("a=setup"))
  }
}
