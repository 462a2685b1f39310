import CallCore
import Formats
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// Runs of which a number says less than those of other arms: their call ended early, or never carried media.
@Suite struct ComparedTimeTests {
  private static let share = "bob.q.concealment"
  /// A shorter packet ends the call earlier.
  private static let arms = "{ a: {}, b: { alice.audio.ptime: 60ms } }"
  private static let early =
    "  - { when: bob.stats.inbound-rtp.audio.packetsReceived >= 90, do: alice.hangup }"

  private static func played(_ measure: String, expect: String = "") throws -> ArmComparison {
    // The call of b goes on until the end.
    let text = Compared.text(arms, expect: expect, timeline: early, measure: "[\(measure)]")
    return try #require(Compared.points(text).first)
  }

  @Test(arguments: [
    share, "{ metric: alice.stats.transport.bytesSent, stat: rate }",
    "{ metric: \"wire.bytes(from: alice)\", stat: rate }",
  ])
  func `a call that ends early in one arm has no value there, and the reason is told`(measure: String) throws {
    let point = try Self.played(measure)
    let number = try #require(point.numbers.first)
    #expect(number.values(of: "a").isEmpty)
    #expect(number.values(of: "b").count == 3)
    let gap = try #require(point.gaps.first)
    #expect(point.gaps.count == 1)
    let words = /'a' has no value of .+ in any run: measured for [0-2](\.[0-9])?s.*, in 'b' for [3-6](\.[0-9])?s.*/
    #expect(gap.text.wholeMatch(of: words) != nil, "\(gap.text)")
    let report = CompareReport([point])
    #expect(report.notBeaten(at: 0).isEmpty)
    #expect(CompareText(report, style: .plain).text.contains(gap.text))
    #expect(ComparePage(report, environment: .current).html.contains("measured for"))
    #expect(report.json(.current)["points"]?.array?.first?["gaps"]?.strings.first == gap.text)
  }

  @Test func `of a stream that is given up in one arm there is no number beside one that is not`() throws {
    let text = """
      callsim: 1
      id: t
      media: synthetic
      compare:
        arms: { keeps: { alice.settings.turn-off: disable }, gives-up: { alice.settings.turn-off: unpublish } }
        measure: [{ metric: alice.stats.outbound-rtp.audio.targetBitrate, window: [4s, 10s] }]
      peers: { alice: { profile: twilio, network: wifi }, bob: { profile: twilio, network: wifi } }
      timeline:
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.connect, room: daily }
        - { at: 5s, do: alice.mic-off }
        - { at: 8s, do: alice.mic-on }
        - { id: bye, at: 11s, do: alice.disconnect }
      expect:
        - { count: alice.roomDidConnect, eq: 1 }
      """
    let point = try #require(Compared.points(text, seeds: 1).first)
    let number = try #require(point.numbers.first)
    #expect(number.values(of: "keeps").count == 1 && number.values(of: "gives-up").isEmpty)
    #expect(number.lacks["gives-up"] != nil)
  }

  @Test func `a camera that is given up in one arm leaves no number of the others alone`() throws {
    let text = """
      callsim: 1
      id: t
      media: synthetic
      compare:
        arms: { keeps: { alice.settings.turn-off: disable }, gives-up: { alice.settings.turn-off: unpublish } }
        measure: [{ metric: bob.q.picture_age, window: [4s, 12s] }]
      peers:
        alice: { profile: twilio, network: wifi, video: { codecs: [VP8] } }
        bob: { profile: twilio, network: wifi, video: { codecs: [VP8] }, devices: { camera: none } }
        carol: { profile: twilio, network: wifi, video: { codecs: [VP8] } }
      timeline:
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.connect, room: daily }
        - { at: 1s, do: carol.connect, room: daily }
        - { at: 5s, do: alice.camera-off }
        - { at: 10s, do: alice.camera-on }
        - { id: bye, at: 13s, do: alice.disconnect }
      expect:
        - { count: alice.roomDidConnect, eq: 1 }
      """
    let point = try #require(Compared.points(text, seeds: 1).first)
    let number = try #require(point.numbers.first)
    #expect(number.values(of: "keeps").count == 1 && number.values(of: "gives-up").isEmpty)
    #expect(point.gapTexts.contains { $0.contains("in 'keeps' for 16s") }, "\(point.gapTexts)")
  }

