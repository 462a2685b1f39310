import CallCore
import Codecs
import Testing

/// The sizes and rates of iLBC and iSAC, which are modelled.
@Suite struct ModelledCodecTests {
  @Test(arguments: [(20, ILBCMode.ms20), (40, .ms20), (10, .ms20), (30, .ms30), (60, .ms30)] as [(Int64, ILBCMode)])
  func `the mode of iLBC is that in which a packet holds whole frames`(milliseconds: Int64, mode: ILBCMode) {
    #expect(ILBCMode(packetOf: .milliseconds(milliseconds)) == mode)
  }

  @Test(arguments: ILBCMode.allCases) func `packets of iLBC hold whole frames of 38 or 50 bytes`(mode: ILBCMode) throws
  {
    for duration in mode.packetDurations {
      var settings = SyntheticAudioEncoder.Settings()
      (settings.packetDuration, settings.bitrate) = (duration, mode.bitrate)
      let frames = Int(duration.interval.milliseconds / mode.rawValue)
      #expect(settings.packetSize == frames * mode.frameSize)
    }
  }

  /// What the estimator says after packets of a rate, over a path that carries another, with headers of 35 bytes.
  func estimate(
    sending bitrate: Int64, over capacity: Double?, seconds: Int, from start: Int = 0,
    into estimator: inout ISACBottleneckEstimator
  ) -> Int64 {
    let size = Int(bitrate * 30 / 8_000)
    var free = 0.0
    for number in (start * 100 / 3)..<((start + seconds) * 100 / 3) {
      let sent = Double(number) * 0.03
      free = max(free, sent) + (capacity.map { Double((size + 35) * 8) / $0 } ?? 0)
      estimator.receive(
        size: size, timestamp: UInt32(truncatingIfNeeded: number * 480),
        at: .zero + .seconds(1).scaled(by: free + 0.05))
    }
    return ISAC.rates[Int(estimator.index)]
  }

  @Test func `a free path is said to carry more and more, up to 32 kbit per second`() {
    var estimator = ISACBottleneckEstimator()
    #expect(ISAC.rates[Int(estimator.index)] == 18_860)
    #expect(estimate(sending: 20_000, over: nil, seconds: 3, into: &estimator) > 20_000)
    #expect(estimate(sending: 20_000, over: nil, seconds: 10, from: 3, into: &estimator) == 32_000)
  }

  @Test func `a queue that stands lowers the estimate below what the path carries`() {
    var estimator = ISACBottleneckEstimator()
    // 25 kbit/s, of which headers take 9.3.
    let said = estimate(sending: 20_000, over: 25_000, seconds: 5, into: &estimator)
    #expect(said < 25_000 - 9_333 && said >= 10_000)
  }

  @Test func `the estimate is never below 10 kbit per second`() {
    var estimator = ISACBottleneckEstimator()
    #expect(estimate(sending: 20_000, over: 5_000, seconds: 20, into: &estimator) == 10_000)
  }

  @Test func `timestamps that wrap around are no delay`() {
    var estimator = ISACBottleneckEstimator()
    for number in 0..<400 {
      estimator.receive(
        size: 75, timestamp: UInt32.max &- 48_000 &+ UInt32(number) * 480, at: .zero + .milliseconds(30) * Int64(number)
      )
    }
    #expect(ISAC.rates[Int(estimator.index)] == 32_000)
  }

  @Test func `a packet says the rate that its sender can receive`() throws {
    var settings = SyntheticAudioEncoder.Settings()
    settings.packetDuration = .ms30
    for (bottleneck, rate) in [(3, .bitsPerSecond(13_733)), (nil, nil), (12, nil)] as [(UInt8?, DataRate?)] {
      settings.bottleneck = bottleneck
      let encoder = SyntheticAudioEncoder(settings: settings)
      let packet = try SyntheticCodecTests().encoded(encoder, AudioLevel(20))
      let said = SyntheticCodec.bottleneck(in: packet.span.bytes)
      #expect(said == rate && packet.count == 120)
    }
  }
}
