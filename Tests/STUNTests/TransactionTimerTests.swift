import CallCore
import STUN
import Testing

@Suite struct TransactionTimerTests {
  private func instant(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  private static let rfc: [Int64] = [500, 1_500, 3_500, 7_500, 15_500, 31_500, 39_500]
  private static let libwebrtc: [Int64] = [250, 750, 1_750, 3_750, 7_750, 15_750, 23_750, 31_750, 39_750]

  @Test(arguments: [(STUNTransactionTimer.Policy(), rfc), (.libwebrtc, libwebrtc)])
  func `a request is sent again and given up at the times of RFC 8489, or of libwebrtc`(
    policy: STUNTransactionTimer.Policy, times: [Int64]
  ) {
    var timer = STUNTransactionTimer(sentAt: .zero, policy: policy)
    var expiries: [Instant] = []
    while true {
      let due = timer.deadline
      expiries.append(due)
      guard timer.advance(to: due) == .retransmit else { break }
    }
    #expect(expiries == times.map(instant))
    #expect(timer.transmissions == times.count)
  }

  @Test func `nothing is due before the deadline`() {
    var timer = STUNTransactionTimer(sentAt: .zero)
    let early = timer.advance(to: instant(499))
    #expect(early == nil && timer.transmissions == 1)
  }

  @Test func `a request sent once waits the final factor only`() {
    var timer = STUNTransactionTimer(
      sentAt: .zero, policy: .init(initialTimeout: .milliseconds(100), transmissions: 1, finalWaitFactor: 3))
    #expect(timer.deadline == instant(300))
    let expiry = timer.advance(to: instant(300))
    #expect(expiry == .timedOut)
  }

  @Test func `only an answer to a request sent once measures the round trip`() {
    var timer = STUNTransactionTimer(sentAt: .zero)
    #expect(timer.roundTripTime(at: instant(80)) == .milliseconds(80))
    _ = timer.advance(to: instant(500))
    #expect(timer.roundTripTime(at: instant(580)) == nil)
  }
}
