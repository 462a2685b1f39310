import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// Arms whose pictures do not compare, or never came.
@Suite struct ArmPicturesTests {
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
        if arm == "b" { result.hearers["bob"] = Instant.zero + .seconds(1) }
      }.first)
    #expect(
      point.deprived.map(\.text) == [
        "'b' gave bob no sound with seeds 1-3, and another arm did: fewer bytes are no gain"
      ])
  }

  @Test func `an arm that shows nothing gains nothing by the bytes it does not send`() throws {
    let point = try Self.point(
      "alice.video: { codecs: [VP9], size: 160x120, frame_rate: 5 }, bob.video: { codecs: [VP8], size: 80x60, frame_rate: 5 }",
      expect: Compared.allBytes,
      measure: Compared.allBytes)
    let text = "'b' gave bob no pictures with seeds 1-3, and another arm did: fewer bytes are no gain"
    #expect(point.deprived.map(\.text).contains(text))
    #expect(point.findings.map(\.actual) == [point.deprived.first?.text])
    #expect(CompareText(CompareReport([point]), style: .plain).text.contains(text))
  }
}
