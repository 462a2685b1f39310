import Profiles
import ScenarioRun
import Testing

@testable import ScenarioFormat

/// What an error says to do is taken when it is done.
@Suite struct `Remedies` {
  private func codes(timeline: String = "", expect: String = "", rest: String = "") -> [DiagnosticCode] {
    FormatTest.load(timeline: timeline, expect: expect, rest: rest).diagnostics.map(\.code)
  }

  @Test func `a named network that a peer moves to is declared under topology`() {
    let move = "  - { at: 5s, fault: link.move, link: alice/wifi, network: lte }"
    #expect(codes(timeline: move) == [.unknownNetwork])
    #expect(codes(timeline: move, rest: "topology: { networks: { lte: { profile: lte } } }").isEmpty)
  }

  @Test func `ULPFEC beside NACK of a codec without numbers has three remedies`() {
    let video = { (keys: String) in
      FormatTest.load(alice: "video: { \(keys) }", bob: "video: { fec: ulpfec }").diagnostics
    }
    let found = video("codecs: [H264], fec: ulpfec")
    #expect(found.map(\.code) == [.conflictingKeys])
    #expect(found.map(\.hint) == ["write fec: flexfec, nack: false, or add VP8 or VP9 to the codecs"])
    for keys in ["nack: false, codecs: [H264], fec: ulpfec", "codecs: [H264, VP8], fec: ulpfec"] {
      #expect(video(keys).isEmpty)
    }
    let other = FormatTest.load(alice: "video: { codecs: [H264], fec: flexfec }", bob: "video: { fec: flexfec }")
    #expect(other.diagnostics.isEmpty)
  }

  @Test(arguments: [("53405", ["write \"53405\""]), ("\"53405\"", [])])
  func `a code that is compared as a number is written with quotes`(code: String, hints: [String]) {
    let text = """
      callsim: 1
      id: test
      peers:
        alice: { profile: twilio, network: home }
      timeline:
        - { id: try, at: 0s, do: alice.connect, room: daily }
      expect:
        - { eventually: alice.callback.error == \(code), within: 1s, of: try }
      """
    let loaded = ScenarioFile.load(text: text, registry: ProfileCatalogue.builtIn.registry)
    #expect(loaded.diagnostics.map(\.hint) == hints)
  }

  @Test func `a peer's own network is offered where its name stands alone`() {
    let reboot = { (network: String) in "  - { at: 5s, fault: nat.reboot, network: \(network) }" }
    let found = FormatTest.load(timeline: reboot("wifi")).diagnostics
    #expect(found.map(\.hint) == ["did you mean 'alice/wifi' or 'bob/wifi'?"])
    #expect(codes(timeline: reboot("alice/wifi")).isEmpty)
  }

  @Test(arguments: [
    ("turn_transports: [tcp]", "write ice: { turn_transports: [tcp] }"),
    ("ice-restart: true", "write settings: { ice-restart: true }"),
    ("loss: 5%", "a link has it: topology: { links: { line: { from: PEER, to: NETWORK, loss: 5% } } }"),
    ("nat: symmetric", "a network has it: topology: { networks: { home: { profile: wifi, nat: … } } }"),
    ("mic: tone", "write devices: { mic: tone }"),
  ])
  func `a key at the wrong level says where it belongs`(key: String, hint: String) {
    let found = FormatTest.load(alice: key).diagnostics
    #expect(found.map(\.code) == [.unknownKey] && found.map(\.hint) == [hint], "\(found)")
  }

  @Test(arguments: ["alice.link.down", "link.down"])
  func `a fault that stands for an action is told so at once`(name: String) {
    let found = FormatTest.load(timeline: "  - { at: 5s, do: \(name), for: 3s }").diagnostics
    #expect(found.map(\.hint) == ["write fault: link.down"], "\(found)")
  }

  @Test func `a name that YAML 1.1 reads otherwise is quoted`() {
    let load = { (name: String) in
      FormatTest.load(
        """
        callsim: 1
        id: t
        peers: { alice: { network: "off" }, bob: { network: wifi } }
        topology: { networks: { \(name): { cidr: 10.0.0.0/24, nat: { kind: home } } } }
        timeline: [{ at: 0s, do: alice.call, to: bob }]
        expect: [{ ends: alice, code: local-hangup }]
        """
      ).diagnostics
    }
    #expect(load("off").contains { $0.code == .yaml11Key && $0.hint == "if it is a name, write \"off\", in quotes" })
    #expect(load("\"off\"").isEmpty)
  }

  @Test func `a network without the family of the signalling server is told`() {
    let load = { (prefixes: String) in
      FormatTest.load(
        """
        callsim: 1
        id: t
        peers: { alice: { network: n }, bob: { network: wifi } }
        topology: { networks: { n: { cidr: \(prefixes), to: internet } } }
        timeline: [{ at: 0s, do: alice.call, to: bob }]
        expect: [{ ends: alice, code: local-hangup }]
        """
      ).diagnostics
    }
    let found = load("\"2001:db8:5::/64\"")
    #expect(found.map(\.code) == [.noWayOut] && found.map(\.hint) == ["give it an IPv4 prefix, too"], "\(found)")
    #expect(load("[\"2001:db8:5::/64\", 203.0.114.0/24]").isEmpty)
  }

  @Test func `what media-both-ways means as a predicate is that both are audible`() {
    #expect(codes(expect: "  - { always: media-both-ways, between: [go, 9s] }") == [.unknownName])
    #expect(codes(expect: "  - { always: alice.audible and bob.audible, between: [go, 9s] }").isEmpty)
  }

  @Test func `an address in a predicate is quoted`() {
    let expectation: (String) -> String = { address in
      "  - { eventually: bob.selected.local.address == \(address), within: 3s, of: go }"
    }
    #expect(codes(expect: expectation("192.168.1.5")) == [.predicateSyntax])
    #expect(codes(expect: expectation("\"192.168.1.5\"")).isEmpty)
  }

  @Test func `definitions that define each other are told so`() {
    let result = FormatTest.load(
      expect: "  - { eventually: a, within: 3s, of: go }", rest: "define: { b: a, a: b and alice.audible }")
    #expect(FormatTest.text(result).contains("'a' is defined by way of itself"))
    let late = FormatTest.load(
      expect: "  - { eventually: b, within: 3s, of: go }", rest: "define: { b: a, a: alice.audible }")
    #expect(FormatTest.text(late).contains("'a' is defined further down"))
  }

  @Test func `a network that leads nowhere is told where the signalling server is elsewhere`() {
    let load = { (bob: String, network: String) -> [DiagnosticCode] in
      FormatTest.load(
        """
        callsim: 1
        id: t
        peers: { alice: { network: n }, bob: { network: \(bob) } }
        topology: { networks: { n: { cidr: 10.0.0.0/24\(network) } } }
        timeline: [{ at: 0s, do: alice.call, to: bob }]
        expect: [{ ends: alice, code: local-hangup }]
        """
      ).diagnostics.map(\.code)
    }
    #expect(load("wifi", "") == [.noWayOut])
    #expect(load("wifi", ", nat: { kind: home }").isEmpty)
    #expect(load("n", "").isEmpty)
  }

  @Test func `the names that a word is part of are suggested, and what the same is called here`() {
    #expect(
      Suggestion.hint(for: "hangup", among: ["local-hangup", "remote-hangup", "declined"])
        == "did you mean 'local-hangup' or 'remote-hangup'?")
    #expect(Suggestion.hint(for: "latency", among: ["delay", "loss"]) == "did you mean 'delay'?")
  }
}
