import CallCore
import Foundation
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun
@testable import ScenarioSuite

/// The first difference between two runs.
@Suite struct RunDivergenceTests {
  private func member(_ text: String, seed: UInt64 = 1, name: String = "test#1") throws -> RunPair.Member {
    let loaded = ScenarioFile.load(text: text, path: "t.yaml", registry: ProfileCatalogue.builtIn.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    return RunPair.Member(name: name, path: "t.yaml", cell: file.cells[0], seed: seed)
  }

  private func compare(_ one: RunPair.Member, _ other: RunPair.Member) throws -> (RunPair.Outcome, text: String) {
    let pair = RunPair(one, other)
    let outcome = try pair.play(.builtIn)
    return (outcome, DivergenceText(pair, outcome).text)
  }

  private func divergence(_ one: [String], _ other: [String]) throws -> TraceDivergence? {
    let folder = NSTemporaryDirectory() + "callsim-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, lines) in [("a", one), ("b", other)] {
      try lines.map { $0 + "\n" }.joined().write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }
    return TraceDivergence("\(folder)/a", "\(folder)/b")
  }

  private static let common = [
    #"{"t":0,"n":1,"subject":"timeline","kind":"timeline.fired","fields":{"entry":"go"}}"#,
    #"{"t":5,"subject":"alice","kind":"q.mos","fields":{"value":4.1}}"#,
    #"{"t":5,"n":2,"subject":"alice","kind":"x","fields":{"value":"1"},"cause":1}"#,
    #"{"t":6,"n":3,"subject":"bob","kind":"x","fields":{"value":"2"},"cause":2}"#,
  ]

  // MARK: Traces

  @Test func `the first difference has its causes back to the timeline and the events before it`() throws {
    let found = try divergence(
      Self.common + [#"{"t":7,"n":4,"subject":"alice","kind":"x","fields":{"value":"3"},"cause":3}"#],
      Self.common + [#"{"t":7,"n":4,"subject":"alice","kind":"x","fields":{"value":"4"},"cause":1}"#])
    let difference = try #require(found)
    #expect(difference.summary.hasPrefix("event 4 at 0.000 s, alice x: cause 3 or 1, value \"3\" or \"4\""))
    #expect(difference.sides[0].causes.map(\.subject) == ["bob", "alice", "timeline"])
    #expect(difference.sides[1].causes.map(\.subject) == ["timeline"])
    #expect(difference.common.map(\.fields) == [["value=1"]])
  }

  @Test func `what observers write is no difference`() throws {
    var other = Self.common
    other[1] = #"{"t":5,"subject":"bob","kind":"q.mos","fields":{"value":1.5}}"#
    other.append(#"{"t":9,"subject":"bob","kind":"q.mos","fields":{"value":1.5}}"#)
    #expect(try divergence(Self.common, other) == nil)
  }

  @Test func `a run that ends early differs where it ends`() throws {
    let difference = try #require(try divergence(Self.common, Array(Self.common.dropLast())))
    #expect(difference.summary == "event 3 at 0.000 s, bob x: only one of the runs has it")
    #expect(difference.sides[1].event == nil && difference.sides[1].causes.isEmpty)
  }

  @Test func `the cause of a line is the number at its end, not one in its fields`() {
    #expect(TraceDivergence.cause(of: Self.common[2]) == 1)
    #expect(TraceDivergence.cause(of: Self.common[0]) == 0)
    #expect(TraceDivergence.cause(of: #"{"t":1,"n":1,"fields":{"cause":12}}"#) == 0)
    #expect(TraceDivergence.cause(of: #"{"t":1,"n":1,"cause":120}"#) == 120)
  }

  // MARK: Runs

  @Test func `a run equals itself, and another expectation changes no event`() throws {
    let (outcome, text) = try compare(try member(CoverageTests.twoPhones), try member(CoverageTests.twoPhones))
    #expect(outcome.isEqual && text.hasPrefix("EQUAL "))
    #expect(text.contains("events, trace \(RunResult.hexadecimal(outcome.results[0].traceHash))\n"))
    let strict = CoverageTests.twoPhones.replacing("code: remote-hangup", with: "code: declined")
    let (judged, told) = try compare(try member(CoverageTests.twoPhones), try member(strict))
    #expect(judged.isEqual && told.contains("the verdicts differ: pass and fail"))
  }

  @Test func `an action at another time is the first difference of two files`() throws {
    let later = CoverageTests.twoPhones.replacing("at: 3s, do: bob.accept", with: "at: 4s, do: bob.accept")
    let (outcome, text) = try compare(
      try member(CoverageTests.twoPhones, name: "one"), try member(later, name: "other"))
    #expect(!outcome.isEqual && text.hasPrefix("DIFFERENT event "))
    #expect(text.contains("  one    3.000000 s  "), "\(text)")
    #expect(text.contains("the seed is 1 in both"))
  }

  @Test func `causes end at the timeline entry, and other seeds are named as chance`() throws {
    let lossy = CoverageTests.twoPhones.replacing(
      "alice: { profile: knotos, network: wifi }", with: "alice: { profile: knotos, network: lte/cell-edge }")
    let (outcome, text) = try compare(try member(lossy), try member(lossy, seed: 2))
    #expect(!outcome.isEqual && text.contains("the seeds are 1 and 2"))
    #expect(text.contains("draws are not part of the trace"))
    #expect(text.contains("\n  first ") && text.contains("\n  second "))
  }

  @Test(arguments: [
    (
      #""subject":"alice","kind":"packet.sent","fields":{"packet":1,"from":"10.0.0.2:"#, #"","bytes":9}"#,
      "host/alice/ports"
    ),
    (
      #""subject":"network/home","kind":"nat.created","fields":{"protocol":"udp","external":"203.0.113.1:"#, #""}"#,
      "nat/home/ports"
    ),
  ])
  func `another port of a host or a NAT names its stream`(start: String, end: String, stream: String) throws {
    let lines = ["5000", "6000", "5000\",\"x\":\"y"].map { #"{"t":7,"n":4,"# + start + $0 + end + "}" }
    let one = try member(CoverageTests.twoPhones)
    let texts = try lines.dropFirst().map { other in
      let difference = try #require(try divergence(Self.common + [lines[0]], Self.common + [other]))
      return DivergenceText(RunPair(one, one), .init(results: [], divergence: difference)).text
    }
    #expect(texts[0].contains("the ports are drawn from the stream \(stream)\n"), "\(texts[0])")
    #expect(!texts[1].contains("the ports are drawn"))
  }

  @Test func `a packet lost by a loss model names the streams of that link`() throws {
    let difference = try #require(
      try divergence(
        Self.common + [
          #"{"t":7,"n":4,"subject":"link/a/tx","kind":"packet.dropped","fields":{"reason":"loss"},"cause":3}"#
        ], Self.common))
    let one = try member(CoverageTests.twoPhones)
    let text = DivergenceText(RunPair(one, one), .init(results: [], divergence: difference)).text
    #expect(text.contains("its streams are link/a/tx/loss and link/a/tx/channel"))
    #expect(text.contains("\ncause, first\n"))
    #expect(text.contains("  the timeline entry 'go'\n"))
    #expect(text.contains("  second  no more events\n"))
  }
}
