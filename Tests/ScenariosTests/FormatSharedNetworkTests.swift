import Testing

@testable import ScenarioFormat

/// A network of `topology` is one network, where a named one gives each peer its own.
@Suite struct `Networks that peers share` {
  private func codes(
    alice: String, bob: String, _ networks: String, timeline: String = "", used: String = ""
  ) -> [DiagnosticCode] {
    let text = """
      callsim: 1
      id: t
      \(used.isEmpty ? "" : "use: [ours.yaml]")
      peers: { alice: { \(alice) }, bob: { \(bob) } }
      topology: { networks: { \(networks) } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
      \(timeline)
      expect: [{ ends: alice, code: local-hangup }]
      """
    let result = ScenarioFile.load(bytes: Array(text.utf8), path: "t.yaml", registry: FormatTest.registry) { path in
      path == "ours.yaml" ? Array("callsim: 1\n\(used)".utf8) : nil
    }
    return result.diagnostics.map(\.code)
  }

  @Test(arguments: ["wifi", "lte", "home", "carrier/symmetric", "office"])
  func `a built-in name means no network that two peers share`(name: String) {
    let networks = "\(name): { profile: \(name), nat: { kind: symmetric } }"
    #expect(codes(alice: "network: \(name)", bob: "network: \(name)", networks) == [.profileClash])
  }

  @Test func `of one peer it is that peer's own network, as the built-in one would be`() {
    #expect(codes(alice: "network: lte", bob: "network: wifi", "lte: { profile: lte, mtu: 1400B }").isEmpty)
  }

  @Test func `whom link.move or a link takes there is taken to the one of the topology`() {
    let move = "  - { at: 5s, fault: link.move, link: bob/wifi, network: lte }"
    let networks = "lte: { cidr: 100.64.0.0/16, nat: { kind: carrier } }"
    #expect(codes(alice: "network: lte", bob: "network: wifi", networks, timeline: move).isEmpty)
    let links = "\(networks) }, links: { b: { from: bob, to: lte }"
    #expect(codes(alice: "network: lte", bob: "", links).isEmpty)
  }

  @Test func `who is moved behind the NAT of another is told so`() {
    let found = codes(
      alice: "network: own", bob: "network: wifi", "own: { profile: lte }",
      timeline: "  - { at: 5s, fault: link.move, link: bob/wifi, network: own }")
    #expect(found == [.sharedNetwork])
  }

  @Test func `the internet is one for all wherever it is declared`() {
    #expect(codes(alice: "network: internet", bob: "network: internet", "internet: { cidr: 203.0.113.0/24 }").isEmpty)
  }

  @Test func `the name of a network of a used file is taken, whoever is on it`() {
    let clash = codes(
      alice: "network: ours", bob: "network: wifi", "ours: { profile: lte }",
      used: "networks: { ours: { profile: home } }")
    #expect(clash == [.profileClash])
  }

  @Test func `two peers behind the one NAT of a network with a profile are told so`() {
    let network = "own: { profile: carrier/symmetric, nat: { udp_idle: 30s } }"
    #expect(codes(alice: "network: own", bob: "network: own", network) == [.sharedNetwork])
    #expect(codes(alice: "network: own", bob: "network: lte", network).isEmpty)
  }

  @Test(arguments: [
    "own: { profile: carrier/symmetric, isolated: true }", "own: { cidr: 100.64.0.0/16, nat: { kind: carrier } }",
    "own: { profile: internet, cidr: 10.0.0.0/24, to: internet }",
  ])
  func `who shares one on purpose is not`(network: String) {
    #expect(codes(alice: "network: own", bob: "network: own", network).isEmpty)
  }

  /// What the advice says to do.
  @Test func `moved to a used file the network is one for each`() throws {
    let text = """
      callsim: 1
      id: t
      use: [ours.yaml]
      peers: { alice: { network: own }, bob: { network: own } }
      timeline: [{ at: 0s, do: alice.call, to: bob }]
      expect: [{ ends: alice, code: local-hangup }]
      """
    let used = "callsim: 1\nnetworks: { own: { profile: carrier/symmetric, nat: { udp_idle: 30s } } }\n"
    let result = ScenarioFile.load(bytes: Array(text.utf8), path: "t.yaml", registry: FormatTest.registry) { _ in
      Array(used.utf8)
    }
    let topology = try #require(result.scenario?.cells.first?.scenario.topology)
    #expect(result.diagnostics.isEmpty)
    #expect(topology.networks.map(\.name) == ["internet", "alice/own", "bob/own"])
  }
}
