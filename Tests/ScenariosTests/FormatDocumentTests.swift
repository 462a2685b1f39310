import CallCore
import SimNet
import Testing

@testable import ScenarioFormat

@Suite struct `The document` {
  private func first(_ name: String) throws -> Scenario {
    let result = ScenarioFile.load(path: FormatTest.folder + "Valid/\(name).yaml", registry: FormatTest.registry)
    return try #require(result.scenario?.cells.first?.scenario)
  }

  @Test func `named networks stand for network, NAT and link`() throws {
    let scenario = try first("hello")
    #expect(scenario.topology.networks.map(\.name) == ["internet", "alice/wifi", "bob/wifi"])
    #expect(scenario.topology.links.map(\.name) == ["alice/wifi", "bob/wifi"])
    #expect(scenario.topology.servers.map(\.name) == ["signalling", "stun"])
    let network = try #require(scenario.topology.network("bob/wifi"))
    #expect(network.prefixes.map(\.value.description) == ["192.168.2.0/24"])
    #expect(network.nat?.timers.udpAnswered == .seconds(120))
    #expect(network.type == .wifi)
    #expect(scenario.topology.link("alice/wifi")?.transmit.delay == .milliseconds(10))
    #expect(scenario.peer("alice")?.interfaces == [.init(name: "wifi", network: "alice/wifi", link: "alice/wifi")])
  }

  @Test func `triggers and effects are typed and resolved`() throws {
    let timeline = try first("hello").timeline
    guard case .when(let predicate, let delay, 1) = timeline[1].trigger,
      case .compare(.value(let path), .equal, .literal(.text("ringing"))) = predicate.kind,
      case .action("bob", "accept", _) = timeline[1].effect
    else {
      Issue.record("not decoded")
      return
    }
    #expect(delay == .seconds(2))
    #expect(path.name == "call.state")
    guard case .after(_, let anchor) = timeline[2].trigger else {
      Issue.record("not after")
      return
    }
    #expect(anchor.kind == .entersState(subject: "bob", machine: "call.state", state: "connected"))
  }

  @Test func `a topology of one's own takes profiles for its links and NATs`() throws {
    let scenario = try first("cgnat-handover")
    let lte = try #require(scenario.topology.network("lte"))
    #expect(lte.nat?.map == .addressAndPort)
    #expect(lte.nat?.timers.udpAnswered == .seconds(20))
    #expect(lte.uplink?.value == "internet")
    let cell = try #require(scenario.topology.link("cell"))
    #expect(!cell.startsUp)
    #expect(cell.transmit.delay == .milliseconds(60))
    #expect(scenario.peer("alice")?.interfaces.map(\.name) == ["wifi", "cell"])
    #expect(scenario.peer("alice")?.audio.ptime == .milliseconds(20))
    #expect(scenario.topology.server("relay")?.transports == [.udp])
  }

  @Test func `peers with one lan share one network`() throws {
    let scenario = try first("everything")
    #expect(scenario.peer("carol")?.interfaces.first?.network == "flat")
    #expect(scenario.peer("dave")?.interfaces.first?.network == "flat")
    #expect(scenario.topology.networks.count { $0.name == "flat" } == 1)
  }

  @Test func `the directions of a link override what both share`() throws {
    let wire = try #require(try first("everything").topology.link("wire"))
    #expect(wire.transmit.delay == .milliseconds(20))
    #expect(wire.receive.loss == .random(rate: 0.01))
    #expect(wire.transmit.loss == .gilbert(rate: 0, meanBurst: .milliseconds(30), bad: 0.9, good: 0))
    #expect(wire.receive.corrupt == 0.00001)
  }

  @Test func `a peer says how it reaches TURN servers, and without a word takes every way there is`() throws {
    let scenario = try first("everything")
    #expect(scenario.peer("alice")?.ice.turnTransports?.map(\.value) == [.tcp, .tls])
    #expect(scenario.peer("bob")?.ice.turnTransports == nil)
  }

  @Test func `settings of a profile are typed`() throws {
    let alice = try #require(try first("everything").peer("alice"))
    #expect(alice.settings.duration("ring-timeout") == .seconds(30))
    #expect(alice.settings.flag("ice-restart") == true)
    #expect(alice.clock.drift == 0.00012)
    #expect(alice.clock.skew == .seconds(-2))
    #expect(alice.userID == "1001")
  }

