import CallCore
import Profiles
import SimNet
import Testing
import VirtualPeer

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// `recovers` in whole runs: the same run without the fault says whether the fault took what was lost.
@Suite struct RunWithoutFaultTests {
  /// A call of Alice and Bob, who both are at home, from 1 s to 25 s.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var topology = ""
    var alice = ", network: home"
    var bob = ", network: home"
    var others = ""
    /// Without it, she calls, he accepts, and she hangs up at the end.
    var calls = """
        - { id: call, at: 1s, do: alice.call, to: bob }
        - { id: accept, at: 2s, do: bob.accept }
        - { id: bye, at: 25s, do: alice.hangup }
      """
    let faults: [String]
    let expect: String

    var text: String {
      """
      callsim: 1
      id: test
      \(topology)
      peers:
        alice: { profile: knotos\(alice) }
        bob: { profile: knotos\(bob) }
      \(others)
      timeline:
      \(calls)
      \(faults.map { "  - { \($0) }" }.joined(separator: "\n"))
      expect:
        - { \(expect) }
      """
    }
  }

  private static let twoMore = "  carol: { profile: knotos, network: home }\n  dave: { profile: knotos, network: home }"
  /// Alice calls Bob, to the end of the run.
  private static let oneCall = """
      - { at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
    """
  /// Alice calls Bob, and Carol calls Dave.
  private static let bothCalls = """
      - { at: 0s, do: alice.call, to: bob }
      - { at: 0s, do: carol.call, to: dave }
      - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
      - { when: dave.call.state == ringing, after: 1s, do: dave.accept }
    """

  private static let tiny = "id: tiny, at: 11s, fault: link.set, link: bob/home, delay: 30ms, for: 6s"
  private static let tinyRecovers = "recovers: tiny, to: media-both-ways, within: 9s, hold: 1s"
  /// Alice's own link, with a loss of its own.
  private static func wire(_ loss: String) -> String {
    """
    topology:
      networks: { internet: { cidr: 203.0.113.0/24 }, n: { cidr: 10.1.0.0/16, nat: { to: internet } } }
      links: { wire: { from: alice, to: n, delay: 4ms, loss: \(loss) } }
    """
  }

  private static let takenByOthers: [Case] = [
    Case(
      testDescription: "bursts of another fault's losses",
      calls: """
          - { id: call, at: 1s, do: alice.call, to: bob }
          - { id: accept, at: 2s, do: bob.accept }
          - { id: bye, at: 40s, do: alice.hangup }
        """,
      faults: [
        "id: bursts, at: 5s, fault: link.set, link: alice/home, "
          + "loss: { kind: gilbert, rate: 20%, mean_burst: 1500ms }",
        "id: tiny, at: 11s, fault: link.set, link: bob/home, delay: 30ms, for: 100ms",
      ], expect: "recovers: tiny, to: media-both-ways, within: 20s, hold: 1s"),
    Case(
      testDescription: "bursts of the link's own losses",
      topology: wire("{ kind: gilbert, rate: 15%, mean_burst: 1s }"), alice: "", faults: [tiny],
      expect: tinyRecovers),
    Case(
      testDescription: "a script of the link's own losses that began before",
      topology: wire("{ kind: script, times: [[10s, 13s]] }"), alice: "", faults: [tiny],
      expect: "recovers: tiny, to: bob.audible, within: 9s, hold: 1s"),
    Case(
      testDescription: "an earlier fault that ICE feels late",
      faults: ["id: black, at: 10s, fault: link.blackhole, link: alice/home, for: 8s", tiny],
      expect: "recovers: tiny, to: alice.ice.state == connected, within: 12s, hold: 1s"),
    Case(
      testDescription: "an earlier fault that the speaker feels late",
      faults: ["id: black, at: 10800ms, fault: link.blackhole, link: alice/home, for: 3s", tiny],
      expect: "recovers: tiny, to: bob.audible, within: 9s, hold: 1s"),
    Case(
      testDescription: "a blackhole shortly before, missed shortly after",
      faults: ["id: black, at: 10600ms, fault: link.blackhole, link: alice/home, for: 2s", tiny], expect: tinyRecovers),
    Case(
      testDescription: "the second down of another fault",
      alice: ", network: wifi/good, settings: { ice-restart: true }",
      bob: ", network: home, settings: { ice-restart: true }",
      faults: ["id: flap, at: 4s, fault: link.flap, link: alice/wifi/good, down: 1s, up: 8s, cycles: 2", tiny],
      expect: tinyRecovers),
    Case(
      testDescription: "a ring timeout",
      alice: ", network: home, settings: { ring-timeout: 10s }",
      bob: ", network: home, settings: { ring-timeout: 10s }",
      calls: """
          - { id: call, at: 1s, do: alice.call, to: bob }
          - { id: call2, at: 13s, do: alice.call, to: bob }
          - { id: acc, at: 15s, do: bob.accept }
          - { id: bye, at: 25s, do: alice.hangup }
        """, faults: ["id: tiny, at: 10s, fault: link.set, link: bob/home, delay: 30ms, for: 6s"],
      expect: "recovers: tiny, to: bob.call.state == ringing, within: 9s, hold: 1s"),
    Case(
      testDescription: "a hangup whose message comes late",
      calls: """
          - { id: call, at: 1s, do: alice.call, to: bob }
          - { id: accept, at: 2s, do: bob.accept }
          - { id: bye, at: 10s, do: alice.hangup }
          - { id: again, at: 18s, do: alice.call, to: bob }
          - { id: acc2, at: 20s, do: bob.accept }
        """,
      faults: ["id: late, at: 9s, fault: signal.delay, by: 5s, message: call_hangup, count: 1", tiny],
      expect: "recovers: tiny, to: bob.call.state == connected, within: 15s, hold: 2s"),
    Case(
      testDescription: "the end of an earlier fault",
      alice: ", networks: [wifi, lte]",
      faults: [
        "id: down, at: 5s, fault: link.down, link: alice/wifi, for: 8s", tiny,
        "id: down2, at: 15s, fault: link.down, link: alice/wifi, for: 5s",
      ], expect: "recovers: tiny, to: alice.network == lte, within: 9s, hold: 2s"),
    Case(
      testDescription: "a certificate that ends",
      topology: "topology: { servers: { relay: { kind: turn, transports: [tls] } } }",
      alice: ", network: home, ice: { policy: relay }, settings: { ice-restart: true }",
      bob: ", network: home, settings: { ice-restart: true }",
      faults: [
        tiny, "id: expired, at: 5s, fault: turn.certificate, server: relay, certificate: expired, for: 18s",
        "id: reset, at: 12s, fault: turn.disconnect, server: relay",
      ], expect: "recovers: tiny, to: media-both-ways, within: 12s, hold: 1s"),
    Case(
      testDescription: "what the fault's entry itself sets off, which comes without the fault, too",
      faults: [tiny, "id: black, after: 1s, of: tiny, fault: link.blackhole, link: alice/home, for: 2s"],
      expect: tinyRecovers),
    Case(
      testDescription: "another fault that takes it all the same, at the same time",
      faults: [
        "id: mine, at: 11s, fault: link.blackhole, link: bob/home, for: 2s",
        "id: other, at: 11s, fault: link.blackhole, link: alice/home, for: 2s",
      ], expect: "recovers: mine, to: media-both-ways, within: 9s, hold: 1s"),
    Case(
      testDescription: "another fault that breaks the hold after the deadline",
      faults: [
        "id: mine, at: 6s, fault: link.blackhole, link: bob/home, for: 2s",
        "id: other, at: 8500ms, fault: link.blackhole, link: alice/home, for: 2s",
      ], expect: "recovers: mine, to: media-both-ways, within: 3s, hold: 3s"),
    Case(
      testDescription: "another fault that keeps it away until the deadline",
      faults: [
        "id: mine, at: 6s, fault: link.blackhole, link: bob/home, for: 2s",
        "id: other, at: 7500ms, fault: link.blackhole, link: alice/home, for: 6s",
      ], expect: "recovers: mine, to: media-both-ways, within: 5s"),
  ]

  @Test(arguments: takenByOthers)
  func `what is lost without the fault, too, puts no recovery to the test`(_ one: Case) throws {
    let result = try play(one.text)
    #expect(result.verdict == .vacuous, "\(result.findings)")
    let actual = try #require(result.findings.first { $0.title.hasPrefix("recovers") }).actual
    let fault = one.expect.contains("tiny") ? "tiny" : "mine"
    #expect(actual.contains("but without '\(fault)' it is lost at "), "\(actual)")
    #expect(actual.hasSuffix("too: name the fault that takes it, or let them be further apart"), "\(actual)")
  }

  private static let cut = "id: cut, at: 6s, fault: link.blackhole, link: bob/home"
  private static let cutRecovers = "recovers: cut, to: media-both-ways, within: 8s, hold: 3s"

  private static let taken: [Case] = [
    Case(testDescription: "the fault alone", faults: ["\(cut), for: 2s"], expect: cutRecovers),
    Case(
      testDescription: "a call of two others comes between",
      others: Self.twoMore,
      faults: ["\(cut), for: 2s", "id: x, at: 6200ms, do: carol.call, to: dave"], expect: cutRecovers),
    Case(
      testDescription: "an action that takes nothing comes between",
      faults: ["\(cut), for: 2s", "id: x, at: 6200ms, do: alice.mute"], expect: cutRecovers),
    Case(
      testDescription: "a fault that takes nothing comes between",
      faults: ["\(cut), for: 2s", "id: x, at: 6200ms, fault: link.set, link: alice/home, delay: 30ms, for: 1s"],
      expect: cutRecovers),
    Case(
      testDescription: "another fault takes it again later, and it is back in time",
      faults: ["\(cut), for: 2s", "id: x, at: 8500ms, fault: link.blackhole, link: alice/home, for: 2s"],
      expect: cutRecovers),
    Case(
      testDescription: "neither of two faults takes it alone",
      faults: ["\(cut), for: 400ms", "id: x, at: 6400ms, fault: link.blackhole, link: alice/home, for: 400ms"],
      expect: cutRecovers),
    Case(
      testDescription: "an entry clears the fault", faults: [cut, "id: mend, at: 8s, clear: cut"], expect: cutRecovers),
    Case(
      testDescription: "several firings take it together",
      faults: [
        "id: cut, every: 200ms, of: 6s, times: 4, fault: link.blackhole, link: bob/home, for: 300ms"
      ], expect: cutRecovers),
    Case(
      testDescription: "the fault comes again because of itself",
      calls: """
          - { id: call, at: 1s, do: alice.call, to: bob }
          - { id: accept, at: 2s, do: bob.accept }
          - { id: bye, at: 40s, do: alice.hangup }
        """,
      faults: [
        "id: cut, when: alice.ice.state == connected, after: 3s, times: 2, fault: link.blackhole, link: bob/home, "
          + "for: 8s"
      ], expect: "recovers: cut, to: alice.ice.state == connected, within: 12s, hold: 1s"),
  ]

  @Test(arguments: taken)
  func `a fault without which nothing is lost is judged, whatever else comes between`(_ one: Case) throws {
    let result = try play(one.text)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: [(Int64(3_100), Verdict.fail), (9_000, .pass)])
  func `a firing in a later call is judged of that call`(_ within: Int64, _ verdict: Verdict) throws {
    let result = try play(
      Case(
        testDescription: "", topology: "run: 60s", bob: ", network: wifi",
        others: "  carol: { profile: knotos, network: satellite }",
        calls: """
            - { id: call, at: 1s, do: alice.call, to: bob }
            - { id: accept, at: 2s, do: bob.accept }
            - { id: bye, at: 22s, do: alice.hangup }
            - { id: call2, at: 24s, do: alice.call, to: carol }
            - { id: accept2, when: carol.call.state == ringing, after: 1s, do: carol.accept }
          """,
        faults: ["id: hole, every: 15s, times: 3, fault: link.blackhole, link: alice/home, for: 3s"],
        expect: "recovers: hole, to: media-both-ways, within: \(within)ms"
      ).text)
    #expect(result.verdict == verdict, "\(result.findings)")
    #expect(verdict == .pass || result.findings.first?.actual.hasPrefix("lost at 30.") == true, "\(result.findings)")
  }

  @Test(arguments: [1, 2])
  func `a firing is judged of who was in a call then, whoever is when it fires again`(times: Int) throws {
    let result = try play(
      Case(
        testDescription: "", topology: "run: 120s",
        others: Self.twoMore,
        calls: Self.bothCalls,
        faults: ["id: f, every: 30s, times: \(times), of: 3s, fault: link.blackhole, link: bob/home, for: 25s"],
        expect: "recovers: f, to: media-both-ways, within: 35s, hold: 2s"
      ).text)
    #expect(result.verdict == .fail, "\(result.findings)")
    #expect(result.findings.first?.actual.contains("and not back by 68.00 s") == true, "\(result.findings)")
  }

  @Test func `a firing is judged of whom no earlier one has taken`() throws {
    let peers = [("alice", true), ("bob", true), ("carol", false), ("dave", false)].map { name, restarts in
      "  \(name): { profile: knotos, network: home, ice: { policy: relay }, settings: { ice-restart: \(restarts) } }"
    }
    let result = try play(
      """
      callsim: 1
      id: test
      topology: { turn: true }
      peers:
      \(peers.joined(separator: "\n"))
      run: 70s
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { when: dave.call.state == ringing, after: 1s, do: dave.accept }
        - { at: 9s, do: carol.call, to: dave }
        - { id: f, every: 6s, of: 2s, times: 2, fault: turn.restart, server: turn }
      expect:
        - { recovers: f, to: media-both-ways, within: 25s, hold: 2s }
      """)
    #expect(result.verdict == .fail, "\(result.findings)")
    #expect(result.findings.first?.actual.contains("and not back by 39.00 s") == true, "\(result.findings)")
  }

  @Test func `a loss is that of everybody who was in a call, whoever is waited for later`() throws {
    let result = try play(
      Case(
        testDescription: "", topology: "run: 45s",
        calls: Self.oneCall,
        faults: [
          "id: f, every: 10s, times: 2, fault: packet.drop, protocol: rtp, from: alice, count: 1",
          "at: 10s, fault: packet.drop, protocol: rtp, from: bob, for: 9s",
          "at: 12s, fault: packet.drop, protocol: rtp, from: alice, for: 9s",
        ], expect: "recovers: f, to: media-both-ways, within: 15s"
      ).text)
    #expect(result.verdict == .vacuous, "\(result.findings)")
  }

  @Test func `a recovery stands when one of the firings took what was lost, whichever was over first`() throws {
    let result = try play(
      Case(
        testDescription: "", topology: "run: 50s",
        others: Self.twoMore,
        calls: Self.bothCalls,
        faults: [
          "id: f, every: 10s, times: 2, fault: packet.drop, protocol: rtp, from: alice, for: 12s",
          "at: 20100ms, fault: packet.drop, protocol: rtp, from: carol, for: 3s",
        ], expect: "recovers: f, to: media-both-ways, within: 25s"
      ).text)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `what a later firing takes is its own though without the first it would not be there`() throws {
    let result = try play(
      Case(
        testDescription: "", topology: "run: 260s",
        others: Self.twoMore,
        calls: """
            - { at: 0s, do: alice.call, to: bob }
            - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
            - { when: dave.call.state == ringing, after: 1s, do: dave.accept }
            - { id: lost, when: not carol.socket.state == connected and alice.call.state == connected, do: alice.hangup }
            - { after: 30s, of: lost, do: carol.call, to: dave }
          """,
        faults: ["id: f, every: 100s, times: 2, fault: link.blackhole, link: carol/home, for: 30s"],
        expect: "recovers: f, to: media-both-ways, within: 5s, hold: 1s"
      ).text)
    #expect(result.verdict == .fail, "\(result.findings)")
    #expect(result.findings.first?.actual.contains("and not back by 205.00 s") == true, "\(result.findings)")
  }

  @Test func `a later firing that takes it fails though the first came before there was anything to take`() throws {
    let result = try play(
      Case(
        testDescription: "", topology: "run: 30s",
        faults: ["id: f, every: 2s, times: 3, fault: packet.drop, protocol: rtp, to: alice, for: 1900ms"],
        expect: "recovers: f, to: media-both-ways, within: 1s"
      ).text)
    #expect(result.verdict == .fail, "\(result.findings)")
  }

  @Test func `a failure that another fault made leaves the later firings to be judged`() throws {
    func result(times: Int, other: String) throws -> RunResult {
      try play(
        Case(
          testDescription: "", topology: "run: 80s",
          calls: Self.oneCall,
          faults: [
            "id: f, every: 20s, times: \(times), fault: packet.drop, protocol: rtp, from: alice, for: 3s",
            "at: \(other), fault: packet.drop, protocol: rtp, from: bob, for: 5s",
          ], expect: "recovers: f, to: media-both-ways, within: 2s"
        ).text)
    }
    let failed = try result(times: 3, other: "20100ms")
    #expect(failed.verdict == .fail, "\(failed.findings)")
    let finding = try #require(failed.findings.first)
    #expect(finding.actual.contains("and not back by 42.00 s"))
    #expect(finding.time == .zero + .seconds(42))
    #expect(finding.actual.contains("it was back at 43."))
    #expect(finding.faults.contains { $0.contains("40.00 s") }, "\(finding.faults)")
    #expect(try result(times: 1, other: "20100ms").verdict == .vacuous)
    #expect(try result(times: 2, other: "40100ms").findings.first?.actual.contains("and not back by 22.00 s") == true)
  }

  @Test func `a failure is of those who are still waited for`() throws {
    let result = try play(
      Case(
        testDescription: "", topology: "run: 50s",
        others: Self.twoMore,
        calls: Self.bothCalls,
        faults: [
          "id: f, every: 10s, times: 2, fault: packet.drop, protocol: rtp, from: alice, for: 30s",
          "at: 24s, fault: packet.drop, protocol: rtp, from: carol, for: 3s",
        ], expect: "recovers: f, to: media-both-ways, within: 15s"
      ).text)
    #expect(result.verdict == .fail, "\(result.findings)")
    #expect(result.findings.first?.actual.contains("and not back by 25.00 s") == true)
  }

  @Test func `a failure stands when nothing is missing without the fault`() throws {
    let result = try play(
      Case(
        testDescription: "", faults: ["\(Self.cut), for: 6s", "id: x, at: 12500ms, do: bob.mute"],
        expect: "recovers: cut, to: media-both-ways, within: 4s"
      ).text)
    #expect(result.verdict == .fail)
    #expect(result.findings.first?.actual.contains("not back by 10.00 s") == true, "\(result.findings)")
  }

  // MARK: The run itself

  @Test func `the run without the fault writes nothing and changes nothing of the run that is judged`() throws {
    let one = Case(
      testDescription: "", topology: "run: 30s", faults: ["\(Self.cut), for: 2s"],
      expect: Self.cutRecovers)
    /// What receives everything that a run may write.
    func listened(_ text: String) throws -> (result: RunResult, lines: TraceLines, worlds: Int, keys: Int) {
      let lines = TraceLines(["timeline.fired", "fault.applied", "fault.cleared"])
      var (worlds, keys) = (0, 0)
      var outputs = RunOutputs()
      outputs.observers = [lines]
      outputs.worldBuilt = { _ in worlds += 1 }
      outputs.keyLog = { _ in keys += 1 }
      let result = try play(text, outputs: outputs)
      return (result, lines, worlds, keys)
    }
    let judged = try listened(one.text)
    let other = try listened(one.text.replacing(Self.cutRecovers, with: "sometimes: alice.call.state == connected"))
    #expect(judged.result.verdict == .pass)
    #expect(judged.result.traceHash == other.result.traceHash)
    #expect(judged.result.eventCount == other.result.eventCount)
    #expect(judged.lines.lines == other.lines.lines)
    #expect(judged.lines.lines.filter { $0.contains("timeline.fired cut") }.count == 1)
    #expect(judged.worlds == 1)
    #expect(judged.keys == other.keys)
  }

  @Test func `a run that asks one without its fault is the same every time`() throws {
    let one = try #require(Self.takenByOthers.first)
    var results = [try play(one.text), try play(one.text)]
    for index in results.indices { results[index].cpuSeconds = 0 }
    #expect(results[0] == results[1])
  }

  @Test func `what the fault took is asked for each target and each fault by itself`() throws {
    let result = try play(
      Case(
        testDescription: "",
        faults: [
          "id: mine, at: 11s, fault: link.blackhole, link: bob/home, direction: rx, for: 5s",
          "id: other, at: 11s, fault: link.blackhole, link: bob/home, direction: tx, for: 5s",
        ],
        expect: """
          recovers: mine, to: bob.audible, within: 10s }
            - { recovers: mine, to: alice.audible, within: 10s }
            - { recovers: other, to: bob.audible, within: 10s }
            - { recovers: other, to: alice.audible, within: 10s
          """
      ).text)
    let refuted = result.findings.map { "\($0.title)".contains("recovers: mine") ? "mine" : "other" }
    #expect(refuted == ["mine", "other"], "\(result.findings)")
    #expect(result.findings.map { $0.title.contains("bob.audible") } == [false, true], "\(result.findings)")
  }

  @Test func `a run without the fault that cannot be played costs its own verdict alone`() throws {
    let text = Case(
      testDescription: "", topology: "run: 9s",
      calls: """
          - { id: call, at: 1s, do: alice.call, to: bob }
          - { id: accept, at: 2s, do: bob.accept }
          - { id: far, when: bob.stats.inbound-rtp.audio.packetsReceived > 210, fault: link.down, link: alice/home }
        """, faults: [Self.cut],
      expect: "recovers: cut, to: media-both-ways, within: 2s }\n  - { always: alice.call.state == idle"
    ).text
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry)
    let problems = loaded.report.rendered(as: .text(color: false))
    var cell = try #require(loaded.scenario?.cells.first, "\(problems)")
    let index = try #require(cell.scenario.timeline.firstIndex { $0.id == "far" })
    cell.scenario.timeline[index].effect = .fault(Fault(kind: .linkDown), duration: nil)
    let result = try SingleRun(cell: cell, seed: 1, path: "test.yaml").execute()
    #expect(result.verdict == .inconclusive)
    #expect(result.traceHash != 0)
    #expect(result.findings.contains { $0.kind == .expectation && $0.title.hasPrefix("always") })
    let unanswered = try #require(result.findings.first { $0.kind == .harness })
    #expect(unanswered.title == "recovers: cut")
    #expect(
      unanswered.actual == "that run could not be played: timeline entry 'far': link.down needs 'link'")
  }

  @Test func `nothing is left of a stage that is closed in the midst of a fault`() throws {
    let text = Case(testDescription: "", faults: ["\(Self.cut), for: 2s"], expect: Self.cutRecovers).text
    let catalogue = ProfileCatalogue.builtIn
    let file = ScenarioFile.load(text: text, path: "test.yaml", registry: catalogue.registry)
    let scenario = try #require(file.scenario?.cells.first?.scenario)
    weak var world: World?
    weak var simulator: Simulator?
    weak var record: AudioRecord?
    weak var traffic: PeerTraffic?
    do {
      let context = MonitorContext(listeningTo: scenario, catalogue.registry, RunOutputs())
      let stage = try RunStage(context, seed: 1, profiles: catalogue, outputs: RunOutputs())
      (world, simulator) = (stage.world, stage.world.simulator)
      record = stage.world.peer("alice")?.audioRecord
      let statistics = HonestStats(context) { _ in }
      traffic = statistics.traffic.first
      #expect(record != nil && traffic != nil)
      try stage.world.start()
      stage.play(until: .zero + .seconds(7)) { false }
      #expect(stage.faults.isInForce("cut"))
      context.close()
    }
    #expect(world == nil)
    #expect(simulator == nil)
    #expect(record == nil)
    #expect(traffic == nil)
  }
}
