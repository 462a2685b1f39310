import CallCore
import Testing

@testable import RTP

/// RFC 3550's appendices, written once more word for word, and what we count held against them.
enum Reference {
  /// Appendix A.1: `init_seq`, `update_seq`. Appendix A.3: `expected` and `lost`. Appendix A.8: the jitter.
  struct Source {
    static let (maxDropout, maxMisorder, sequenceModulus) = (3_000, 100, 1 << 16)
    let minSequential: Int
    var maxSeq = 0
    var cycles = 0
    var baseSeq = 0
    var badSeq = 0
    var probation = 0
    var received = 0
    var expectedPrior = 0
    var receivedPrior = 0
    var transit = 0
    var jitter = 0

    /// A source is created with its first packet (appendix A.1): `init_seq`, `max_seq = seq - 1`, `probation`.
    init(first seq: Int, minSequential: Int) {
      self.minSequential = minSequential
      initSeq(seq)
      maxSeq = (seq + Self.sequenceModulus - 1) % Self.sequenceModulus
      probation = minSequential
    }

    mutating func initSeq(_ seq: Int) {
      baseSeq = seq
      maxSeq = seq
      badSeq = Self.sequenceModulus + 1
      cycles = 0
      received = 0
      receivedPrior = 0
      expectedPrior = 0
    }

    mutating func updateSeq(_ seq: Int) -> Bool {
      let delta = (seq - maxSeq + Self.sequenceModulus) % Self.sequenceModulus
      if probation > 0 {
        if seq == (maxSeq + 1) % Self.sequenceModulus {
          probation -= 1
          maxSeq = seq
          if probation == 0 {
            initSeq(seq)
            received += 1
            return true
          }
        } else {
          probation = minSequential - 1
          maxSeq = seq
        }
        return false
      } else if delta < Self.maxDropout {
        if seq < maxSeq { cycles += Self.sequenceModulus }
        maxSeq = seq
      } else if delta <= Self.sequenceModulus - Self.maxMisorder {
        if seq == badSeq {
          initSeq(seq)
        } else {
          badSeq = (seq + 1) & (Self.sequenceModulus - 1)
          return false
        }
      }
      received += 1
      return true
    }

    var extendedMax: Int { cycles + maxSeq }
    var expected: Int { extendedMax - baseSeq + 1 }
    var lost: Int { expected - received }

    mutating func fraction() -> Int {
      let expectedInterval = expected - expectedPrior
      expectedPrior = expected
      let receivedInterval = received - receivedPrior
      receivedPrior = received
      let lostInterval = expectedInterval - receivedInterval
      return expectedInterval == 0 || lostInterval <= 0 ? 0 : (lostInterval << 8) / expectedInterval
    }

    mutating func updateJitter(arrival: Int, timestamp: Int, isFirst: Bool) {
      let now = arrival - timestamp
      let d = abs(now - transit)
      transit = now
      if !isFirst { jitter += d - ((jitter + 8) >> 4) }
    }
  }

  /// Appendix A.7: `rtcp_interval`, before it is randomised, in seconds.
  static func deterministicInterval(
    members: Int, senders: Int, bandwidth: Double, weSent: Bool, averageSize: Double, isInitial: Bool
  ) -> Double {
    var minimum = 5.0
    var (bandwidth, n) = (bandwidth, members)
    if isInitial { minimum /= 2 }
    if Double(senders) <= Double(members) * 0.25 {
      if weSent {
        bandwidth *= 0.25
        n = senders
      } else {
        bandwidth *= 0.75
        n -= senders
      }
    }
    return max(averageSize * Double(n) / bandwidth, minimum)
  }
}

@Suite struct ReferenceAlgorithmTests {
  /// A walk through what happens to sequence numbers: steps, gaps, repeats, reordering and wraps. Larger steps are left
  /// out: what they mean the appendix and libwebrtc see differently, and we are with libwebrtc.
  private func walk(_ random: inout RandomStream, from first: UInt16, count: Int) -> [UInt16] {
    var numbers = [first]
    var head = first
    for _ in 1..<count {
      switch random.uniform(below: 20) {
      case 0: numbers.append(head &- UInt16(random.uniform(below: 51)))
      case 1: head = head &+ 1 &+ UInt16(random.uniform(below: 50))
      default: head = head &+ 1
      }
      numbers.append(head)
    }
    return numbers
  }