  @Test func `who asks for quality says what media it is of`() throws {
    let quality = "  - { metric: bob.q.mos, stat: p10, gte: 3.0 }"
    #expect(FormatTest.load().scenario?.cells.first?.scenario.media == .synthetic)
    #expect(FormatTest.load(expect: quality).diagnostics.map(\.code) == [.missingKey])
    for media in Scenario.Media.allCases {
      let loaded = FormatTest.load(expect: quality, rest: "media: \(media)")
      #expect(loaded.scenario?.cells.first?.scenario.media == media)
    }
  }

  @Test func `a rate of bytes is compared with a bit rate`() throws {
    let result = FormatTest.load(
      expect: "  - { metric: bob.stats.candidate-pair.bytesReceived, stat: rate, gt: 8kbps }")
    let expectation = try #require(result.scenario?.cells.first?.scenario.expectations.last)
    guard case .metric(let metric) = expectation.kind else {
      Issue.record("no metric")
      return
    }
    #expect(metric.statistic == .rate)
    #expect(metric.bounds.first?.value == .rate(.kilobitsPerSecond(8)))
    #expect(expectation.text == "metric: bob.stats.candidate-pair.bytesReceived, stat: rate, gt: 8kbps")
  }

  @Test func `nat.set changes what it names and nothing else`() throws {
    let result = FormatTest.load(timeline: "  - { id: set, at: 1s, fault: nat.set, network: alice/wifi, map: address }")
    guard case .fault(let fault, nil) = result.scenario?.cells.first?.scenario.entry("set")?.effect else {
      Issue.record("no fault")
      return
    }
    #expect(fault.nat?.map == .address)
    #expect(fault.nat?.udpIdle == nil)
    let nat = try #require(result.scenario?.cells.first?.scenario.topology.network("alice/wifi")?.nat)
    #expect(fault.nat?.over(nat).timers.udpAnswered == .seconds(120))
  }

  @Test func `every fault of the catalogue says what it is`() {
    for kind in FaultKind.allCases {
      #expect(kind.declaration.kind == kind)
      #expect(!kind.declaration.summary.isEmpty)
    }
  }
}

@Suite struct `The matrix` {
  private func cells(_ matrix: String) -> [String] {
    let result = FormatTest.load(
      timeline: "  - { at: \"${a}\", do: alice.mute }\n  - { at: \"${b}\", do: alice.unmute }",
      rest: "matrix: \(matrix)")
    #expect(FormatTest.text(result) == "")
    return result.scenario?.cells.map(\.id) ?? []
  }

