import CallCore
import Formats
import Profiles
import Testing
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// What the coverage of a run counts.
@Suite struct CoverageTests {
  typealias Event = RunCoverage.StateEvent
  typealias Transition = RunCoverage.Transition

  static let twoPhones = """
    callsim: 1
    id: test
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifi }
    timeline:
      - { at: 1s, do: alice.call, to: bob }
      - { at: 3s, do: bob.accept }
      - { id: bye, at: 10s, do: alice.hangup }
    expect:
      - { ends: bob, code: remote-hangup, within: 1s, of: bye }
    """

  private func covered(_ text: String = twoPhones) throws -> RunCoverage {
    var outputs = RunOutputs()
    outputs.wantsCoverage = true
    return try #require(try play(text, outputs: outputs).coverage)
  }

  private func count<Element>(_ element: Element, _ list: [RunCoverage.Counted<Element>]) -> Int {
    list.first { $0.element == element }?.count ?? 0
  }

  @Test func `a call covers transitions, codes and messages of both phones together`() throws {
    let coverage = try covered()
    #expect(coverage.profiles.map(\.name) == ["knotos"])
    let profile = try #require(coverage.profile("knotos"))
    #expect(count(Transition("call.state", "idle", "calling", on: "startCall"), profile.transitions) == 1)
    #expect(count(Transition("call.state", "connecting", "connected", on: "ICE and DTLS"), profile.transitions) == 2)
    #expect(count(Transition("dtls.state", "connecting", "connected", on: ""), profile.transitions) == 2)
    #expect(profile.endCodes == [.init("local-hangup", 1), .init("remote-hangup", 1)])
    #expect(profile.errorCodes.isEmpty && profile.illegal.isEmpty)
    #expect(count("call_offer", profile.sent) == 1 && count("call_offer", profile.received) == 1)
    #expect(count("call_hangup", profile.sent) == 1)
  }

  @Test func `an event that a transition follows is told from one that is ignored`() throws {
    let events = try #require(try covered().profile("knotos")).events
    #expect(count(Event("idle", .action, "call", isFollowed: true), events) == 1)
    #expect(count(Event("idle", .message, "call_offer", isFollowed: true), events) == 1)
    #expect(count(Event("ringing", .action, "accept", isFollowed: true), events) == 1)
    #expect(count(Event("connected", .message, "call_hangup", isFollowed: true), events) == 1)
    #expect(count(Event("ringing", .message, "ice_candidate", isFollowed: false), events) > 0)
    #expect(!events.contains { $0.element.name == "ice_candidate" && $0.element.isFollowed })
    #expect(count(Event("connecting", .cause, "ICE and DTLS", isFollowed: true), events) == 2)
  }

