import CallCore
import RTP
import Testing

@testable import CongestionControl
@testable import VideoReceive

/// Patterns 36, 38 and 41: when a receiver of video asks for key frames, what loss does to the estimate of bandwidth, and
/// in which order pictures are.
@Suite struct VideoPatternTests {
  @Test func `36 - a key frame is asked for once in a round trip, however often it is needed`() throws {
    try proves(.keyFrameRequestedAtOnce) { claims in
      var requester = KeyFrameRequester()
      requester.roundTrip = .milliseconds(200)
      var times: [Instant] = []
      for tick in 0..<100 {
        let now = Instant.zero + .milliseconds(10) * Int64(tick)
        requester.request(.decodeError, at: now)
        if requester.take(at: now) != nil { times.append(now) }
      }
      claims("it is asked for at all", times.count > 3)
      claims(
        "requests are a round trip apart", zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(200) })
    }
  }

  @Test func `38 - the estimate rises again when heavy loss is over`() throws {
    try proves(.estimateNeverRecovers) { claims in
      var estimator = LossBasedEstimator()
      var (number, now) = (Int64(0), Instant.zero)
      func send(seconds: Int, losingEach step: Int64?) {
        for _ in 0..<seconds * 20 {
          let packets = (0..<10).map { index in
            number += 1
            let sent = now + .milliseconds(5) * Int64(index)
            let isLost = step.map { number % $0 == 0 } ?? false
            return TransportSequencer.Result(number: number, byteCount: 600, sent: sent, arrived: isLost ? nil : sent)
          }
          now += .milliseconds(50)
          estimator.update(packets, delayEstimate: .kilobitsPerSecond(2_000), isApplicationLimited: false)
        }
      }
      send(seconds: 10, losingEach: 3)
      claims("a third of lost packets limits it", estimator.estimate.map { $0 < .kilobitsPerSecond(400) } ?? false)
      send(seconds: 20, losingEach: nil)
      claims("without loss it is that of the delay", estimator.estimate == .kilobitsPerSecond(2_000))
    }
  }

  @Test(arguments: [7, 15]) func `41 - pictures keep their order over the wrap of their identifiers`(bitWidth: Int)
    throws
  {
    try proves(.pictureIDsNotExtended) { claims in
      var unwrapper = PictureIDUnwrapper()
      let modulus = 1 << bitWidth
      let first = modulus - 5
      let order = (first..<first + 10).map {
        unwrapper.unwrap(bitWidth == 7 ? .short(UInt8($0 % modulus)) : .long(UInt16($0 % modulus)))
      }
      claims("each is one more than the last", zip(order, order.dropFirst()).allSatisfy { $1 == $0 + 1 })
    }
  }
}
