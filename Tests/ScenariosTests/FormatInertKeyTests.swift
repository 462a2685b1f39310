import Testing

@testable import ScenarioFormat

/// Keys that are legal, and have nothing to work on where they stand.
@Suite struct `Keys without work` {
  private func load(alice: String = "", bob: String = "", rest: String = "", timeline: String = "") -> [Diagnostic] {
    FormatTest.load(alice: alice, bob: bob, timeline: timeline, rest: rest).diagnostics
  }

  @Test(arguments: [
    ("clock: { skew: 1h }", "", ""), ("dtls: { role: passive }", "", ""), ("dtls: { role: active }", "", ""),
    ("ice: { restart_sockets: same }", "", ""), ("audio: { dtx: true }", "audio: { dtx: false }", ""),
    ("video: { fec: ulpfec }", "video: {}", ""),
    ("", "", "limits: { lag: 1s }"), ("", "", "limits: { start: 1s }"), ("", "", "invariants: [+consent]"),
  ])
  func `a key that changes nothing says what it lacks`(alice: String, bob: String, rest: String) {
    let found = load(alice: alice, bob: bob, rest: rest)
    #expect(found.map(\.code) == [.ineffective], "\(found)")
    #expect(found.first?.message.contains(" changes nothing") == true, "\(found)")
  }

