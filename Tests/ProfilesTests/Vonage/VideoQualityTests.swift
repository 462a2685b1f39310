import Testing

@testable import Profiles

@Suite struct VideoQualityTests {
  /// The verdicts on seconds with these losses, as receiver reports tell them.
  private func verdicts(_ losses: [Double], quality: inout VideoQuality) -> [VideoQuality.Verdict] {
    losses.enumerated().compactMap { second, loss in
      quality.measured(.init(packets: Int64(second * 100), repeated: 0, reportedLoss: loss))
    }
  }

  private func verdicts(_ losses: [Double]) -> [VideoQuality.Verdict] {
    var quality = VideoQuality()
    return verdicts(losses, quality: &quality)
  }

  @Test func `loss warns at once and disables after three seconds`() {
    #expect(verdicts([0, 0.2, 0.2]) == [.warning])
    #expect(verdicts([0, 0.2, 0.2, 0.2]) == [.warning, .disabled])
    #expect(verdicts([0, 0.09, 0.09, 0.09]) == [])
  }

  @Test func `a warning is lifted after five good seconds`() {
    #expect(verdicts([0, 0.2, 0, 0, 0, 0]) == [.warning])
    #expect(verdicts([0, 0.2, 0, 0, 0, 0, 0]) == [.warning, .lifted])
  }

  @Test func `packets that are sent again count as lost where the report tells of none`() {
    var quality = VideoQuality()
    let storm = (0...3).map { VideoQuality.Leg(packets: $0 * 300, repeated: $0 * 200, reportedLoss: 0) }
    #expect(storm.compactMap { quality.measured($0) } == [.warning, .disabled])
  }

  @Test func `video is tried again after thirty good seconds, and after a relapse after sixty`() {
    var quality = VideoQuality()
    let good = [Double](repeating: 0, count: 31)
    #expect(verdicts([0, 0.2, 0.2, 0.2], quality: &quality) == [.warning, .disabled])
    #expect(verdicts(good.dropLast(), quality: &quality) == [])
    #expect(verdicts([0, 0], quality: &quality).isEmpty == false)
    #expect(!quality.isDisabled)
    #expect(verdicts([0, 0.2, 0.2, 0.2], quality: &quality) == [.warning, .disabled])
    #expect(verdicts(good + good.dropLast(4), quality: &quality) == [])
    #expect(quality.isDisabled)
    #expect(verdicts([0] + good, quality: &quality) == [.enabled])
  }
}
