import CallCore
import RTP
import Testing

@testable import VideoReceive

@Suite struct KeyFrameRequesterTests {
  func take(_ requester: inout KeyFrameRequester, at milliseconds: Int64) -> KeyFrameRequester.Reason? {
    requester.take(at: .milliseconds(milliseconds))
  }

  @Test func `the first request leaves at once`() {
    var requester = KeyFrameRequester()
    #expect(requester.deadline == nil)
    requester.request(.firstFrameIsDelta, at: .milliseconds(7))
    #expect(requester.deadline ?? .milliseconds(99) <= .milliseconds(7))
    let reason = take(&requester, at: 7)
    #expect(reason == .firstFrameIsDelta)
    let again = take(&requester, at: 8)
    #expect(again == nil)
  }

  @Test func `requests within a round trip become one after it`() {
    var requester = KeyFrameRequester()
    requester.roundTrip = .milliseconds(250)
    requester.request(.decodeError, at: .zero)
    _ = take(&requester, at: 0)
    for time: Int64 in 1...240 {
      requester.request(.decodeError, at: .milliseconds(time))
      let early = take(&requester, at: time)
      #expect(early == nil)
    }
    #expect(requester.deadline == .milliseconds(250))
    let due = take(&requester, at: 250)
    #expect(due == .decodeError)
    #expect(requester.sentCount == 2)
    #expect(requester.neededCount == 241)
  }

  @Test func `a key frame that arrives makes a waiting request needless`() {
    var requester = KeyFrameRequester()
    requester.request(.timeout, at: .zero)
    _ = take(&requester, at: 0)
    requester.request(.timeout, at: .milliseconds(5))
    requester.keyFrameArrived()
    let none = take(&requester, at: 500)
    #expect(none == nil)
  }

  @Test func `a request that cannot be sent is tried again after a round trip`() {
    var requester = KeyFrameRequester()
    requester.roundTrip = .milliseconds(250)
    requester.request(.timeout, at: .milliseconds(5))
    requester.postpone(at: .milliseconds(5))
    let early = take(&requester, at: 254)
    #expect(early == nil && requester.deadline == .milliseconds(255))
    let due = take(&requester, at: 255)
    #expect(due == .timeout)
    #expect(requester.sentCount == 1)
  }

  @Test func `a missing structure is asked for once a second`() {
    var requester = KeyFrameRequester()
    var sent: [Int64] = []
    for time in stride(from: Int64(0), through: 2_500, by: 10) {
      requester.request(.missingStructure, at: .milliseconds(time))
      if take(&requester, at: time) != nil { sent.append(time) }
    }
    #expect(sent == [0, 1_000, 2_000])
  }
}

@Suite struct FreezeDetectorTests {
  func detector(_ intervals: [Int64]) -> FreezeDetector {
    var detector = FreezeDetector()
    var now: Int64 = 1_000
    detector.frameRendered(at: .milliseconds(now))
    for interval in intervals {
      now += interval
      detector.frameRendered(at: .milliseconds(now))
    }
    return detector
  }

  @Test func `an interval 150 ms above the mean is a freeze, in its whole length`() {
    // With a mean of (29 * 33 + 188) / 30 = 38 ms, 188 is the least.
    let steady = [Int64](repeating: 33, count: 40)
    #expect(detector(steady + [187]).freezeCount == 0)
    let frozen = detector(steady + [188])
    #expect(frozen.freezeCount == 1)
    #expect(frozen.totalFreezesDuration == .milliseconds(188))
  }

  @Test func `an interval of three times the mean is a freeze for slow video`() {
    // The mean is (29 * 200 + x) / 30; three times it is above the mean and 150 ms.
    let steady = [Int64](repeating: 200, count: 40)
    #expect(detector(steady + [640]).freezeCount == 0)
    #expect(detector(steady + [645]).freezeCount == 1)
  }

  @Test func `fewer than five intervals have no mean to freeze against`() {
    #expect(detector([33, 33, 33, 2_000]).freezeCount == 0)
    #expect(detector([33, 33, 33, 33, 2_000]).freezeCount == 1)
  }

  @Test func `the interval of a pause is none`() {
    var detector = detector([Int64](repeating: 33, count: 40))
    detector.streamPaused()
    detector.frameRendered(at: .milliseconds(20_000))
    #expect(detector.freezeCount == 0)
    #expect(detector.pauseCount == 1)
    let last: Int64 = 1_000 + 40 * 33
    #expect(detector.totalPausesDuration == .milliseconds(20_000 - last))
  }

  @Test func `intervals and their squares are summed, with freezes`() {
    let detector = detector([100, 300])
    #expect(abs(detector.totalInterFrameDelay - 0.4) < 1e-9)
    #expect(abs(detector.totalSquaredInterFrameDelay - 0.1) < 1e-9)
    #expect(detector.renderedCount == 3)
  }
}

@Suite struct VideoNACKTests {
  @Test func `a gap of 1000 is requested, and one more clears the list`() {
    var generator = NACKGenerator(settings: .video)
    generator.receive(sequenceNumber: 0, at: .zero)
    generator.receive(sequenceNumber: 1_001, at: .zero)
    #expect(generator.missingCount == 1_000)
    #expect(generator.overflowCount == 0)
    generator.receive(sequenceNumber: 1_003, at: .zero)
    #expect(generator.missingCount == 0)
    #expect(generator.overflowCount == 1)
    generator.receive(sequenceNumber: 1_005, at: .zero)
    #expect(generator.missingCount == 1)
  }

  @Test func `a number 10 000 packets old is forgotten`() {
    var generator = NACKGenerator(settings: .video)
    for number: UInt16 in [0, 2] { generator.receive(sequenceNumber: number, at: .zero) }
    for number: UInt16 in 3...10_001 { generator.receive(sequenceNumber: number, at: .zero) }
    #expect(generator.missingCount == 1)
    generator.receive(sequenceNumber: 10_003, at: .zero)
    #expect(generator.missingCount == 1)
    #expect(generator.abandonedCount == 1)
  }

  @Test func `a number is requested ten times, a round trip apart, and then given up`() {
    var generator = NACKGenerator(settings: .video)
    generator.receive(sequenceNumber: 0, at: .zero)
    generator.receive(sequenceNumber: 2, at: .zero)
    var times: [Int64] = []
    for time: Int64 in 0...5_000 {
      var numbers: [UInt16] = []
      generator.takeDue(at: .milliseconds(time), into: &numbers)
      if !numbers.isEmpty { times.append(time) }
    }
    #expect(times == (0..<10).map { $0 * 100 })
  }

  @Test func `a packet tells how often it was requested, and a decoded frame ends the requests before it`() {
    var generator = NACKGenerator(settings: .video)
    generator.receive(sequenceNumber: 65_534, at: .zero)
    generator.receive(sequenceNumber: 4, at: .zero)
    var numbers: [UInt16] = []
    generator.takeDue(at: .zero, into: &numbers)
    #expect(numbers == [65_535, 0, 1, 2, 3])
    let requests = generator.receive(sequenceNumber: 0, at: .milliseconds(40))
    #expect(requests == 1)
    let copy = generator.receive(sequenceNumber: 0, at: .milliseconds(41))
    #expect(copy == 0)
    generator.discard(through: 2)
    #expect(generator.missingCount == 1)
  }
}