  @Test(arguments: [
    ("clock: { skew: 0s }", "", ""), ("dtls: { role: auto }", "", ""), ("ice: { restart_sockets: new }", "", ""),
    ("audio: { dtx: false }", "", ""), ("", "dtls: { role: passive }", ""),
    ("audio: { dtx: true }", "audio: { dtx: true }", ""), ("video: { fec: none }", "video: {}", ""),
    ("video: { fec: flexfec }", "video: { fec: flexfec }", ""),
    ("ice: { restart_sockets: same }", "settings: { ice-restart: true }", ""),
    ("clock: { skew: 1h }", "", "topology: { servers: { relay: { kind: turn, transports: [tls] } } }"),
    ("", "", "invariants: [+pre-accept-privacy]"),
  ])
  func `a key that has something to work on, or says what is so anyway, is no news`(
    alice: String, bob: String, rest: String
  ) {
    let found = load(alice: alice, bob: bob, rest: rest)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `a server that forwards grants what each side asks for, whatever the others do`() {
    let text = """
      callsim: 1
      id: t
      peers:
        alice: { profile: twilio, network: home, audio: { dtx: true, fec: true } }
        bob: { profile: twilio, network: home, audio: { dtx: false, fec: false } }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
        - { at: 0s, do: bob.connect, room: daily }
      """
    let report = Compared.load(text).report
    #expect(!report.diagnostics.contains { $0.code == .ineffective }, "\(report.rendered(as: .text(color: false)))")
  }

  private func credentials(
    _ keys: String = "", alice: String = "", timeline: String = "", rest: String = "run: 300s"
  ) -> [Diagnostic] {
    let server = "{ kind: turn, credentials: rest, credential_lifetime: 60s\(keys) }"
    return load(alice: alice, rest: "\(rest)\ntopology: { servers: { relay: \(server) } }", timeline: timeline)
  }

  @Test func `credentials that expire where nobody asks for them again are told`() {
    for found in [credentials(), credentials(timeline: "  - { when: bob.call.state == ringing, do: bob.accept }")] {
      #expect(found.map(\.code) == [.ineffective], "\(found)")
      #expect(found.first?.message.contains("next stale nonce") == true, "\(found)")
    }
  }

  @Test(arguments: [
    ("", "", "  - { at: 120s, do: bob.call, to: alice }"), (", nonce_lifetime: 100s", "", ""),
    ("", "", "  - { at: 120s, fault: link.down, link: alice/wifi, for: 20s }"),
    ("", "ice: { gathering: continually }", ""),
    ("", "", "  - { when: bob.call.state == ended, do: bob.call, to: alice }"),
    ("", "", "  - { at: 70s, fault: turn.stale-nonce, server: relay }"),
  ])
  func `credentials that may be asked for after they expire are no news`(
    keys: String, alice: String, timeline: String
  ) {
    let found = credentials(keys, alice: alice, timeline: timeline)
    #expect(!found.contains { $0.code == .ineffective || $0.code.severity == .error }, "\(found)")
  }

  @Test func `ways and ports that leave nothing out, or nothing over, are told`() {
    let relay = { (ways: String) in "topology: { servers: { relay: { kind: turn, transports: \(ways) } } }" }
    let found = load(alice: "ice: { turn_transports: [udp] }", rest: relay("[udp]"))
    #expect(found.map(\.code) == [.ineffective], "\(found)")
    #expect(load(alice: "ice: { turn_transports: [udp] }", rest: relay("[udp, tcp]")).isEmpty)
    let firewall = { (blocked: String) in
      let rules = "block_ports: \(blocked), allow_ports: [3478, 443]"
      return "topology: { networks: { n: { cidr: 10.0.0.0/24, nat: { kind: home }, firewall: { \(rules) } } } }"
    }
    #expect(load(rest: firewall("[3478, 443]")).map(\.message).contains { $0.contains("lets nothing out") })
    #expect(!load(rest: firewall("[3478]")).map(\.message).contains { $0.contains("lets nothing out") })
  }

  @Test func `hairpin takes two hosts behind the NAT`() {
    let network = "n: { cidr: 10.0.0.0/24, nat: { kind: home, hairpin: true } }"
    let found = { (bob: String) in
      FormatTest.load(
        """
        callsim: 1
        id: t
        peers: { alice: { network: n }, bob: { network: \(bob) } }
        topology: { networks: { \(network) } }
        timeline: [{ at: 0s, do: alice.call, to: bob }]
        expect: [{ ends: alice, code: local-hangup }]
        """
      ).diagnostics.map(\.code)
    }
    #expect(found("wifi") == [.ineffective])
    #expect(found("n").isEmpty)
  }

  @Test func `who watches a time of the statistics reads the date`() {
    let metric =
      "- { metric: bob.stats.remote-outbound-rtp.audio.remoteTimestamp, stat: last, window: [go, end], gt: 1s }"
    let text = """
      callsim: 1
      id: t
      peers: { alice: { network: wifi, clock: { skew: 1h } }, bob: { network: wifi } }
      run: 20s
      timeline: [{ id: go, at: 0s, do: alice.call, to: bob }]
      expect:
        \(metric)
      """
    let found = FormatTest.load(text).diagnostics
    #expect(found.isEmpty, "\(found)")
  }

  @Test(arguments: [
    ("v: [0s, 1h]", "clock: { skew: \"${v}\" }"), ("v: [auto, passive]", "dtls: { role: \"${v}\" }"),
    ("v: [new, same]", "ice: { restart_sockets: \"${v}\" }"), ("v: [1, 9]", "audio: { complexity: \"${v}\" }"),
  ])
  func `a matrix over such a key has cells that are one run`(matrix: String, key: String) {
    let found = load(alice: key, rest: "matrix: { \(matrix) }")
    #expect(Set(found.map(\.code)) == [.unusedVariable, .ineffective] && found.count == 2, "\(found)")
  }

  @Test func `a matrix variable that has an effect anywhere is used`() {
    let found = load(
      alice: "clock: { skew: \"${v}\" }", rest: "matrix: { v: [0s, 1min] }",
      timeline: "  - { after: \"${v}\", of: go, do: alice.mute }")
    #expect(found.map(\.code) == [.ineffective], "\(found)")
  }

  @Test func `a key that works in one cell is there to compare the others with`() {
    let found = load(
      alice: "clock: { skew: \"${v}\" }, ice: { turn_transports: [\"${way}\"] }",
      rest:
        "matrix: { v: [0s, 1h], way: [udp, tls] }\n"
        + "topology: { servers: { relay: { kind: turn, transports: [udp, tls] } } }")
    #expect(found.isEmpty, "\(found)")
  }
}
