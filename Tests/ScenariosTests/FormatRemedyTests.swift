import Testing

@testable import Scenarios

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
