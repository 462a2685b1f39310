import CallCore
import Formats
import Foundation
import SimNet
import Testing

@testable import ScenarioFormat

/// Files of `use`: what they declare means what it would mean in the scenario itself.
@Suite struct `Files that scenarios use` {
  private func load(_ used: String, _ rest: String) -> ScenarioFile.Result {
    let text = """
      callsim: 1
      id: t
      use: [ours.yaml]
      \(rest)
      timeline: [{ at: 0s, do: alice.call, to: bob }]
      expect: [{ ends: alice, code: local-hangup }]
      """
    return ScenarioFile.load(bytes: Array(text.utf8), path: "t.yaml", registry: FormatTest.registry) { path in
      path == "ours.yaml" ? Array("callsim: 1\n\(used)".utf8) : nil
    }
  }

  private func topology(_ used: String, network: String = "our/net", rest: String = "") throws -> Topology {
    let peers = "peers: { alice: { network: \(network) }, bob: { network: wifi } }\n\(rest)"
    let result = load(used, peers)
    return try #require(result.scenario?.cells.first?.scenario.topology, "\(FormatTest.text(result))")
  }

  @Test(arguments: [
    ("network: { ours: { profile: home } }", "profile file has no key 'network'"),
    ("netwroks: { ours: { profile: home } }", "profile file has no key 'netwroks'"),
    ("titel: x\nnetworks: { ours: { profile: home } }", "profile file has no key 'titel'"),
    ("networks: { ours: { profile: home } }\ntimelin: []", "scenario has no key 'timelin'"),
    ("peers: { alice: { network: wifi } }\nexpect: []", "scenario needs the key 'id'"),
  ])
  func `a file with a misspelt key is taken for what it is meant to be`(rest: String, problem: String) {
    let text = FormatTest.text(FormatTest.load("callsim: 1\n\(rest)\n"))
    #expect(text.contains(problem), "\(text)")
    #expect(text.contains("needs the key 'id'") == problem.hasPrefix("scenario"), "\(text)")
  }

  @Test func `a network made from a named network has its NAT, line and prefix`() throws {
    let ours = try topology("networks: { our/net: { profile: carrier/symmetric } }")
    let builtIn = try topology("networks: {}", network: "carrier/symmetric")
    let network = try #require(ours.network("alice/our/net"))
    let wanted = try #require(builtIn.network("alice/carrier/symmetric"))
    #expect(network.nat == wanted.nat)
    #expect(network.type == .cellular)
    #expect(network.prefixes.map(\.value) == wanted.prefixes.map(\.value))
    #expect(ours.link("alice/our/net")?.transmit == builtIn.link("alice/carrier/symmetric")?.transmit)
  }

  @Test func `what a network says goes before what it is made from, and the rest stays`() throws {
    let ours = try topology(
      "networks: { our/net: { profile: carrier/symmetric, nat: { udp_idle: 30s }, link: { delay: 9ms } } }")
    let network = try #require(ours.network("alice/our/net"))
    #expect(network.nat?.timers.udpAnswered == .seconds(30))
    #expect(network.nat?.map == .addressAndPort)
    #expect(ours.link("alice/our/net")?.transmit.loss == .random(rate: 0.002))
    #expect(ours.link("alice/our/net")?.receive.rate == DataRate(bitsPerSecond: 30_000_000))
  }

  @Test func `a network takes the NAT of another and keeps its own prefix`() throws {
    let used = "networks: { our/net: { cidr: 10.7.0.0/16, nat: { profile: home/symmetric, quota: 9 } } }"
    let network = try #require(try topology(used).network("alice/our/net"))
    #expect(network.nat?.map == .addressAndPort)
    #expect(network.nat?.timers.udpAnswered == .seconds(60))
    #expect(network.nat?.quota == 9)
    #expect(network.prefixes.first?.value == IPPrefix(IPAddress(v4: 0x0A07_0000), length: 16))
  }

  @Test func `a network is made from one that is made from another`() throws {
    let used = "networks: { a: { profile: lte }, our/net: { profile: a, mtu: 1400B } }"
    let network = try #require(try topology(used).network("alice/our/net"))
    #expect(network.nat?.quota == 1_008)
    #expect(network.mtu == 1_400)
  }