  @Test func `a difference from a call that ended early was not put to the test`() throws {
    let point = try Self.played(Self.share, expect: "  - { delta: \(Self.share), arms: [b, a], gt: -100% }")
    let finding = try #require(point.findings.first)
    #expect(finding.kind == .vacuous)
    #expect(finding.actual.contains("'a' has no value of \(Self.share) mean in any run: measured for"))
  }

  @Test func `a window that opens with the call later than in another arm tells of another part of the channel`() throws
  {
    let text = Compared.text(
      Self.arms, expect: "  - { delta: \(Self.share), arms: [b, a], gt: -100% }",
      timeline: "  - { mark: from, when: bob.stats.inbound-rtp.audio.packetsReceived >= 40 }",
      measure: "[{ metric: \(Self.share), window: [from, bye] }]")
    let point = try #require(Compared.points(text).first)
    let gap = try #require(point.gaps.first)
    let words = /'b' has no value of .+ in any run: .*its window opened at .*s, in 'a' at .*s.*/
    #expect(gap.text.wholeMatch(of: words) != nil, "\(gap.text)")
    #expect(point.numbers.first?.values(of: "a").count == 3)
  }

  /// Returns arms of which one is suspended in the background, after some seconds.
  private static func suspended(_ peer: String, _ length: String = "", measure: String) throws -> ArmComparison {
    let text = Compared.text(
      "{ a: {}, b: { \(peer).devices.background_audio: false } }",
      timeline: "  - { at: 3s, fault: device.background, peer: \(peer)\(length) }", measure: "[\(measure)]")
    return try #require(Compared.points(text.replacing("at: 6s", with: "at: 16s")).first)
  }

  @Test func `an arm that hears nothing more to the end of the call has lost what was said`() throws {
    let point = try Self.suspended(
      "bob", measure: "{ metric: \(Self.share), window: [2s, bye] }, { metric: bob.q.mos, window: [2s, bye] }")
    #expect(point.gaps.isEmpty)
    let (shares, scores) = (point.numbers[0], point.numbers[1])
    #expect(shares.values(of: "b").count == 3 && shares.values(of: "b").allSatisfy { $0 > 0.4 })
    #expect(scores.values(of: "b").count == 3)
    #expect(zip(scores.values(of: "a"), scores.values(of: "b")).allSatisfy { $0 > $1 + 0.5 })
    #expect(point.deprived.contains { $0.arm == "b" && $0.pair.receiver == "bob" && $0.media == "sound" })
  }

  @Test func `what a listener missed while suspended counts then, and not when it plays again`() throws {
    // It is suspended from 8 s on.
    let windows = ["[9s, 13s]", "[14s, bye]"].map { "{ metric: \(Self.share), window: \($0) }" }
    let point = try Self.suspended("bob", ", for: 10s", measure: windows.joined(separator: ", "))
    let (away, back) = (point.numbers[0].values(of: "b"), point.numbers[1].values(of: "b"))
    #expect(away.count == 3 && away.allSatisfy { $0 == 1 }, "\(away)")
    #expect(back.count == 3 && back.allSatisfy { $0 < 0.2 }, "\(back) \(point.gapTexts)")
  }

  @Test func `an arm in which somebody falls silent keeps no good number`() throws {
    let point = try Self.suspended(
      "alice", ", for: 11s",
      measure: "{ metric: \(Self.share), window: [2s, bye] }, { metric: bob.q.mos, window: [2s, bye] }")
    for number in point.numbers {
      #expect(number.values(of: "b").isEmpty && number.values(of: "a").count == 3, "\(number.name)")
    }
    #expect(point.gaps.allSatisfy { $0.arm == "b" && $0.reason?.hasPrefix("measured for") == true })
    #expect(point.deprived.contains { $0.arm == "b" && $0.pair.receiver == "bob" && $0.media == "sound" })
  }

