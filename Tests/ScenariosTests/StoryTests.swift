import CallCore
import Formats
import Testing
import VirtualPeer

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// What a story keeps of a run, and what is made from it.
@Suite struct StoryTests {
  private func run(_ fault: String, seed: UInt64 = 1) throws -> RunResult {
    try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: home }
        bob: { profile: knotos, network: home }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
        - { id: trouble, at: 4s, fault: \(fault) }
      run: 12s
      expect:
        - { id: heard, always: alice.audible, between: [bob.connected, end] }
      """, seed: seed)
  }

  @Test func `the story of a failed run has states, faults, samples, pairs, drops, messages and media`() throws {
    let story = try #require(try run("link.blackhole, link: alice/home, for: 5s").story)
    #expect(story.participants.prefix(2).map(\.name) == ["alice", "bob"])
    #expect(story.machine("call.state", of: "alice")?.changes.elements.map(\.value).contains("connected") == true)
    let fault = try #require(story.faults.first)
    #expect(fault.label == "link.blackhole alice/home" && fault.targets == ["alice"] && fault.end != nil)
    #expect(Set(story.gauges.map(\.quantity)) == [.roundTrip, .loss, .bufferDelay])
    #expect(Set(story.pairs.elements.map(\.subject)) == ["alice", "bob"])
    #expect(story.drops.contains { $0.reason == "blackhole" && $0.counts.total > 100 })
    #expect(story.messages.contains { $0.type == "call_offer" && $0.receipts.count == 1 })
    #expect(story.userActions.elements.map(\.action).starts(with: ["call", "accept"]))
    let flow = try #require(story.flows.first { $0.from == "alice" && $0.to == "bob" })
    #expect(flow.received.total < flow.sent.total && flow.intervals.elements.count == 2)
  }

  @Test func `the story of a video call has the pictures that were shown and the estimated bandwidth`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      run: 12s
      peers:
        alice: { profile: knotos, network: home, video: {} }
        bob: { profile: knotos, network: home, video: {}, devices: { camera: none } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
      expect: [{ always: alice.visible, between: [bob.connected, end] }]
      """)
    let story = try #require(result.story)
    let gauges = Dictionary(grouping: story.gauges, by: \.quantity)
    #expect(gauges[.frameRate]?.map(\.subject) == ["bob"])
    #expect(gauges[.frameRate]?.first?.points.points.last.map { (29...31).contains($0.value) } == true)
    #expect(gauges[.bandwidth]?.contains { $0.subject == "alice" } == true)
    #expect(story.machine("visible", of: "bob")?.changes.elements.prefix(2).map(\.value) == ["false", "true"])
  }

  @Test func `a story is the same after it went to another process`() throws {
    let story = try #require(try run("signal.drop, message: call_hangup").story)
    #expect(RunStory(json: try JSON(parsing: story.json.description.utf8)) == story)
    #expect(RunStory(json: try JSON(parsing: story.thinned().json.description.utf8)) == story.thinned())
    #expect(RunStory(json: ["end": 1]) == nil)
  }

  // MARK: Bounds

  @Test func `a bounded list keeps its beginning and its end and counts the rest`() {
    var list = Bounded<Int>(limit: 4)
    for number in 1...10 { list.append(number) }
    #expect(list.elements == [1, 2, 9, 10] && list.omitted == 6 && list.total == 10 && list.last == 10)
    list.changeLast { $0 = 11 }
    #expect(list.elements == [1, 2, 9, 11])
    list.limit(to: 2)
    #expect(list.elements == [1, 11] && list.total == 10)
  }

  @Test func `a series of any length stays of one size, with its total, its peak and its dip`() {
    var bins = BinnedSeries()
    var points = ThinnedSeries()
    for second in 0..<100_000 {
      let time = Instant.zero + .milliseconds(Int64(second) * 100)
      bins.add(1, at: time)
      points.add(second == 70_000 ? 9 : second == 30_000 ? 0 : 1, at: time)
    }
    #expect(bins.total == 100_000 && bins.amounts.count <= 480)
    #expect(points.points.count <= 482 && points.points.map(\.time) == points.points.map(\.time).sorted())
    #expect(points.points.map(\.value).max() == 9 && points.points.map(\.value).min() == 0)
  }

  @Test func `a machine that changes all the time keeps the rest of the story small`() {
    let trace = Trace()
    let collector = StoryCollector(nil, trace: trace)
    let state = PeerConnectionEvents.state("ice.state")
    for number in 0..<10_000 {
      trace.now = .zero + .milliseconds(Int64(number))
      let value = number.isMultiple(of: 2) ? "checking" : "failed"
      trace.write(state, trace.subject("alice/connection/2"), value, value)
    }
    let changes = collector.story.machine("ice.state", of: "alice/connection/2")?.changes
    #expect(changes?.elements.count == 256 && changes?.total == 10_000)
  }

  // MARK: Messages

  /// The messages of alice to bob, by when they were sent, with when each was received.
  private func receipts(_ body: (_ at: (Int64, () -> Void) -> Void, _ peers: Messengers) -> Void) -> [Int64?] {
    let trace = Trace()
    let collector = StoryCollector(nil, trace: trace)
    let peers = Messengers(trace: trace)
    body(
      { time, act in
        trace.now = .zero + .milliseconds(time)
        act()
      }, peers)
    return collector.story.messages.map { $0.receipts.first.map { ($0.time - .zero).milliseconds } }
  }

  private struct Messengers {
    let trace: Trace

    func send(_ type: String) { trace.write(ServerEvents.messageSent, trace.subject("alice"), type, "bob", false) }
    func receive(_ type: String) { trace.write(ServerEvents.messageReceived, trace.subject("bob"), type, "alice") }
    func fault(_ effect: String, _ type: String) {
      trace.write(ServerEvents.messageFaulted, trace.subject("signalling"), effect, type, "alice", "bob")
    }
  }

  @Test func `of two messages of one type that changed places the later one came first`() {
    let times = receipts { at, peers in
      at(0) { peers.send("candidate") }
      at(10) { peers.fault("reorder", "candidate") }
      at(20) { peers.send("candidate") }
      at(40) { peers.receive("candidate") }
      at(41) { peers.receive("candidate") }
    }
    #expect(times == [41, 40])
  }

  @Test func `a message that overtakes another is not held itself`() {
    let times = receipts { at, peers in
      for number in 0..<3 { at(Int64(number) * 20) { peers.send("candidate") } }
      at(10) { peers.fault("reorder", "candidate") }
      at(30) { peers.fault("reorder", "candidate") }
      at(60) { peers.receive("candidate") }
      at(61) { peers.receive("candidate") }
      at(80) { peers.receive("candidate") }
    }
    #expect(times == [61, 60, 80])
  }

  @Test func `messages that nothing holds come in order, and so does one that nobody overtakes in time`() {
    let times = receipts { at, peers in
      at(0) { peers.send("candidate") }
      at(10) { peers.fault("reorder", "candidate") }
      at(1_030) { peers.receive("candidate") }
      at(1_500) { peers.send("candidate") }
      at(1_520) { peers.receive("candidate") }
    }
    #expect(times == [1_030, 1_520])
  }

  // MARK: Signatures

  /// Bob hears something too late, or never.
  private func tooLate(_ fault: String, seed: UInt64 = 1) throws -> Finding {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
        - { at: 0s, fault: \(fault) }
      run: 8s
      expect:
        - { id: heard, eventually: bob.audible, within: 2s, of: bob.ringing }
      """, seed: seed)
    return try #require(result.findings.first)
  }

  @Test func `seeds that fail alike have one signature, whatever was measured`() throws {
    let delay = "signal.delay, message: call_answer, by: 3s"
    let findings = try (1...4).map { try tooLate(delay, seed: $0) }
    #expect(Set(findings.map(\.signature.text)) == ["heard | bob.call.state: idle>ringing>connecting"])
    #expect(Set(findings.map(\.actual)).count > 1)
    #expect(findings.allSatisfy { $0.window != nil })
  }

  @Test func `another way to the same failure is another signature`() {
    let courses = [("a", nil), ("b", nil), ("b", "ice-failed")].map { state, code in
      FindingSignature("heard", [.init(machine: "bob.call.state", states: ["ringing", state], code: code)]).text
    }
    #expect(
      courses == [
        "heard | bob.call.state: ringing>a", "heard | bob.call.state: ringing>b",
        "heard | bob.call.state: ringing>b (ice-failed)",
      ])
  }

  @Test func `groups of failures go by signatures, not by prose`() {
    var other = Sample.failure
    (other.title, other.actual) = ("the same in other words", "no media after 19 s")
    let runs = [Sample.failure, other].map { Sample.run(.fail, findings: [$0]).result }
    #expect(FailureGroup.signature(of: runs[0]) == FailureGroup.signature(of: runs[1]))
    other.signature = FindingSignature("#9")
    #expect(
      FailureGroup.signature(of: runs[0]) != FailureGroup.signature(of: Sample.run(.fail, findings: [other]).result))
  }

  @Test func `reports tell the signature`() throws {
    let runs = [Sample.run(.fail, findings: [Sample.failure])]
    var named = runs
    named[0].result.findings[0].signature = FindingSignature("media-back | alice.call.state: a>b")
    let text = named[0].result.findings[0].signature.text
    #expect(Sample.output(of: named) { JSONLinesReporter(write: $0) }.contains("\"signature\":\"\(text)\""))
    #expect(Sample.output(of: named) { TAPReporter(write: $0) }.contains("signature: \"\(text)\""))
    #expect(
      Sample.output(of: named) { JUnitReporter(write: $0) }.contains("<property name=\"signature\" value=\"media-back"))
    #expect(Sample.output(of: named) { GitHubReporter(write: $0, writeSummary: nil) }.contains("signature: \(text)"))
    #expect(RunResult(json: named[0].result.json)?.findings == named[0].result.findings)
  }
}
