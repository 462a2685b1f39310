import Codecs
import Testing

@Suite struct AudioLevelMeterTests {
  @Test func `the level is the peak of 110 ms`() {
    var meter = AudioLevelMeter()
    for index in 0..<10 {
      meter.add(peak: index == 3 ? 0.8 : 0.1, samples: 480)
      #expect(meter.level == 0)
    }
    meter.add(peak: 0.2, samples: 480)
    #expect(meter.level == 0.8)
  }

  @Test func `after a peak the level sinks to a quarter at most`() {
    var meter = AudioLevelMeter()
    meter.add(peak: 0.8, samples: 5_280)
    meter.add(peak: 0, samples: 5_280)
    #expect(abs(meter.level - 0.2) < 0.001)
    meter.add(peak: 0.1, samples: 5_280)
    #expect(meter.level == 0.1)
    for _ in 0..<8 { meter.add(peak: 0, samples: 5_280) }
    #expect(meter.level == 0)
  }

  @Test func `energy is the level's square over time`() {
    var meter = AudioLevelMeter()
    meter.add(peak: 0.5, samples: 5_280)
    meter.add(peak: 0.5, samples: 480)
    #expect(abs(meter.totalEnergy - 0.25 * 0.12) < 1e-12 && abs(meter.totalDuration - 0.12) < 1e-12)
  }

  @Test func `the peak of samples is at most full scale`() {
    for (samples, expected) in [([.min, 5], 1), ([-16_384, 100], 16_384.0 / 32_767), ([], 0)] as [([Int16], Double)] {
      let peak = peakMagnitude(samples.span)
      #expect(peak == expected)
    }
  }
}
