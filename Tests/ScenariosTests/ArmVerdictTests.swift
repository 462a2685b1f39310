import Formats
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// Which arms are beaten, and which change nothing.
@Suite struct ArmVerdictTests {
  private static func point(
    _ arms: String = "{ a: {}, b: {} }", measure: String = "[bob.q.concealment, bob.q.mos]"
  ) throws -> ArmComparison {
    try #require(Compared.points(Compared.text(arms, measure: measure)).first)
  }

  /// Of the concealed share less is better.
  private static let low: [UInt64: Double] = [1: 0.1, 2: 0.11, 3: 0.12]
  private static let high: [UInt64: Double] = [1: 0.5, 2: 0.51, 3: 0.521]

  @Test func `an arm is beaten by one that is surely better in one number and worse in none`() throws {
    var point = try Self.point()
    point.numbers[0].samples = ["a": Self.low, "b": Self.high]
    point.numbers[1].samples = ["a": [1: 4, 2: 4, 3: 4], "b": [1: 4, 2: 4, 3: 4]]
    let report = CompareReport([point])
    #expect(report.notBeaten(at: 0) == ["a"])
    #expect(CompareText(report, style: .plain).text.contains("not beaten: a\n"))
    // Worse in the other number, however uncertain that is.
    point.numbers[1].samples["b"] = [1: 4, 2: 4.9, 3: 4]
    #expect(CompareReport([point]).notBeaten(at: 0) == ["a", "b"])
  }

  @Test func `where none is beaten the text, the page and the JSON say so`() throws {
    var point = try Self.point()
    point.setSamples(["a": [1: 0.1, 2: 0.3, 3: 0.2], "b": [1: 0.2, 2: 0.1, 3: 0.3]])
    let report = CompareReport([point])
    #expect(CompareText(report, style: .plain).text.contains("\n  none is beaten by another\n"))
    #expect(ComparePage(report, environment: .current).html.contains("<li>none is beaten by another</li>"))
    #expect(report.json(.current)["points"]?.array?.first?["verdict"]?.string == "none is beaten by another")
  }

