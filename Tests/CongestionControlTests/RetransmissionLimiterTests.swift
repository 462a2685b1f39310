import CallCore
import Testing

@testable import CongestionControl

@Suite struct RetransmissionLimiterTests {
  private static func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func `without a limit everything is sent again`() {
    var limiter = RetransmissionLimiter()
    var admitted = 0
    for time: Int64 in 0..<100 {
      if limiter.admits(at: Self.at(time)) { admitted += 1 }
      limiter.sent(byteCount: 1_200, at: Self.at(time))
    }
    #expect(admitted == 100)
    #expect(limiter.refusedCount == 0)
  }

  @Test func `beyond the rate of half a second nothing is sent again until the window has moved on`() {
    var limiter = RetransmissionLimiter()
    // 100 kbit/s are 6250 bytes in 500 ms.
    limiter.maximum = .kilobitsPerSecond(100)
    limiter.sent(byteCount: 6_250, at: Self.at(10))
    let atTheRate = limiter.admits(at: Self.at(10))
    #expect(atTheRate)
    limiter.sent(byteCount: 1, at: Self.at(10))
    let above = limiter.admits(at: Self.at(509))
    #expect(!above)
    #expect(limiter.refusedCount == 1)
    let later = limiter.admits(at: Self.at(510))
    #expect(later)
  }

  @Test func `the rate is that of the last half second`() {
    var limiter = RetransmissionLimiter()
    limiter.sent(byteCount: 5_000, at: .zero)
    limiter.sent(byteCount: 1_250, at: Self.at(400))
    #expect(limiter.rate(at: Self.at(450)) == .kilobitsPerSecond(100))
    #expect(limiter.rate(at: Self.at(600)) == .kilobitsPerSecond(20))
    #expect(limiter.rate(at: Self.at(2_000)) == .zero)
  }
}
