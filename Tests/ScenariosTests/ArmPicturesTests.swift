import CallCore
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// Arms whose pictures do not compare, or never came.
@Suite struct ArmPicturesTests {
  /// Bob, who hears Alice.
  private static let alice = Receptions.Pair(receiver: "bob", sender: "alice")
  private static let concealed = "bob.stats.inbound-rtp.audio.concealedSamples"

  private static func point(_ other: String, expect: String, measure: String) throws -> ArmComparison {
    let video =
      "alice.video: { codecs: [VP8], size: 160x120, frame_rate: 5 }, bob.video: { codecs: [VP8], size: 80x60, frame_rate: 5 }"
    let text = Compared.text(
      "{ a: { \(video) }, b: { \(other) } }", expect: "  - { delta: \(expect), arms: [b, a], gt: -1e9 }",
      measure: "[\(measure)]", media: measure.contains("psnr") ? "real" : "synthetic")
    return try #require(Compared.points(text).first)
  }

  @Test func `pictures of cameras that take other sizes make no arm better`() throws {
    let point = try Self.point(
      "alice.video: { codecs: [VP8], size: 80x60, frame_rate: 5 }, bob.video: { codecs: [VP8], size: 80x60, frame_rate: 5 }",
      expect: "bob.q.psnr",
      measure: "bob.q.psnr")
    #expect(point.numbers.map(\.better) == [nil])
    #expect(point.findings.map(\.kind) == [.vacuous])
    #expect(point.gapTexts.contains { $0.hasPrefix("bob.q.psnr mean: no arm is better in it") })
  }

  @Test func `what a camera takes counts, whatever the file asks of it`() throws {
    let video =
      "alice.video: { codecs: [VP8], size: 160x120, frame_rate: 5 }, bob.video: { codecs: [VP8], size: 80x60, frame_rate: 5 }"
    let point = try Self.point(
      "\(video), alice.devices: { front_camera_formats: [320x240@5] }", expect: "bob.q.psnr", measure: "bob.q.psnr")
    #expect(point.numbers.map(\.better) == [nil])
    #expect(point.findings.map(\.kind) == [.vacuous])
  }

  @Test func `pictures of equal size are compared`() throws {
    let point = try Self.point(
      "alice.video: { codecs: [VP8], size: 160x120, frame_rate: 5, bitrate: 100kbps }, bob.video: { codecs: [VP8], size: 80x60, frame_rate: 5 }",
      expect: "bob.q.psnr", measure: "bob.q.psnr")
    #expect(point.numbers.map(\.better) == [.higher])
    #expect(point.findings.isEmpty)
  }