  @Test func `what did not hold stands in the text, the page and the JSON`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.bitrate: 64kbps } }",
      expect: """
          - { delta: \(Compared.sent), arms: [b, a], lt: 0B }
          - { metric: \(Compared.heard), stat: last, lt: 2, severity: warn }
          - { metric: \(Compared.sent), stat: last, lt: 30kB }
        """)
    let report = CompareReport(try Compared.points(text))
    let lines = [
      "'b': 3 of 3 runs did not pass (3 fail): metric", "'a': 3 of 3 runs with a warning: metric",
      "failed: mean of \(Compared.sent)",
    ]
    let page = ComparePage(report, environment: .current).html
    let written = CompareText(report, style: .plain).text
    for line in lines { #expect(written.contains(line), "\(written)") }
    #expect(page.contains("3 of 3 runs did not pass (3 fail)") && page.contains("failed: mean of"))
    let finding = report.json(.current)["points"]?.array?.first?["findings"]?.array?.first
    #expect(finding?["kind"]?.string == "expectation")
  }

  @Test func `the notes of the JSON lay no arm beside itself`() throws {
    let arms = "{ a: { alice.audio.codecs: [opus] }, b: { alice.audio.codecs: [red, opus] } }"
    let report = CompareReport(try Compared.points(Compared.text(arms, measure: "[bob.q.mos]")))
    let notes = report.json(.current)["points"]?.array?.first?["notes"]?.strings ?? []
    #expect(!notes.isEmpty && !notes.contains { $0.hasPrefix("'a'") }, "\(notes)")
  }

  @Test func `arms of which no number has a value are not called alike`() throws {
    var point = try Self.point("{ a: {}, b: {}, c: {} }")
    for index in point.numbers.indices { point.numbers[index].samples = ["c": [1: 1, 2: 2, 3: 3]] }
    #expect(!point.haveEqualNumbers("a", "b"))
  }

  @Test func `the confidence is corrected for all pairs of arms and numbers at all points`() throws {
    let chance: [String: [UInt64: Double]] = ["a": [1: 1, 2: 2, 3: 3], "b": [1: 2, 2: 3.2, 3: 4.1]]
    var (one, other) = (try Self.point(measure: "[bob.q.concealment]"), try Self.point(measure: "[bob.q.concealment]"))
    one.setSamples(chance)
    #expect(CompareReport([one]).notBeaten(at: 0) == ["a"])
    // Twenty more differences, of which nothing is known, make chance a better explanation.
    other.setSamples(["a": [1: 1, 2: 2, 3: 3], "b": [1: 2, 2: 1, 3: 3.3]])
    let many = CompareReport([one] + Array(repeating: other, count: 20))
    #expect(many.duelCount == 21)
    #expect(many.notBeaten(at: 0) == ["a", "b"])
  }

  @Test func `what is beaten depends on the confidence that is asked for`() throws {
    var point = try Self.point(measure: "[bob.q.concealment]")
    point.setSamples(["a": [1: 10, 2: 10, 3: 10], "b": [1: 11, 2: 12, 3: 13]])
    // 2 ± 2.48 with 95 %, 2 ± 1.1 with 80 %.
    #expect(CompareReport([point]).notBeaten(at: 0) == ["a", "b"])
    #expect(CompareReport([point], confidence: 0.8).notBeaten(at: 0) == ["a"])
  }

  @Test func `an arm without a value is not called unbeaten, and is named`() throws {
    var point = try Self.point("{ a: {}, b: {}, c: {} }", measure: "[bob.q.concealment]")
    point.setSamples(["a": Self.low, "b": Self.high])
    let report = CompareReport([point])
    #expect(report.notBeaten(at: 0) == ["a"])
    let text = CompareText(report, style: .plain).text
    #expect(text.contains("not beaten: a, of the arms with all numbers; not judged: c"), "\(text)")
    #expect(text.contains("'c' has no value of bob.q.concealment mean in any run"))
    #expect(
      text.contains("c against a, no interval, which takes at least 3 pairs: bob.q.concealment mean (0 pairs)"),
      "\(text)")
    #expect(report.json(.current)["points"]?.array?.first?["gaps"]?.array?.count == 1)
  }

  @Test func `a difference that two arms are expected to have hides no value of a third`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 60ms }, c: { alice.audio.ptime: 40ms } }",
      expect: "  - { delta: bob.q.mos, arms: [c, b], gt: -4 }", measure: "[bob.q.concealment]")
    let point = try #require(Compared.points(text).first)
    #expect(point.numbers.map(\.title) == ["bob.q.concealment mean", "bob.q.mos mean"])
    #expect(point.numbers[1].values(of: "a").count == 3 && point.gaps.isEmpty)
    #expect(point.completeArms == ["a", "b", "c"] && point.deltas.count == 1)
  }

  @Test func `where nothing can be told of the arms the text says why`() throws {
    var point = try Self.point(measure: "[bob.q.concealment]")
    point.setSamples(["a": [1: 0.1, 2: 0.2], "b": [1: 0.2, 2: 0.1]])
    var line = CompareReport([point]).bestLine(0)
    #expect(line == "no arm is judged: no difference of two arms has a probability")
    point.setSamples(["a": Self.low, "b": [1: 0.2]])
    line = CompareReport([point]).bestLine(0)
    #expect(line == "no arm is judged: only a has all numbers in all runs")
  }

  @Test func `two directions of one number are refused`() {
    let text = Compared.load(
      Compared.text(
        "{ a: {}, b: {} }", expect: "  - { delta: \(Compared.heard), arms: [b, a], better: lower, lt: 9 }",
        measure: "[{ metric: \(Compared.heard), better: higher }]")
    ).report.rendered(as: .text(color: false))
    #expect(text.contains("'better: lower' contradicts 'better: higher' of the same number"), "\(text)")
  }

  @Test func `of costs alone nothing is said`() throws {
    var point = try Self.point(measure: "[\(Compared.sent), { metric: \"wire.bytes(from: alice)\", better: lower }]")
    point.setSamples(["a": Self.low, "b": Self.high])
    #expect(CompareReport([point]).notBeaten(at: 0) == [])
    #expect(!CompareText(CompareReport([point]), style: .plain).text.contains("beaten"))
  }

  // MARK: Arms that change nothing

  @Test func `an arm that changes nothing is named, and not called equal in every number`() throws {
    let report = CompareReport([
      try Self.point("{ a: {}, b: { alice.audio.ptime: 20ms }, c: { alice.audio.ptime: 60ms } }")
    ])
    let note = "'b' changes nothing: its runs equal those of 'a' event by event"
    let text = CompareText(report, style: .plain).text
    #expect(text.contains("\n  \(note)\n"), "\(text)")
    #expect(!text.contains("b against a") && text.contains("c against a"))
    let page = ComparePage(report, environment: .current).html
    #expect(page.contains(StaticPage.escaped(note)))
    #expect(report.json(.current)["points"]?.array?.first?["notes"]?.strings.contains(note) == true)
    // Of what is equal nothing happens by chance.
    #expect(report.testedCount == 2 && report.duelCount == 4)
  }

  @Test func `an arm that differs in a score alone changes something`() throws {
    var point = try Self.point()
    #expect(point.idleArms == ["b"])
    let kind = ArmComparison.Number.Kind.score(scorer: "s", peer: "bob", Window())
    point.numbers.append(.init(kind: kind, better: .higher))
    point.numbers[2].samples = ["a": [1: 1, 2: 1, 3: 1], "b": [1: 1, 2: 1, 3: 2]]
    #expect(point.idleArms == [])
  }

  @Test func `a time that differs by less than a millisecond in every run is no difference`() throws {
    for (offset, mean) in [(0.0006, 0), (0.0016, 0.0016)] {
      var point = try Self.point(measure: "[bob.q.mouth_to_ear]")
      let other = [1: 0.1, 2: 0.11, 3: 0.12] as [UInt64: Double]
      point.setSamples(["a": other, "b": other.mapValues { $0 + offset }])
      let difference = point.difference(point.numbers[0], "b", minus: "a")
      #expect(abs(difference.mean - mean) < 1e-9)
    }
  }

  @Test func `a round trip that triples is a difference, however short`() throws {
    var point = try Self.point(measure: "[bob.stats.candidate-pair.currentRoundTripTime]")
    point.setSamples(["a": [1: 0.0004, 2: 0.0004, 3: 0.0004], "b": [1: 0.0012, 2: 0.0012, 3: 0.0012]])
    #expect(abs(point.difference(point.numbers[0], "b", minus: "a").mean - 0.0008) < 1e-9)
  }

  @Test func `timestamps are compared as times of the run`() throws {
    var point = try Self.point(measure: "[bob.stats.inbound-rtp.audio.lastPacketReceivedTimestamp]")
    let other = [1: 1.77e9, 2: 1.77e9 + 1, 3: 1.77e9 + 2] as [UInt64: Double]
    point.setSamples(["a": other, "b": other.mapValues { $0 + 3 }])
    #expect(!point.numbers[0].isNearlyEqual("b", "a"))
    let difference = point.difference(point.numbers[0], "b", minus: "a")
    #expect(abs(difference.mean - 3) < 1e-6)
    #expect(abs(point.numbers[0].mean(of: "a").deviation - 1) < 1e-6)
  }

  // MARK: Directions

  @Test(
    arguments: [
      ("bob.q.mos", "mean", "higher"), ("bob.q.mos", "count", nil), ("bob.q.mos", "sum", nil),
      ("bob.q.mos", "rate", nil),
      ("bob.q.mos", "delta", nil), ("bob.q.mos", "p5", "higher"), ("alice.stats.transport.bytesSent", "rate", "lower"),
      ("alice.stats.transport.bytesSent", "count", nil), ("bob.q.mouth_to_ear", "max", "lower"),
      ("bob.stats.inbound-rtp.audio.jitter", "max", nil),
      ("bob.stats.inbound-rtp.audio.packetsLost", "delta", nil),
      ("bob.stats.inbound-rtp.video.framesDropped", "delta", nil),
      ("alice.stats.candidate-pair.availableOutgoingBitrate", "mean", nil),
    ] as [(String, String, String?)])
  func `how many samples there are has no direction, whatever they are of`(
    path: String, statistic: String, better: String?
  ) throws {
    let text = Compared.text("{ a: {}, b: {} }", measure: "[{ metric: \(path), stat: \(statistic) }]")
    let cell = try #require(Compared.load(text).scenario?.cells.first)
    let metric = try #require(cell.scenario.expectations.first(where: \.isMeasure)?.delta?.metric)
    #expect(metric.usualBetter?.rawValue == better)
  }

  @Test func `a direction of a number that has its own is refused`() {
    for text in [
      Compared.text("{ a: {}, b: {} }", measure: "[{ metric: bob.q.mos, better: lower }]"),
      Compared.text("{ a: {}, b: {} }", expect: "  - { delta: bob.q.mos, arms: [b, a], lt: 0, better: lower }"),
    ] {
      let words = Compared.load(text).report.rendered(as: .text(color: false))
      #expect(
        words.contains("'better' is for numbers without a direction, and of bob.q.mos higher is better"), "\(words)")
      #expect(words.contains("leave 'better' out"))
    }
  }
}
