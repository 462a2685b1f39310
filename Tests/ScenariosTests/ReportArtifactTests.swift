import CallCore
import Formats
import Foundation
import Testing
import VirtualPeer
import Vocabulary

@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

@Suite struct ReportArtifactTests {
  /// A folder that is gone after the test.
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "callsim-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test func `a WAV file says how long it is`() throws {
    try withFolder { folder in
      let file = try WAVFile(path: folder + "/a.wav")
      let samples: [Int16] = [1, -2, 3]
      file.append(samples.span)
      file.append(samples.span)
      try file.close()
      let bytes = Array(try #require(FileManager.default.contents(atPath: folder + "/a.wav")))
      #expect(bytes.count == 44 + 12)
      #expect(Array(bytes[0..<4]) == Array("RIFF".utf8) && Array(bytes[4..<8]) == [48, 0, 0, 0])
      #expect(Array(bytes[24..<28]) == [0x80, 0xBB, 0, 0])
      #expect(Array(bytes[40..<44]) == [12, 0, 0, 0])
      #expect(Array(bytes[44..<50]) == [1, 0, 0xFE, 0xFF, 3, 0])
    }
  }

  @Test func `whoever has no space for a run's files is told to free some`() throws {
    let full = try FileSink(path: "/dev/full")
    full.write("trace")
    let error = try #require(throws: FileError.self) { try full.close() }
    #expect(
      JobError(artifacts: error).message == "/dev/full: not everything could be written: No space left on device. "
        + "Free some space or choose --artifacts none.")
  }

  @Test func `a trace file has one event a line with its names`() throws {
    try withFolder { folder in
      let file = try TraceFile(path: folder + "/t.jsonl")
      let trace = Trace()
      trace.add(file)
      let kind = TraceEvent("ice.state", ("value", String.self), ("took", Interval.self))
      trace.now = .zero + .milliseconds(5)
      trace.write(kind, trace.subject("alice"), "a\"b\n", Interval.seconds(1))
      trace.write(kind, trace.subject("bob"), cause: EventNumber(1), "x", Interval.zero)
      try file.close()
      let text = try String(contentsOfFile: folder + "/t.jsonl", encoding: .utf8)
      #expect(
        text == """
          {"t":5000000,"n":1,"subject":"alice","kind":"ice.state","fields":{"value":"a\\"b\\n","took":1000000000}}
          {"t":5000000,"n":2,"subject":"bob","kind":"ice.state","fields":{"value":"x","took":0},"cause":1}

          """)
    }
  }

  @Test func `the first difference of two traces is named`() throws {
    let one = #"{"t":1000000,"n":2,"subject":"alice","kind":"ice.state","fields":{"value":"checking"}}"#
    let other = #"{"t":1000000,"n":2,"subject":"alice","kind":"ice.state","fields":{"value":"failed"}}"#
    try withFolder { folder in
      try "same\n\(one)\n".write(toFile: folder + "/a", atomically: true, encoding: .utf8)
      try "same\n\(other)\n".write(toFile: folder + "/b", atomically: true, encoding: .utf8)
      let difference = try #require(TraceComparison.firstDifference(folder + "/a", folder + "/b"))
      #expect(difference.summary == "event 2 at 0.001 s, alice ice.state: value \"checking\" or \"failed\"")
      #expect(difference.time == .zero + .milliseconds(1))
      #expect(TraceComparison.firstDifference(folder + "/a", folder + "/a") == nil)
    }
  }

  @Test func `a trace that ends early differs where it ends`() {
    let difference = TraceComparison.difference(3, nil, #"{"t":7,"n":3,"subject":"bob","kind":"x"}"#)
    #expect(difference.summary == "event 3 at 0.000 s, bob x: only one of the runs has it")
    #expect(difference.lines == ["one run: no more events", #"another: {"t":7,"n":3,"subject":"bob","kind":"x"}"#])
  }

  @Test(arguments: [
    ("hello#1", "callsim-runs/hello#1"),
    ("nat/cgnat[turn=tcp,net=lte/edge]#7", "callsim-runs/nat/cgnat[turn=tcp,net=lte%2Fedge]#7"),
    ("a[x=10%]#1", "callsim-runs/a[x=10%25]#1"), ("a[x=é b]#1", "callsim-runs/a[x=é%20b]#1"),
  ])
  func `a run's folder has the run's name`(id: String, path: String) {
    #expect(RunDirectory().path(of: id) == path)
  }

  @Test func `a sequence diagram shows messages, states, faults and what users do`() {
    let trace = Trace()
    let collector = StoryCollector(nil, trace: trace)
    let vocabulary = SmallVocabulary.small
    let alice = PeerTrace(trace: trace, peer: "alice", vocabulary: vocabulary)
    alice.signalSent(type: "offer; #1", to: "bob", isLost: false)
    alice.signalSent(type: "bye", to: "bob", isLost: true)
    trace.now = .zero + .milliseconds(1_500)
    alice.enter("call.state", "calling", on: "call")
    let fired = RunEvents.fired
    trace.write(fired, trace.subject("scenario"), "drop")
    trace.write(fired, trace.subject("scenario"), "#2")
    let action = PeerEvents.action
    trace.write(action, trace.subject("alice"), "call", "bob")
    trace.write(action, trace.subject("alice"), "mute", "")
    let audible = PeerEvents.audible
    trace.write(audible, trace.subject("bob"), true)
    let fault = RunEvents.faultApplied
    trace.write(fault, trace.subject("scenario"), "drop", "link.down")
    #expect(
      SequenceDiagram(collector.story).text == """
        sequenceDiagram
          participant P0 as alice
          participant P1 as bob
          P0->>P1: offer#59; #35;1 (0.000 s)
          P0-xP1: bye (0.000 s)
          Note over P0: call.state calling (1.500 s)
          Note over P0,P1: entry drop (1.500 s)
          Note over P0: user call bob (1.500 s)
          Note over P0: user mute (1.500 s)
          Note over P1: audible true (1.500 s)
          Note over P0,P1: fault link.down [drop] (1.500 s)

        """)
  }

  /// The lines of a diagram about the answer of a call whose signalling has a fault.
  private func answers(with fault: String) throws -> [String] {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi, id: somebody }
        bob: { profile: knotos, network: wifi, id: else }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 2s, do: bob.accept }
        - { at: 1s, fault: \(fault) }
      run: 8s
      expect:
        - { eventually: bob.call.state == ringing, within: 2s, of: start }
      """)
    return SequenceDiagram(try #require(result.story)).text.split(separator: "\n").filter { $0.contains("call_answer") }
      .map {
        // The times of the run are not what this is about.
        $0.trimmingCharacters(in: .whitespaces).replacing(/\d\.\d{3} s/, with: "T")
      }
  }

  @Test(arguments: [
    ("signal.drop, message: call_answer", ["P1-xP0: call_answer (T, drop)"]),
    ("signal.blackhole, message: call_answer", ["P1-xP0: call_answer (T, blackhole)"]),
    (
      "signal.delay, message: call_answer, by: 3s",
      ["Note over P1: sends call_answer (T, delay)", "P1->>P0: call_answer (T, sent T)"]
    ),
    (
      "signal.duplicate, message: call_answer",
      ["P1->>P0: call_answer (T, duplicate)", "P1->>P0: call_answer (T, sent T, again)"]
    ),
    ("signal.corrupt, message: call_answer", ["P1->>P0: call_answer (T, corrupt)"]),
    ("signal.drop, message: call_hangup", ["P1->>P0: call_answer (T)"]),
  ])
  func `a sequence diagram draws a message by what became of it`(fault: String, lines: [String]) throws {
    #expect(try answers(with: fault) == lines)
  }

  @Test func `a sequence diagram stays readable however long the run`() {
    let trace = Trace()
    let collector = StoryCollector(nil, trace: trace)
    let alice = PeerTrace(trace: trace, peer: "alice", vocabulary: SmallVocabulary.small)
    for _ in 0..<1_000 { alice.signalSent(type: "x", to: "bob", isLost: false) }
    let lines = SequenceDiagram(collector.story).text.split(separator: "\n")
    #expect(lines.count == SequenceDiagram.lineLimit + 4)
    #expect(lines.last == "  Note over P0: and 800 more")
  }

  @Test func `a timeline shows the topics that were asked for, up to a time`() {
    let trace = Trace()
    let text = Sample.TextBox()
    trace.add(TraceTimeline(topics: ["ice"], until: .zero + .seconds(1)) { text.value += $0 })
    let subject = trace.subject("alice")
    let ice = TraceEvent("ice.state", ("value", String.self))
    let gathering = TraceEvent("ice-gathering.state", ("value", String.self))
    let iceberg = TraceEvent("iceberg", ("value", String.self))
    for kind in [ice, gathering, iceberg] { trace.write(kind, subject, "new") }
    trace.now = .zero + .seconds(2)
    trace.write(ice, subject, "failed")
    let kinds = text.value.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst(3).first }
    #expect(kinds == ["ice.state", "ice-gathering.state"])
    trace.removeObservers()
  }

  @Test(
    arguments: [
      (["turn"], ["allocated", "packet.sent", "turn.refused"]), (["turn", "-packet"], ["allocated", "turn.refused"]),
      (["-alice"], ["allocated"]), (["turn", "-alice"], ["allocated", "packet.sent"]),
    ] as [([String], [String])])
  func `a timeline leaves out what follows a minus`(topics: [String], kinds: [String]) {
    let trace = Trace()
    let text = Sample.TextBox()
    let timeline = TraceTimeline(topics: topics, until: nil) { text.value += $0 }
    trace.add(timeline)
    let server = trace.subject("turn")
    trace.write(TraceEvent("allocated", ("value", String.self)), server, "x")
    trace.write(TraceEvent("packet.sent", ("value", String.self)), server, "x")
    trace.write(TraceEvent("turn.refused", ("value", String.self)), trace.subject("alice"), "x")
    let shown = text.value.split(separator: "\n").compactMap { line in
      line.split(separator: " ").dropFirst(3).first.map { String($0) }
    }
    #expect(shown == kinds)
    #expect(timeline.unknownTopics.isEmpty)
    trace.removeObservers()
  }

  @Test func `a name that no event has is unknown to a timeline`() {
    let trace = Trace()
    let timeline = TraceTimeline(topics: ["wire", "-dtls", "ice"], until: nil) { _ in }
    trace.add(timeline)
    _ = (trace.subject("wire"), trace.declare(TraceEvent("dtls.state", ("value", String.self))))
    trace.write(TraceEvent("ice.state", ("value", String.self)), trace.subject("alice"), "new")
    #expect(timeline.unknownTopics == ["wire", "dtls"])
    #expect(timeline.names == ["alice", "ice", "ice.state", "alice"])
    trace.removeObservers()
  }
}

enum SmallVocabulary {
  static let small = ProfileVocabulary(
    profile: "small", summary: "",
    machines: [
      StateMachine(
        "call.state", states: [.init("idle", ""), .init("calling", "")],
        transitions: [.init("idle", "calling", on: "call")])
    ], actions: [],
    messages: ["offer; #1", "bye", "x"].map { MessageDeclaration($0, .both, "", provenance: .harnessDefault) })
}