  @Test func `the same words mean the same under topology and in a used file`() throws {
    let words = "{ profile: lte/cell-edge, nat: { udp_idle: 20s, hairpin: true }, mtu: 1300B }"
    let used = try #require(try topology("networks: { our/net: \(words) }").network("alice/our/net"))
    let main = try #require(
      try topology("networks: {}", network: "own", rest: "topology: { networks: { own: \(words) } }").network("own"))
    #expect(used.nat == main.nat)
    #expect(used.mtu == main.mtu)
    #expect(used.type == main.type)
    #expect(used.firewall == main.firewall)
  }

  @Test func `a network that is made from itself is an error`() {
    let used = "networks: { our/net: { profile: other }, other: { profile: our/net } }"
    let result = load(used, "peers: { alice: { network: our/net }, bob: { network: wifi } }")
    #expect(result.diagnostics.contains { $0.code == .useCycle })
  }

  @Test func `a network with a NAT and no prefix is an error and no broken run`() {
    let used = "networks: { our/net: { nat: { udp_idle: 30s } } }"
    let result = load(used, "peers: { alice: { network: our/net }, bob: { network: wifi } }")
    #expect(result.diagnostics.map(\.code) == [.missingKey])
  }

  @Test func `a variable in a used network has the value of the cell`() throws {
    let result = load(
      "networks: { our/net: { profile: lte, nat: { udp_idle: \"${idle}\" } } }",
      "matrix: { idle: [20s, 40s] }\npeers: { alice: { network: our/net }, bob: { network: wifi } }")
    let cells = try #require(result.scenario?.cells, "\(FormatTest.text(result))")
    let idle = cells.map { $0.scenario.topology.network("alice/our/net")?.nat?.timers.udpAnswered }
    #expect(idle == [.seconds(20), .seconds(40)])
  }

  @Test func `what is in a file that is none of ours is not shown`() {
    let secret = Array("root:x:0:0:secret\n\t: {".utf8)
    let text = """
      callsim: 1
      id: t
      use: [/etc/shadow]
      peers: { alice: { network: wifi }, bob: { network: wifi } }
      timeline: [{ at: 0s, do: alice.call, to: bob }]
      expect: [{ ends: alice, code: local-hangup }]
      """
    let result = ScenarioFile.load(bytes: Array(text.utf8), path: "t.yaml", registry: FormatTest.registry) { _ in secret
    }
    #expect(result.diagnostics.map(\.code) == [.notCallsim])
    #expect(!FormatTest.text(result).contains("secret"))
  }

  private func shared(_ text: String) -> ScenarioFile.Result {
    ScenarioFile.load(bytes: Array(text.utf8), path: "ours.yaml", registry: FormatTest.registry) { _ in nil }
  }

  @Test func `a file of named things is checked on its own`() {
    let result = shared("callsim: 1\nnetworks: { our/net: { profile: lte } }\npeers: { phone: { network: our/net } }\n")
    #expect(result.isShared)
    #expect(result.scenario == nil)
    #expect(result.diagnostics.isEmpty, "\(FormatTest.text(result))")
  }

  @Test(arguments: [
    "networks: { a: { profile: nowhere } }", "networks: { a: { nat: { udp_idle: 5 } } }",
    "networks: { a: { nat: { udp_idle: 5s } } }", "networks: { a: { profile: b }, b: { profile: a } }",
    "peers: { phone: { netwrk: wifi } }", "peers: { phone: { use: nobody } }",
    "networks: { a: { cidr: 10.0.0.0/24, nat: { blocks: { size: 90 }, port_range: [1, 80] } } }",
  ])
  func `what is wrong in a file of named things is found without a scenario`(_ text: String) {
    let result = shared("callsim: 1\n\(text)\n")
    #expect(result.isShared)
    #expect(!result.diagnostics.isEmpty)
  }

  @Test func `a scenario without an id is a scenario all the same`() {
    #expect(!shared("callsim: 1\npeers: {}\ntimeline: []\n").isShared)
  }

  @Test func `the schema of named things knows networks and no timeline`() {
    let schema = ScenarioSchema.json(registry: FormatTest.registry, isShared: true)
    #expect(schema["properties"]?["networks"] != nil)
    #expect(schema["properties"]?["timeline"] == nil)
    #expect(schema["definitions"]?["nat"]?["properties"]?["blocks"] != nil)
  }
}
