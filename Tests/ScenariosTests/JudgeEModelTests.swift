import Testing

@testable import ScenarioJudge

@Suite struct JudgeEModelTests {
  private static func isClose(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-4 }

  @Test(arguments: [
    (0.0, 0.0, 93.206208, 4.409406), (100, 200, 90.663730, 4.354920), (150, 300, 89.539132, 4.327546),
    (250, 500, 79.177101, 3.992519),
  ])
  func `a narrowband connection with echo is rated as in G.107`(
    _ delay: Double, _ roundTrip: Double, _ rating: Double, _ score: Double
  ) {
    let model = EModel(bandwidth: .narrowband, codec: .init(impairment: 0, robustness: 4.3))
    let connection = EModel.Connection(delay: delay, echoDelay: delay, roundTrip: roundTrip)
    #expect(Self.isClose(model.rating(connection), rating))
    #expect(Self.isClose(model.meanOpinionScore(connection), score))
  }

  @Test(arguments: [
    (EModel.Codec.g711WithConcealment, 5.0, 1.0, 77.425477, 3.923091),
    (.g711WithConcealment, 5, 2, 75.996063, 3.864123),
    (EModel.Codec(impairment: 11, robustness: 19), 2, 1, 74.206208, 3.787558),
  ])
  func `loss is rated by the codec's robustness and the burst ratio`(
    _ codec: EModel.Codec, _ loss: Double, _ burst: Double, _ rating: Double, _ score: Double
  ) {
    let model = EModel(bandwidth: .narrowband, codec: codec)
    let connection = EModel.Connection(loss: loss, burstRatio: burst)
    #expect(Self.isClose(model.rating(connection), rating))
    #expect(Self.isClose(model.meanOpinionScore(connection), score))
  }

  /// G.113 of 1999 tabulates impairments that its later formula was fitted to.
  @Test(arguments: [
    (EModel.Codec(impairment: 11, robustness: 19), 2.0, 19.0), (EModel.Codec(impairment: 11, robustness: 19), 8, 36),
    (EModel.Codec(impairment: 11, robustness: 19), 16, 49), (EModel.Codec(impairment: 5, robustness: 10), 5, 33),
    (.g711WithConcealment, 10, 25),
  ])
  func `loss impairs codecs as the older tables have it`(_ codec: EModel.Codec, _ loss: Double, _ tabulated: Double) {
    let model = EModel(bandwidth: .narrowband, codec: codec)
    #expect(abs(model.effectiveImpairment(loss: loss, burstRatio: 1) - tabulated) < 2.5)
  }

  @Test func `wideband has its own scale`() {
    let clean = EModel(bandwidth: .wideband, codec: .init(impairment: 0, robustness: 4.3))
    #expect(Self.isClose(clean.rating(.init()), 128.846315))
    #expect(Self.isClose(clean.meanOpinionScore(.init()), 4.499152))
    let lossy = EModel(bandwidth: .wideband, codec: .init(impairment: 20, robustness: 4.3))
    #expect(Self.isClose(lossy.effectiveImpairment(loss: 2, burstRatio: 1), 43.8095))
    #expect(Self.isClose(lossy.meanOpinionScore(rating: 85.1905), 3.4062))
  }

  @Test func `on the fullband scale a codec of less bandwidth has the rating of its own scale`() throws {
    func rating(_ format: EModel.AudioFormat) throws -> Double {
      let codec = try #require(EModel.Codec.fullband(format, bitrate: 32))
      return EModel(bandwidth: .fullband, codec: codec).rating(.init())
    }
    let (telephone, wideband) = (try rating(.g711), try rating(.g722))
    #expect(abs(telephone - 93.2) < 0.2 && abs(wideband - 116) < 0.2)
    #expect(try rating(.opus) > wideband)
  }

  @Test func `Opus has a rating from where it codes wideband speech on`() {
    #expect(
      [6, 8, 8.5, 9, 12, 32].map { EModel.Codec.fullband(.opus, bitrate: $0) != nil } == [
        false, false, true, true, true, true,
      ])
  }

  @Test(arguments: ["audio/iLBC", "audio/isac"]) func `a codec without published values has no rating`(type: String) {
    #expect(EModel.Codec.fullband(EModel.AudioFormat(mimeType: type), bitrate: 15) == nil)
  }

  @Test(
    arguments: [
      ("audio/PCMU", EModel.AudioFormat.g711), ("audio/pcma", .g711), ("audio/G722", .g722), ("audio/opus", .opus),
      (nil, .opus),
    ] as [(String?, EModel.AudioFormat)])
  func `the format is known by its media type`(_ type: String?, _ format: EModel.AudioFormat) {
    #expect(EModel.AudioFormat(mimeType: type) == format)
  }

  @Test func `the score stays between 1 and 4_5`() {
    let model = EModel(bandwidth: .narrowband, codec: .opus(bitrate: 32))
    for rating in [-20.0, 0, 3, 6.5] { #expect(model.meanOpinionScore(rating: rating) >= 1) }
    #expect(model.meanOpinionScore(rating: 130) == 4.5)
  }
}