  @Test func `is a product in file order with sorted names`() {
    #expect(
      cells("{ b: [1s, 2s], a: [3s, 4s] }") == ["t[a=3s,b=1s]", "t[a=4s,b=1s]", "t[a=3s,b=2s]", "t[a=4s,b=2s]"])
  }

  @Test func `skip and only leave cells out`() {
    #expect(cells("{ a: [1s, 2s], b: [3s, 4s], skip: [{ a: 1s, b: 3s }] }").count == 3)
    #expect(cells("{ a: [1s, 2s], b: [3s, 4s], only: [{ a: 1s }] }") == ["t[a=1s,b=3s]", "t[a=1s,b=4s]"])
  }

  @Test func `a guard leaves an expectation out of a cell`() {
    let result = FormatTest.load(
      timeline: "  - { at: 1s, fault: link.set, link: alice/wifi, loss: \"${loss}\" }",
      expect: "  - { always: alice.audible, if: loss >= 5% and not (loss > 20%) }",
      rest: "matrix: { loss: [0%, 5%, 30%] }")
    #expect(result.scenario?.cells.map(\.scenario.expectations.count) == [1, 2, 1])
  }

  @Test func `overrides stand in for variables`() {
    let text = """
      callsim: 1
      id: t
      vars: { ring: 2s }
      matrix: { hang: [4s, 5s] }
      peers: { alice: { network: wifi } }
      timeline: [{ at: "${ring}", do: alice.mute }, { at: "${hang}", do: alice.hangup }]
      expect: [{ ends: alice, code: local-hangup }]
      """
    let result = ScenarioFile.load(
      text: text, registry: FormatTest.registry, overrides: [("ring", "3s"), ("hang", "9s")])
    #expect(result.scenario?.cells.map(\.id) == ["t[hang=9s]"])
    guard case .at(let time) = result.scenario?.cells.first?.scenario.timeline.first?.trigger else {
      Issue.record("no time")
      return
    }
    #expect(time == .zero + .seconds(3))
  }

  @Test func `skip and only leave out what is asked for by hand, too, but no value of which they do not know`() {
    func cells(_ overrides: (String, String)...) -> [String] {
      let text = """
        callsim: 1
        id: t
        matrix: { a: [1s, 2s], b: [3s, 4s], c: [5s, 6s], skip: [{ a: 2s, b: 4s }], only: [{ c: 5s }] }
        peers: { alice: { network: wifi } }
        timeline: [{ at: "${a}", do: alice.mute }, { at: "${b}", do: alice.unmute }, { at: "${c}", do: alice.hangup }]
        expect: [{ ends: alice, code: local-hangup }]
        """
      let result = ScenarioFile.load(
        text: text, registry: FormatTest.registry, overrides: overrides.map { (name: $0.0, value: $0.1) })
      return result.scenario?.cells.map(\.id) ?? result.diagnostics.map(\.message)
    }
    #expect(cells(("a", "2s")) == ["t[a=2s,b=3s,c=5s]"])
    #expect(cells(("a", "2500ms")) == ["t[a=2500ms,b=3s,c=5s]", "t[a=2500ms,b=4s,c=5s]"])
    #expect(cells(("a", "2s"), ("b", "4s")) == ["no cell of the matrix is left with --set a=2s b=4s"])
    #expect(cells(("c", "6s")) == ["no cell of the matrix is left with --set c=6s"])
  }

  @Test func `seeds are the listed ones, then counted ones`() {
    let result = FormatTest.load(rest: "seeds: { count: 3, list: [9, 2] }")
    #expect(result.scenario?.seeds.all == [9, 2, 1, 3])
    #expect(result.scenario?.cells.first?.runID(seed: 7) == "t#7")
  }
}

@Suite struct `Scalars` {
  @Test func `types follow the YAML 1.2 core schema`() {
    let types: [(String, YAMLScalar.CoreType)] = [
      ("yes", .text), ("on", .text), ("true", .flag), ("012", .integer), ("0o17", .integer), ("0x1F", .integer),
      ("1_000", .text), ("1:30", .text), ("1e3", .real), (".5", .real), ("5.", .real), (".", .text), ("-", .text),
      ("~", .null), ("", .null), ("+1", .integer), (".inf", .real), ("1.5Mbps", .text), ("2001-01-01", .text),
      ("1e", .text),
    ]
    for (text, type) in types { #expect(YAMLScalar(text: text, isPlain: true).coreType == type, "\(text)") }
    #expect(YAMLScalar(text: "true", isPlain: false).coreType == .text)
  }

  @Test func `quantities need a unit and keep their precision`() {
    #expect(Quantity.read("1.5Mbps") == .value(.rate(.bitsPerSecond(1_500_000))))
    #expect(Quantity.read("250us") == .value(.duration(.microseconds(250))))
    #expect(Quantity.read("64KiB") == .value(.byteSize(65_536)))
    #expect(Quantity.read("-2s") == .value(.duration(.seconds(-2))))
    #expect(Quantity.read("5") == .bare(5))
    #expect(Quantity.read("5parsecs") == .unknownUnit("parsecs"))
    #expect(Quantity.read("99999999999h") == .tooLarge("a time is at most a year, 8760h"))
    #expect(Quantity.read("8761h") == .tooLarge("a time is at most a year, 8760h"))
    #expect(Quantity.read("8760h") == .value(.duration(.minutes(525_600))))
    #expect(Quantity.read("99999999999Gbps") == .tooLarge("it does not fit 64 bits"))
    #expect(Quantity.read("ms") == nil)
  }

  @Test func `the nearest name allows for swapped letters but not for another word`() {
    #expect(Suggestion.nearest(to: "link.dwon", among: ["link.up", "link.down"]) == "link.down")
    #expect(Suggestion.nearest(to: "banana", among: ["link.up", "link.down"]) == nil)
  }
}