  @Test func `an arm whose sound starves keeps its bad number`() throws {
    let arms = "{ a: { alice.audio.bitrate: 16kbps }, b: { alice.audio.codecs: [PCMU], bob.audio.codecs: [PCMU] } }"
    let text = Compared.text(arms, line: ", rate: 40kbps", measure: "[\(Self.share), bob.q.mos]")
    let point = try #require(Compared.points(text).first)
    #expect(point.gaps == [])
    let (a, b) = (point.numbers[0].values(of: "a"), point.numbers[0].values(of: "b"))
    #expect(a.count == 3 && b.count == 3)
    #expect((b.min() ?? 0) > (a.max() ?? 1) + 0.1, "\(a) \(b)")
  }

  @Test func `the growth of a counter over a longer time is no difference`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 40ms } }",
      timeline: "  - { when: bob.stats.inbound-rtp.audio.packetsReceived >= 130, do: alice.hangup }",
      measure: "[{ metric: alice.stats.transport.packetsSent, stat: delta }]")
    let point = try #require(Compared.points(text).first)
    #expect(point.numbers[0].values(of: "a").isEmpty, "\(point.gapTexts)")
  }

  /// A relayed call comes up later than a direct one, and then sends as much.
  private static func relayed(_ statistic: String) -> String {
    Compared.text(
      "{ direct: {}, relay: { alice.ice: { servers: [relay], policy: relay } } }", line: ", delay: 40ms",
      measure: "[{ metric: \(Compared.allBytes), stat: \(statistic) }]"
    ).replacing("servers: {", with: "servers: { relay: { kind: turn },")
  }

  @Test func `a rate is one over the time since the connection stands`() throws {
    let point = try #require(Compared.points(Self.relayed("rate")).first)
    let (direct, relay) = (point.numbers[0].values(of: "direct"), point.numbers[0].values(of: "relay"))
    #expect(direct.count == 3 && relay.count == 3, "\(point.gapTexts)")
    let ratios = zip(direct, relay).map { $1 / $0 }
    #expect(ratios.allSatisfy { abs($0 - 1) < 0.01 }, "\(ratios)")
    #expect(point.gapTexts.contains { $0.contains("longer in one arm than in another") }, "\(point.gapTexts)")
  }

  /// Returns a comparison of delays with these samples in every run, a quarter of a second apart; nil where no sound plays.
  private static func delays(_ samples: [String: [Double?]], _ statistic: String = "mean") throws -> ArmComparison {
    let text = Compared.text("{ a: {}, b: {} }", measure: "[{ metric: bob.q.mouth_to_ear, stat: \(statistic) }]")
    var point = try #require(Compared.points(text).first)
    for (arm, values) in samples {
      let moments = values.enumerated().compactMap { index, value in
        value.map { Measurement.Sample(time: .zero + .milliseconds(250) * Int64(index), value: $0) }
      }
      for seed in point.seeds { point.numbers[0].moments[arm, default: [:]][seed] = moments }
    }
    point.settle()
    return point
  }

  @Test(arguments: [("mean", 0.15, 0.25), ("max", 0.2, 0.3), ("last", 0.2, 0.3), ("first", 0.1, 0.2)])
  func `delays are compared at moments at which every arm plays what was said`(
    statistic: String, a: Double, b: Double
  ) throws {
    let point = try Self.delays(["a": [0.1, nil, 0.2, 0.9], "b": [0.2, 0.8, 0.3, nil]], statistic)
    #expect(point.numbers[0].values(of: "a").allSatisfy { abs($0 - a) < 1e-9 })
    #expect(point.numbers[0].values(of: "b").allSatisfy { abs($0 - b) < 1e-9 })
    #expect(point.numbers[0].values(of: "a").count == 3)
    let told = point.gapTexts.filter { $0.contains("is of the moments at which every arm has a sample") }
    #expect(told.count == 1 && told[0].hasSuffix("67% of those of an arm"), "\(point.gapTexts)")
  }

  @Test func `runs that play at few common moments have no delay to compare, and say why`() throws {
    let point = try Self.delays(["a": [0.1, nil], "b": [nil, 0.2]])
    #expect(!point.numbers[0].hasSamples)
    #expect(point.numbers[0].lacks.values.flatMap(\.values).allSatisfy { $0 == .fewCommonMoments })
    #expect(point.findings.contains { $0.actual.contains("less than half of its samples") }, "\(point.findings)")
  }

  @Test func `a run samples every delay that it measures for an arm`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.bitrate: 16kbps } }", line: ", loss: 20%",
      measure: "[bob.q.mouth_to_ear, { metric: bob.q.mouth_to_ear, stat: count }]")
    let point = try #require(Compared.points(text).first)
    let counts = try #require(point.numbers[1].samples["a"])
    #expect(!counts.isEmpty)
    for (seed, count) in counts { #expect(point.numbers[0].moments["a"]?[seed]?.count == Int(count)) }
  }

  @Test func `a counter of a call that came up later is not compared`() throws {
    for statistic in ["last", "max", "delta"] {
      let point = try #require(Compared.points(Self.relayed(statistic)).first)
      #expect(point.numbers[0].values(of: "relay").isEmpty, "\(statistic)")
      #expect(point.gapTexts.contains { $0.contains("measured for") }, "\(point.gapTexts)")
    }
  }

  @Test func `windows that are not quite the same are told`() {
    var number = ArmComparison.Number(kind: .processor(.encoders))
    number.samples = ["a": [1: 1, 2: 1], "b": [1: 1]]
    number.openings = [
      "a": [1: .zero + .seconds(5), 2: .zero + .seconds(5)],
      "b": [1: .zero + .milliseconds(5_400), 2: .zero + .seconds(9)],
    ]
    number.times = ["a": [1: .seconds(10)], "b": [1: .milliseconds(9_200)]]
    #expect(number.windowDifference.opened == .milliseconds(400))
    #expect(number.windowDifference.length == .milliseconds(800))
  }

  @Test func `redundancy that the other side does not take costs no quality`() throws {
    let text = Compared.text("{ a: {}, b: { alice.audio.codecs: [red, opus] } }", measure: "[bob.q.mos]")
    let point = try #require(Compared.points(text).first)
    #expect(!point.numbers[0].values(of: "a").isEmpty)
    #expect(point.numbers[0].values(of: "a") == point.numbers[0].values(of: "b"))
  }

  private static let relays = "{ alice.ice.policy: relay, bob.ice.policy: relay }"

  @Test func `an arm in which nobody received media has no number at all`() throws {
    let text = Compared.text(
      "{ a: {}, b: \(Self.relays) }", expect: "  - { delta: \(Compared.sent), arms: [b, a], lt: 0 }",
      measure: "[\(Compared.sent), \"wire.bytes(from: alice)\"]")
    let point = try #require(Compared.points(text).first)
    #expect(point.gaps.map(\.text) == ["'b' has no value of any number in any run: nobody received media"])
    for number in point.numbers { #expect(number.values(of: "b").isEmpty && number.values(of: "a").count == 3) }
    let finding = try #require(point.findings.first)
    #expect(finding.kind == .vacuous)
    #expect(finding.actual.contains("nobody received media"))
  }

  @Test func `arms of which none has media can be compared`() throws {
    let text = Compared.text("{ a: \(Self.relays), b: \(Self.relays) }", measure: "[\"wire.bytes(from: alice)\"]")
    let point = try #require(Compared.points(text).first)
    #expect(point.gaps == [])
    #expect(point.numbers[0].values(of: "b").count == 3)
  }

  @Test func `a tenth of the window, a second and the time between two samples make no gap`() {
    var number = ArmComparison.Number(kind: .processor(.encoders))
    number.times = [
      "a": [1: .milliseconds(9_100), 2: .milliseconds(1_750), 3: .seconds(8), 4: .seconds(1), 5: .seconds(38)],
      "b": [1: .seconds(10), 2: .seconds(2), 3: .seconds(10), 4: .seconds(2), 5: .seconds(40)],
    ]
    #expect(number.shortness("a", 1) == nil)
    #expect(number.shortness("a", 2) == nil)
    #expect(number.shortness("a", 3) == .short(.seconds(8), than: "b", .seconds(10)))
    #expect(number.shortness("a", 4) == .short(.seconds(1), than: "b", .seconds(2)))
    #expect(number.shortness("a", 5) == .short(.seconds(38), than: "b", .seconds(40)))
    #expect(number.shortness("b", 3) == nil)
    number.times["c"] = [1: .seconds(11)]
    #expect(number.shortness("b", 1) == nil)
    #expect(number.shortness("a", 1) == .short(.milliseconds(9_100), than: "c", .seconds(11)))
  }
}