  @Test func `links and the preferred network are events of their peer, from the first change on`() throws {
    let text = """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, networks: [wifi, lte] }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 1s, fault: link.down, link: alice/wifi, for: 1s }
      run: 4s
      expect:
        - { always: alice.call.state == idle }
      """
    let events = try #require(try covered(text).profile("knotos")).events
    #expect(
      events.filter { $0.element.kind == .network }.map(\.element.name) == ["link down", "link up", "network change"])
    #expect(count(Event("idle", .network, "link down", isFollowed: false), events) == 1)
    #expect(count(Event("idle", .network, "network change", isFollowed: false), events) == 2)
  }

  @Test func `joint states are those of all peers of a profile, in the order of the file`() throws {
    let joint = try #require(try covered().profile("knotos")).joint.map(\.element.states)
    #expect(joint.contains(["idle", "idle"]) && joint.contains(["calling", "ringing"]))
    #expect(joint.contains(["connected", "connected"]) && !joint.contains(["ringing", "calling"]))
    #expect(joint.allSatisfy { $0.count == 2 })
  }

  @Test func `the end of a run covers nothing`() throws {
    let unended = """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { at: 3s, do: bob.accept }
      expect:
        - { eventually: bob.call.state == connected, within: 9s, of: start }
      """
    let profile = try #require(try covered(unended).profile("knotos"))
    #expect(count(Transition("call.state", "connecting", "connected", on: "ICE and DTLS"), profile.transitions) == 2)
    #expect(count("call_hangup", profile.sent) == 0)
    #expect(!profile.transitions.contains { $0.element.to == "closed" })
  }

  @Test func `a puppet has no coverage`() throws {
    let text = """
      callsim: 1
      id: test
      peers:
        victim: { profile: knotos, network: wifi }
        mallory: { stack: puppet }
      timeline:
        - { at: 2s, send: call_offer, from: mallory, to: victim, fields: { callId: m1, offer: "v=0" } }
        - { at: 3s, do: victim.decline }
      expect:
        - { eventually: victim.call.state == ringing, within: 3s, of: start }
      """
    let profile = try #require(try covered(text).profile("knotos"))
    #expect(count("call_offer", profile.sent) == 0 && count("call_offer", profile.received) == 1)
    #expect(profile.joint.allSatisfy { $0.element.states.count == 1 })
    #expect(profile.errorCodes == [.init("kn.declined", 1)])
  }

  @Test func `a run has a coverage only if it is wanted, and the same events with and without`() throws {
    var outputs = RunOutputs()
    let plain = try play(Self.twoPhones, outputs: outputs)
    outputs.wantsCoverage = true
    let covered = try play(Self.twoPhones, outputs: outputs)
    #expect(plain.coverage == nil && covered.coverage != nil)
    #expect(plain.traceHash == covered.traceHash && plain.eventCount == covered.eventCount)
  }

  @Test func `the same run has the same coverage`() throws {
    let (one, other) = (try covered(), try covered())
    #expect(one == other && one.features == other.features)
  }

  // MARK: Traces written by hand

  /// The coverage of a trace in which alice's app is driven by hand.
  private func covered(_ body: (Trace, PeerTrace, CoverageCollector) -> Void) throws -> RunCoverage.Profile {
    let registry = ProfileCatalogue.builtIn.registry
    let file = try #require(ScenarioFile.load(text: Self.twoPhones, path: "t", registry: registry).scenario)
    let (scenario, trace) = (file.cells[0].scenario, Trace())
    let watch = Watch(trace: trace)
    defer { watch.close() }
    let collector = CoverageCollector(
      MonitorContext(
        scenario: scenario, watch: watch, anchors: Anchors(scenario, watch: watch), profiles: registry, wire: WireTap(),
        statistics: StatsReader(), story: StoryCollector(scenario, trace: trace)))
    body(trace, PeerTrace(trace: trace, peer: "alice", vocabulary: KnotosApp.vocabulary), collector)
    return try #require(collector.coverage.profile("knotos"))
  }

  @Test func `a transition that the app may not make is counted apart`() throws {
    let profile = try covered { _, alice, _ in alice.enter("call.state", "connected", on: "magic") }
    #expect(profile.illegal == [.init(Transition("call.state", "idle", "connected", on: "magic"), 1)])
    #expect(profile.transitions.isEmpty && profile.joint.isEmpty)
  }

  @Test func `nothing counts after the end`() throws {
    let profile = try covered { _, alice, collector in
      collector.end()
      alice.enter("call.state", "calling", on: "startCall")
      alice.end("declined")
      alice.signalSent(type: "call_offer", to: "bob", isLost: false)
    }
    #expect(profile == RunCoverage.Profile("knotos"))
  }

  @Test func `a transition of the same instant with another cause does not follow from the event`() throws {
    for (cause, isFollowed) in [(EventNumber(7), true), (EventNumber(9), false)] {
      let profile = try covered { trace, alice, _ in
        trace.cause = EventNumber(7)
        trace.write(PeerEvents.action, trace.subject("alice"), "call", "bob")
        trace.cause = cause
        alice.enter("call.state", "calling", on: "startCall")
      }
      #expect(count(Event("idle", .action, "call", isFollowed: isFollowed), profile.events) == 1)
      #expect(count(Event("idle", .action, "call", isFollowed: !isFollowed), profile.events) == 0)
    }
  }

  @Test func `a message without a connection to carry it is not sent`() throws {
    let profile = try covered { _, alice, _ in
      alice.signalSent(type: "call_offer", to: "bob", isLost: true)
      alice.signalSent(type: "call_hangup", to: "bob", isLost: false)
    }
    #expect(profile.sent == [.init("call_hangup", 1)])
  }

  // MARK: Ways to other processes

  @Test func `a coverage is the same after it went to another process`() throws {
    let coverage = try covered()
    #expect(RunCoverage(json: try JSON(parsing: coverage.json.description.utf8)) == coverage)
    #expect(RunCoverage(json: ["profiles": [["name": "x"]]]) == nil)
    #expect(RunCoverage(json: []) == nil)
  }

  @Test func `a job that wants a coverage gets one through the pipe`() throws {
    let source = ScenarioSource([.init(path: "t.yaml", text: Self.twoPhones)])
    var job = RunJob(source: source, cellID: "test", seed: 1)
    for isWanted in [true, false] {
      job.wantsCoverage = isWanted
      let line = job.json(hasFiles: true).description
      let read = try #require(RunJob(json: JSON(parsing: line.utf8)))
      #expect(read == job)
      var worker = WorkerLoop(profiles: .builtIn)
      let reply = try JSON(parsing: worker.execute(read).json.description.utf8)
      guard case .result(let result) = try #require(WorkerReply(json: reply)) else { continue }
      #expect((result.coverage != nil) == isWanted)
    }
  }

  // MARK: Features

  @Test func `features are FNV-1a hashes of names, each once, with their counts`() throws {
    // The test vectors of draft-eastlake-fnv.
    #expect(RunCoverage.hash([]) == 0xCBF2_9CE4_8422_2325)
    #expect(RunCoverage.hash(["a"]) == 0xAF63_DC4C_8601_EC8C)
    #expect(RunCoverage.hash(["foobar"]) == 0x8594_4171_F739_67E8)
    let coverage = try covered()
    let features = coverage.features
    #expect(features.map(\.hash) == Set(features.map(\.hash)).sorted())
    let connected = RunCoverage.hash(["knotos", "call.state", "connecting", "connected", "ICE and DTLS"])
    #expect(features.first { $0.hash == connected }?.count == 2)
    let joint = RunCoverage.hash(["knotos", "joint", "calling", "ringing"])
    #expect(features.first { $0.hash == joint }?.count == 1)
  }
}
