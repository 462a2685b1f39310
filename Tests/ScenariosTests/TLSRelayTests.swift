import CallCore
import Profiles
import SimNet
import Testing

@testable import ScenarioJudge
@testable import ScenarioRun

/// Calls through a relay that is reached by TLS, in whole runs.
@Suite struct TLSRelayTests {
  /// What the trace says under some names, with the values of their fields.
  private static func call(relay: String, timeline: String = "", expect: String) -> String {
    """
    callsim: 1
    id: test
    topology: { servers: { relay: { kind: turn, \(relay) } } }
    peers:
      alice: { profile: knotos, network: office/udp-blocked }
      bob: { profile: knotos, network: home }
    timeline:
      - { at: 1s, do: alice.call, to: bob }
      - { id: accept, when: bob.call.state == ringing, after: 1s, do: bob.accept }
    \(timeline)
    expect:
    \(expect)
    """
  }

  private static let connects = "  - { eventually: alice.call.state == connected, within: 6s, of: accept, hold: 2s }"
  private static let fails = "  - { eventually: alice.call.state == ended, within: 40s, of: accept }"

  @Test(arguments: [
    ("expired", "the certificate has expired"), ("not-yet-valid", "the certificate is not valid yet"),
    ("wrong-name", "the certificate is for another name"), ("unknown-issuer", "the certificate's issuer is unknown"),
  ])
  func `a certificate that is not believed is a 701 with the reason, told to the server too`(
    certificate: String, reason: String
  ) throws {
    let lines = TraceLines(["ice.server-error", "tls.failed"])
    var outputs = RunOutputs()
    outputs.observers = [lines]
    let result = try play(
      Self.call(relay: "transports: [tls], tls: { port: 443, certificate: \(certificate) }", expect: Self.fails),
      outputs: outputs)
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(
      lines.lines.contains { $0.hasPrefix("alice tls.failed") && $0.hasSuffix("TLS: \(reason)") }, "\(lines.lines)")
    #expect(
      lines.lines.contains {
        $0.hasPrefix("alice ice.server-error") && $0.contains(" 701 ") && $0.contains("TLS: \(reason)")
          && $0.hasSuffix("turns:relay.test:443?transport=tcp")
      }, "\(lines.lines)")
    #expect(
      lines.lines.contains { $0.hasPrefix("relay tls.failed") && $0.contains("alert received") }, "\(lines.lines)")
  }

  /// The relay is asked again in an ICE restart, over a new connection.
  @Test func `a certificate that was good is not good any more once the clock has jumped past its end`() throws {
    let text = Self.call(
      relay: "transports: [tls], tls: { port: 443 }",
      timeline: """
          - { id: jump, after: 3s, of: accept, fault: clock.jump, peer: alice, by: 8000h }
          - { id: restart, after: 3s, of: jump, do: alice.ice-restart }
          - { id: bye, after: 8s, of: restart, do: alice.hangup }
        """,
      expect: """
          - { eventually: alice.call.state == connected, within: 2s, of: accept }
          - { count: alice.ice.server-error, between: [start, restart], eq: 0 }
          - { count: alice.ice.server-error, between: [restart, bye], gte: 1 }
        """)
    let lines = TraceLines(["tls.failed"])
    var outputs = RunOutputs()
    outputs.observers = [lines]
    let result = try play(text, outputs: outputs)
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(
      lines.lines.contains { $0.hasPrefix("alice") && $0.hasSuffix("TLS: the certificate has expired") },
      "\(lines.lines)")
  }

  @Test func `a peer whose clock is months ahead finds the certificate expired`() throws {
    let text = Self.call(relay: "transports: [tls], tls: { port: 443 }", expect: Self.fails)
      .replacing("office/udp-blocked }", with: "office/udp-blocked, clock: { skew: 8000h } }")
    #expect(try play(text).verdict == .pass)
    #expect(
      try play(text.replacing("8000h", with: "1000h").replacing(Self.fails, with: Self.connects)).verdict == .pass
    )
  }

  /// The network sees records: it cannot take RTP out of them.
  @Test(arguments: ["rtp", "stun", "dtls"])
  func `a fault that is aimed at what TLS carries meets nothing, and says so`(content: String) throws {
    let fault = "  - { at: 0s, fault: packet.drop, protocol: \(content), from: alice }"
    // Without the policy there are checks and questions in clear as well.
    let text = Self.call(relay: "transports: [tls], tls: { port: 443 }", timeline: fault, expect: Self.connects)
    let result = try play(text.replacing("udp-blocked }", with: "udp-blocked, ice: { policy: relay } }"))
    #expect(result.findings.contains { "\($0)".contains("no packet was like this") }, "\(result.findings)")
  }

  @Test func `a certificate that a swallowed ClientHello never asked for was shown to nobody`() throws {
    let swallow = ["alice", "bob"].map { "  - { at: 0s, fault: packet.drop, protocol: tls, from: \($0) }\n" }.joined()
    let change = "  - { at: 0s, fault: turn.certificate, server: relay, certificate: expired }"
    let result = try play(
      Self.call(relay: "transports: [tls], tls: { port: 443 }", timeline: swallow + change, expect: Self.fails))
    #expect(result.verdict == .vacuous)
    #expect(result.findings.contains { "\($0)".contains("nobody was shown it") }, "\(result.findings)")
  }

  @Test(arguments: ["alice", "relay"])
  func `TLS that is swallowed one way is as good as no relay`(sender: String) throws {
    let end = sender == "alice" ? "from: alice" : "to: alice"
    let fault = "  - { at: 0s, fault: packet.drop, protocol: tls, \(end) }"
    let result = try play(
      Self.call(relay: "transports: [tls], tls: { port: 443 }", timeline: fault, expect: Self.fails))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  /// A ClientHello that is swallowed leaves the handshake open until the reset.
  @Test(arguments: [true, false])
  func `a connection that is reset is lost, in TLS's handshake and after it`(isSwallowed: Bool) throws {
    let lines = TraceLines(["ice.server-error"])
    var outputs = RunOutputs()
    outputs.observers = [lines]
    let swallow = "  - { at: 0s, fault: packet.drop, protocol: tls, from: alice }\n"
    let reset = "  - { at: 1500ms, fault: turn.disconnect, server: relay }"
    _ = try play(
      Self.call(
        relay: "transports: [tls], tls: { port: 443 }", timeline: (isSwallowed ? swallow : "") + reset,
        expect: Self.fails),
      outputs: outputs)
    let reason = "701 the connection to the server was lost"
    let cut = ": TLS: the connection ended in the handshake"
    #expect(
      lines.lines.contains { $0.hasPrefix("alice") && $0.contains("\(reason)\(isSwallowed ? cut : "") turns:") },
      "\(lines.lines)")
  }

  @Test func `one seed gives one trace, and the keys to it`() throws {
    func run(_ seed: UInt64) throws -> (UInt64, [String]) {
      var outputs = RunOutputs()
      let log = KeyLog()
      outputs.keyLog = { log.lines.append($0) }
      let result = try play(
        Self.call(relay: "transports: [tls], tls: { port: 443 }", expect: Self.connects), seed: seed, outputs: outputs)
      return (result.traceHash, log.lines)
    }
    let (first, again, other) = (try run(1), try run(1), try run(2))
    #expect(first == again && first.0 != other.0 && first.1 != other.1)
    #expect(first.1.contains { $0.hasPrefix("SERVER_TRAFFIC_SECRET_0 ") })
  }

  private final class KeyLog { var lines: [String] = [] }
}