  @Test(arguments: 0..<32, [0, 2, 3])
  func `A-1 and A-3 - validity, loss and its fraction are those of the appendix`(seed: Int, minimumSequential: Int) {
    var random = RandomSource(seed: UInt64(seed)).stream("sequence")
    let numbers = walk(&random, from: UInt16(truncatingIfNeeded: random.next()), count: 600)
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: minimumSequential)
    var reference = Reference.Source(first: Int(numbers[0]), minSequential: minimumSequential)
    // The appendix begins with a source in probation; one known from signalling begins after it.
    if minimumSequential == 0 { reference.initSeq(Int(numbers[0])) }
    for (index, number) in numbers.enumerated() {
      let verdict = statistics.receive(sequenceNumber: number)
      let isValid: Bool
      if minimumSequential == 0, index == 0 {
        reference.received = 1
        isValid = true
      } else {
        isValid = reference.updateSeq(Int(number))
      }
      #expect((verdict != .probation) == isValid, "packet \(index), number \(number)")
      guard statistics.isValid else { continue }
      #expect(Int(statistics.highestSequenceNumber) == reference.extendedMax)
      #expect(Int(statistics.received) == reference.received && Int(statistics.cumulativeLost) == reference.lost)
      if index % 25 == 0 {
        let fraction = statistics.takeFractionLost()
        #expect(Int(fraction) == min(255, reference.fraction()))
      }
    }
  }

  @Test(arguments: 0..<16)
  func `A-8 - the interarrival jitter is that of the appendix`(seed: Int) {
    var random = RandomSource(seed: UInt64(seed)).stream("arrival")
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    var reference = Reference.Source(first: 0, minSequential: 0)
    var arrival = 0
    for index in 0..<1_000 {
      arrival += Int(random.uniform(below: 2_000))
      // 48 ticks a millisecond: arrivals at whole ticks leave nothing to round.
      statistics.receive(timestamp: UInt32(index * 960), at: .zero + .milliseconds(Int64(arrival)))
      reference.updateJitter(arrival: arrival * 48, timestamp: index * 960, isFirst: index == 0)
      #expect(Int(statistics.jitter) == reference.jitter >> 4)
    }
  }

  @Test(arguments: [200.0, 1_000, 20_000, 1_000_000], [(60, 2), (1_200, 2)])
  func `A-7 - the reporting interval is that of the appendix for two members who both send`(
    bitsPerSecond: Double, sizes: (packet: Int, members: Int)
  ) throws {
    var settings = RTCPScheduler.Settings()
    settings.bandwidth = .bitsPerSecond(Int64(bitsPerSecond))
    settings.spread = 0
    var scheduler = RTCPScheduler(settings: settings, random: RandomStream(seed: 1))
    scheduler.start(at: .zero)
    for _ in 0..<400 { scheduler.note(byteCount: sizes.packet) }
    scheduler.sentReport(byteCount: sizes.packet, at: .zero)
    let wanted = Reference.deterministicInterval(
      members: sizes.members, senders: sizes.members, bandwidth: bitsPerSecond / 8, weSent: true,
      averageSize: Double(sizes.packet + 28), isInitial: false)
    let found = scheduler.deadline
    let deadline = try #require(found)
    #expect(abs(deadline.seconds - wanted) < 0.001 * wanted)
  }

  @Test func `A-7 - the first report comes after half the time, at random within half to one and a half of it`() throws
  {
    var earliest = 10.0
    var latest = 0.0
    for seed in 0..<500 {
      var scheduler = RTCPScheduler(random: RandomStream(seed: UInt64(seed)))
      scheduler.start(at: .zero)
      let found = scheduler.deadline
      let deadline = try #require(found).seconds
      (earliest, latest) = (min(earliest, deadline), max(latest, deadline))
    }
    let half = Reference.deterministicInterval(
      members: 2, senders: 2, bandwidth: .infinity, weSent: true, averageSize: 128, isInitial: true)
    #expect(earliest >= 0.5 * half && earliest < 0.52 * half)
    #expect(latest <= 1.5 * half && latest > 1.48 * half)
  }
}