  @Test func `an arm that lost the sound before the window gains nothing by the bytes it does not send`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 60ms } }",
      measure: "[{ metric: \(Compared.allBytes), stat: rate, window: [2s, bye] }]")
    let point = try #require(
      Compared.points(text) { result, arm in
        if arm == "b" { result.receptions.heard[Self.alice] = .init(periods: [4, 5]) }
      }.first)
    #expect(
      point.deprived.map(\.text) == [
        "'b' gave bob no sound of alice with seeds 1-3, and another arm did: what that saves is no gain"
      ])
  }

  @Test func `an arm that plays silence gains nothing by the bytes it does not send`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.devices.permission: denied } }",
      expect: "  - { delta: \(Compared.allBytes), arms: [b, a], lt: 0B }",
      measure: Compared.allBytes)
    let point = try #require(Compared.points(text).first)
    #expect(
      point.deprived.map(\.text) == [
        "'b' gave bob no sound of alice with seeds 1-3, and another arm did: what that saves is no gain"
      ])
    #expect(point.findings.map(\.kind) == [.vacuous])
  }

  @Test func `a window that opens later in an arm says nothing of who hears whom`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 60ms } }",
      timeline: "  - { mark: late, when: bob.stats.inbound-rtp.audio.packetsReceived >= 60 }",
      measure: "[{ metric: \(Self.concealed), stat: rate, window: [late, bye] }, \(Compared.allBytes)]")
    let point = try #require(Compared.points(text.replacing("at: 6s", with: "at: 9s")).first)
    #expect(point.gaps.contains { $0.reason?.contains("window opened") ?? false }, "\(point.gapTexts)")
    #expect(point.deprived.isEmpty, "\(point.deprived)")
  }

  @Test func `an arm that shows nothing gains nothing by the bytes it does not send`() throws {
    let point = try Self.point(
      "alice.video: { codecs: [VP9], size: 160x120, frame_rate: 5 }, bob.video: { codecs: [VP8], size: 80x60, frame_rate: 5 }",
      expect: Compared.allBytes,
      measure: Compared.allBytes)
    let text = "'b' gave bob no pictures of alice with seeds 1-3, and another arm did: what that saves is no gain"
    #expect(point.deprived.map(\.text).contains(text))
    #expect(point.findings.map(\.actual) == [point.deprived.first?.text])
    #expect(CompareText(CompareReport([point]), style: .plain).text.contains(text))
  }

  @Test(arguments: ["real", "synthetic"])
  func `an arm whose camera is off for longer gains nothing by its black pictures`(media: String) throws {
    let video =
      "alice.video: { codecs: [VP8], size: 160x120, frame_rate: 5 }, bob.video: { codecs: [VP8], size: 80x60 }"
    let text = Compared.text(
      "{ 3s: { \(video) }, 5s: { \(video) } }",
      timeline: """
          - { at: 2500ms, do: alice.camera-off }
          - { at: "${arm}", do: alice.camera-on }
        """,
      measure: "[{ metric: \(Compared.allBytes), stat: rate, window: [2s, bye] }]", media: media)
    let point = try #require(Compared.points(text).first)
    #expect(point.deprived.map(\.arm) == ["5s"])
    #expect(point.deprived.first?.text.contains("pictures of alice") ?? false, "\(point.deprived)")
  }

  @Test func `an arm that lost the sound before a later window gains nothing in it`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 60ms } }",
      measure: "[\(Compared.allBytes), { metric: \(Compared.allBytes), stat: rate, window: [4s, bye] }]")
    let point = try #require(
      Compared.points(text) { result, arm in
        if arm == "b" { result.receptions.heard[Self.alice] = .init(periods: Array(2...12)) }
      }.first)
    #expect(point.deprived.map(\.arm) == ["b"])
    #expect(point.completeArms == ["a"])
  }

  @Test func `no arm gave less in a window in which hardly anything came in any`() throws {
    // What is under way at an end of the window comes before it or after.
    for (more, isLess) in [([8], false), ([16], false), (Array(8...15), true)] {
      let text = Compared.text(
        "{ a: {}, b: { alice.audio.ptime: 60ms } }",
        measure: "[{ metric: \(Compared.allBytes), stat: rate, window: [2s, 4s] }]")
      let point = try #require(
        Compared.points(text) { result, arm in
          result.receptions.heard[Self.alice] = .init(periods: [4, 5] + (arm == "a" ? more : []) + [20])
        }.first)
      #expect(point.deprived.map(\.arm) == (isLess ? ["b"] : []), "\(more)")
    }
  }

  @Test(arguments: [
    (1.0, "gt: 0.1", false), (-1, "gt: -3.9, lt: 3.9", false), (-0.1, "gt: -0.5", false), (-1, "lt: -0.1", true),
  ])
  func `an arm is neither better nor as good for a receiver to whom it gave nothing of one of the others`(
    difference: Double, bounds: String, isTested: Bool
  ) throws {
    var point = try #require(
      Compared.points(
        Compared.text(
          "{ a: {}, b: { alice.audio.ptime: 60ms } }",
          expect: "  - { delta: bob.q.mos, arms: [b, a], \(bounds) }", measure: "[bob.q.mos]")
      ) { result, arm in
        if arm == "b" { result.receptions.heard[Self.alice] = nil }
      }.first)
    let better: [UInt64: Double] = [1: 3.3, 2: 3.31, 3: 3.32]
    point.setSamples(["a": better, "b": better.mapValues { $0 + difference }.merging([1: 3.31 + difference]) { $1 }])
    #expect(point.findings.map(\.kind) == (isTested ? [] : [.vacuous]))
  }

  @Test func `a delta of what one peer sends straight to another fails where nobody does`() throws {
    let point = try #require(
      Compared.points(
        Compared.text(
          "{ a: {}, b: { alice.audio.ptime: 60ms } }",
          expect: "  - { delta: \"wire.rtp_bytes(from: alice, to: bob)\", arms: [b, a], gt: -1 }",
          measure: "[\"wire.rtp_bytes(from: alice, to: bob)\"]")
      ).first)
    var through = point
    through.setSamples(["a": [1: 0, 2: 0, 3: 0], "b": [1: 0, 2: 0, 3: 0]])
    #expect(point.findings.allSatisfy { $0.kind != .vacuous })
    #expect(through.findings.map(\.kind) == [.vacuous])
    #expect(through.gapTexts.contains { $0.contains("no arm carries anything") })
  }

  @Test func `actions that come at other times in another arm are told`() throws {
    let text = Compared.text("{ a: {}, b: { alice.audio.ptime: 60ms } }", measure: "[\(Compared.heard)]")
    let point = try #require(
      Compared.points(text) { result, arm in
        result.deeds["alice.mute (#9)"] = .zero + .milliseconds(arm == "b" ? 3_500 : 3_000)
      }.first)
    #expect(
      point.gapTexts.contains {
        $0.hasPrefix(
          "what follows events of a call comes at other times in one arm than in another, alice.mute (#9) up to 500ms")
      })
  }

  @Test func `nothing is left of the stage of an arm`() throws {
    let catalogue = ProfileCatalogue.builtIn
    let scenario = try #require(Compared.load(Compared.text("{ a: {}, b: {} }")).scenario?.cells.first?.scenario)
    weak var world: World?
    do {
      let context = MonitorContext(listeningTo: scenario, catalogue.registry, RunOutputs())
      let stage = try RunStage(context, seed: 1, profiles: catalogue, outputs: RunOutputs())
      world = stage.world
      try stage.world.start()
      stage.play(until: .zero + .seconds(3)) { false }
      #expect(stage.reception?.receptions.heard.isEmpty == false)
      context.close()
    }
    #expect(world == nil)
  }
}
