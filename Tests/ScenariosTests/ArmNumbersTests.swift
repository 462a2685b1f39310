import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioSuite

/// Arms that differ in what nobody takes, and numbers that tell of another time than the window.
@Suite struct ArmNumbersTests {
  @Test func `arms whose every number is equal were not put to the test`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.codecs: [red, opus] } }", line: ", loss: 10%",
      expect: "  - { delta: bob.q.concealment, arms: [b, a], gt: -1%, lt: 1% }", measure: "[bob.q.concealment]")
    let point = try #require(Compared.points(text).first)
    #expect(point.haveEqualNumbers("a", "b"))
    let finding = try #require(point.findings.first)
    #expect(finding.kind == .vacuous && finding.actual.contains("nobody took what they set apart"))
    #expect(CompareText(CompareReport([point]), style: .plain).text.contains("'b' changes none of these numbers"))
  }

  @Test func `less than a millisecond, by which a longer description delays a call, is no difference`() throws {
    let text = Compared.text("{ a: {}, b: { alice.audio.ptime: 40ms } }", measure: "[bob.q.mouth_to_ear]")
    var point = try #require(Compared.points(text).first)
    #expect(!point.haveEqualNumbers("a", "b"))
    point.setSamples(["a": [1: 0.08, 2: 0.09], "b": [1: 0.080_9, 2: 0.090_9]])
    #expect(point.haveEqualNumbers("a", "b"))
    point.setSamples(["a": [1: 0.08, 2: 0.09], "b": [1: 0.081_2, 2: 0.091_2]])
    #expect(!point.haveEqualNumbers("a", "b"))
    point.setSamples(["a": [1: 0.08, 2: 0.09], "b": [1: 0.08]])
    #expect(!point.haveEqualNumbers("a", "b"))
  }

  @Test(arguments: [("bob.q.mouth_to_ear", 0.090_4), ("bob.stats.inbound-rtp.audio.jitter", 0.090_9)])
  func `less than a millisecond is a difference where it varies, and of jitter always`(path: String, last: Double)
    throws
  {
    let text = Compared.text("{ a: {}, b: { alice.audio.ptime: 40ms } }", measure: "[\(path)]")
    var point = try #require(Compared.points(text).first)
    point.setSamples(["a": [1: 0.08, 2: 0.09], "b": [1: 0.080_9, 2: last]])
    #expect(!point.haveEqualNumbers("a", "b"))
    #expect(point.difference(point.numbers[0], "b", minus: "a").mean > 0.000_5)
  }

  @Test func `what nobody takes is told where no number differs from seed to seed`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.codecs: [red, opus] } }", line: "", measure: "[bob.q.concealment]")
    let point = try #require(Compared.points(text).first)
    #expect(point.idleText("b")?.hasSuffix("and is there anything that it mends?") == true)
  }

  @Test(arguments: [
    ("{ alice.audio.codecs: [red, opus] }", true), ("{ alice.audio: { stereo: true }, bob.audio.ptime: 20ms }", true),
    ("{ alice.audio.codecs: [red, opus], bob.audio.codecs: [opus, red] }", false),
    ("{ alice: { audio: { codecs: [red, opus], ptime: 20ms } } }", true),
    ("{ alice.audio.fec: false }", false),
    ("{ alice.audio.codecs: [red, opus], alice.clock: { drift: 1ppm } }", false),
  ])
  func `settings of audio that the other side does not take are told, whatever the channel makes of them`(
    _ other: String, isAlike: Bool
  ) throws {
    let text = Compared.text(
      "{ a: {}, b: \(other) }", line: ", loss: 5%, jitter: { dist: normal, amount: 15ms, order: allow }",
      expect: "  - { delta: bob.q.mouth_to_ear, arms: [b, a], lt: 1s }", measure: "[bob.q.mouth_to_ear]", media: "real")
    let point = try #require(Compared.points(text).first)
    #expect(point.sendAlike("a", "b") == isAlike)
    var other = point
    other.setSamples(["a": [1: 0.1, 2: 0.2, 3: 0.3], "b": [1: 0.2, 2: 0.2, 3: 0.2]])
    #expect(!other.haveEqualNumbers("a", "b"))
    #expect(other.findings.map(\.kind) == (isAlike ? [.vacuous] : []))
  }

  @Test func `arms that are equal are told beside a baseline that is not`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 60ms }, c: { alice.audio: { ptime: 60ms, red: 0 } } }",
      measure: "[bob.q.mouth_to_ear]")
    let point = try #require(Compared.points(text).first)
    #expect(point.idleText("c") == nil && point.twinText("b") == nil)
    let told = "'c' changes nothing: its runs equal those of 'b' event by event"
    #expect(point.twinText("c") == told)
    #expect(CompareText(CompareReport([point]), style: .plain).verdictLines(0, "c").first == told)
  }

  @Test func `a difference that no number shows is told without asking who takes it`() throws {
    let text = Compared.text(
      "{ a: {}, b: { bob.audio.ptime: 60ms } }", line: ", loss: 10%", measure: "[bob.q.concealment]")
    let point = try #require(Compared.points(text).first)
    #expect(point.idleText("b") == "'b' changes none of these numbers in any run of 'a'")
  }

  @Test func `numbers that are equal for every seed say nothing of arms that differ`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 60ms } }", line: "",
      expect: "  - { delta: bob.q.concealment, arms: [b, a], gt: -1%, lt: 1% }", measure: "[bob.q.concealment]")
    let point = try #require(Compared.points(text).first)
    #expect(!point.haveEqualNumbers("a", "b"))
    #expect(point.findings == [])
  }

  @Test func `of a counter in a window, what tells of the time before it is refused`() {
    for statistic in ["last", "first", "max", "mean"] {
      let text = Compared.text(
        "{ a: {}, b: {} }", measure: "[{ metric: \(Compared.heard), stat: \(statistic), window: [bye, end] }]")
      let report = Compared.load(text).report.rendered(as: .text(color: false))
      #expect(
        report.contains("counts from the start of the connection: its \(statistic) is not one of the window"),
        "\(report)")
    }
    #expect(
      Compared.load(Compared.text("{ a: {}, b: {} }", measure: "[{ metric: \(Compared.heard), stat: last }]")).scenario
        != nil)
  }
}
