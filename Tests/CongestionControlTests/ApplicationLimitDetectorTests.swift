import CallCore
import Testing

@testable import CongestionControl

/// The sequences of libwebrtc's alr_detector_unittest.
@Suite struct ApplicationLimitDetectorTests {
  private struct Sender {
    var detector: ApplicationLimitDetector
    var now = Instant.zero

    init(settings: ApplicationLimitDetector.Settings = .init()) {
      detector = ApplicationLimitDetector(settings: settings)
      detector.setEstimate(.kilobitsPerSecond(300))
    }

    /// Sends a share of 300 kbit/s, in packets each 10 ms.
    mutating func send(percent: Int, milliseconds: Int64) -> Bool {
      for _ in 0..<milliseconds / 10 {
        now += .milliseconds(10)
        detector.sent(byteCount: 375 * percent / 100, at: now)
      }
      return detector.start != nil
    }
  }

  @Test func `sending a fifth of the estimate is limited, and sending all of it ends that`() {
    var sender = Sender()
    let isLimited = [
      sender.send(percent: 90, milliseconds: 1_000), sender.send(percent: 20, milliseconds: 1_500),
      sender.send(percent: 100, milliseconds: 4_000),
    ]
    #expect(isLimited == [false, true, false])
  }

  @Test func `a short burst does not end the region`() {
    var sender = Sender()
    let isLimited = [
      sender.send(percent: 20, milliseconds: 1_000), sender.send(percent: 150, milliseconds: 100),
      sender.send(percent: 20, milliseconds: 200), sender.send(percent: 100, milliseconds: 3_000),
      sender.send(percent: 100, milliseconds: 500),
    ]
    // From a full budget to 0.6 below zero take 3.2 s at 20 % more than its share.
    #expect(isLimited == [true, true, true, true, false])
  }

  @Test func `the constants of the code without the experiment end the region sooner`() {
    var settings = ApplicationLimitDetector.Settings()
    (settings.share, settings.enter, settings.leave) = (0.65, 0.8, 0.5)
    var sender = Sender(settings: settings)
    let isLimited = [
      sender.send(percent: 90, milliseconds: 1_000), sender.send(percent: 20, milliseconds: 1_500),
      sender.send(percent: 100, milliseconds: 500),
    ]
    #expect(isLimited == [false, true, false])
  }

  @Test func `an estimate that falls ends the region once what is sent is near it`() {
    var sender = Sender()
    let wasLimited = sender.send(percent: 20, milliseconds: 1_000)
    #expect(wasLimited)
    sender.detector.setEstimate(.kilobitsPerSecond(60))
    #expect(sender.detector.start != nil)
    let isLimited = sender.send(percent: 50, milliseconds: 1_000)
    #expect(!isLimited)
  }
}
