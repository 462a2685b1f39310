import CallCore
import RTP
import Testing

@Suite struct ReceptionStatisticsTests {
  @Test func `a source counts after two packets in sequence`() {
    var statistics = ReceptionStatistics(clockRate: 48_000)
    let verdicts = [10, 12, 13, 14].map { statistics.receive(sequenceNumber: UInt16($0)) }
    #expect(verdicts == [.probation, .probation, .advanced(missing: 0), .advanced(missing: 0)])
    #expect(statistics.received == 2)
    #expect(statistics.cumulativeLost == 0)
  }

  @Test func `loss is counted across the wrap and reordering repairs it`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    for sequence in [65_533, 65_534, 1] { _ = statistics.receive(sequenceNumber: UInt16(sequence)) }
    #expect(statistics.highestSequenceNumber == 65_537)
    #expect(statistics.cumulativeLost == 2)
    let late = statistics.receive(sequenceNumber: 0)
    #expect(late == .old)
    #expect(statistics.cumulativeLost == 1)
    #expect(statistics.highestSequenceNumber == 65_537)
  }

  @Test func `duplicates can make the loss negative`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    for sequence in [1, 2, 2, 2] { _ = statistics.receive(sequenceNumber: UInt16(sequence)) }
    #expect(statistics.cumulativeLost == -2)
    let fraction = statistics.takeFractionLost()
    #expect(fraction == 0)
  }

  @Test func `the fraction lost covers one interval`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    for sequence in UInt16(0)..<100 where sequence % 4 != 1 { _ = statistics.receive(sequenceNumber: sequence) }
    let first = statistics.takeFractionLost()
    #expect(first == 64)
    for sequence in UInt16(100)..<200 { _ = statistics.receive(sequenceNumber: sequence) }
    let second = statistics.takeFractionLost()
    #expect(second == 0)
    let none = statistics.takeFractionLost()
    #expect(none == 0)
  }

  @Test func `a far jump is a restart when the next packet follows it, and what was lost before stays lost`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    let verdicts = [1, 3, 5_000, 5_001, 5_003].map { statistics.receive(sequenceNumber: UInt16($0)) }
    #expect(
      verdicts == [.advanced(missing: 0), .advanced(missing: 1), .jumped, .restarted, .advanced(missing: 1)])
    #expect(statistics.cumulativeLost == 2 && statistics.received == 5)
    #expect(statistics.highestSequenceNumber == 5_003)
  }

  @Test func `a jump that nothing follows moves nothing, but is a packet received`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    let verdicts = [10, 20_000, 11, 12].map { statistics.receive(sequenceNumber: UInt16($0)) }
    #expect(verdicts == [.advanced(missing: 0), .jumped, .advanced(missing: 0), .advanced(missing: 0)])
    #expect(statistics.received == 4 && statistics.cumulativeLost == -1)
    #expect(statistics.highestSequenceNumber == 12)
  }

  @Test(arguments: [(49, 49, 13), (50, 0, 0), (100, 0, 0), (5_000, 0, 0)] as [(Int, Int64, UInt8)])
  func `a gap of fifty and more is a restart, as in libwebrtc`(missing: Int, lost: Int64, fraction: UInt8) {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    for number in 0..<900 { _ = statistics.receive(sequenceNumber: UInt16(number)) }
    for number in 900 + missing..<902 + missing { _ = statistics.receive(sequenceNumber: UInt16(number)) }
    #expect(statistics.cumulativeLost == lost && statistics.received == 902)
    let reported = statistics.takeFractionLost()
    #expect(reported == fraction)
  }

  @Test func `packets sent again and those of one frame are no jitter`() {
    var receiver = RTPReceiver(ssrc: 5, settings: .init(clockRate: 48_000))
    func receive(_ number: UInt16, timestamp: UInt32, at milliseconds: Int64) {
      let header = RTPHeader(payloadType: 111, sequenceNumber: number, timestamp: timestamp, ssrc: 5)
      let bytes = written { _ = header.write(into: &$0) }
      if let packet = RTPPacket(bytes: bytes) { _ = receiver.receive(packet, at: .milliseconds(milliseconds)) }
    }
    receive(1, timestamp: 960, at: 20)
    receive(3, timestamp: 2_880, at: 60)
    receive(2, timestamp: 1_920, at: 160)
    receive(4, timestamp: 3_840, at: 80)
    receive(5, timestamp: 3_840, at: 90)
    receive(6, timestamp: 4_800, at: 100)
    #expect(receiver.inbound.jitter == 0 && receiver.inbound.packetsReceived == 6)
    receive(7, timestamp: 5_760, at: 136)
    #expect(receiver.inbound.jitter == 0.001)
  }

  @Test func `a source silent for eight seconds is reported on no more until it is heard again`() {
    var receiver = RTPReceiver(ssrc: 5, settings: .init(clockRate: 48_000))
    func receive(_ number: UInt16, at second: Int64) {
      let header = RTPHeader(payloadType: 111, sequenceNumber: number, timestamp: 0, ssrc: 5)
      let bytes = written { _ = header.write(into: &$0) }
      if let packet = RTPPacket(bytes: bytes) { _ = receiver.receive(packet, at: .milliseconds(second * 1_000)) }
    }
    receive(1, at: 0)
    let reported = [1, 7, 8, 30].map { receiver.takeReportBlock(at: .milliseconds($0 * 1_000)) != nil }
    #expect(reported == [true, true, false, false])
    receive(2, at: 30)
    let again = receiver.takeReportBlock(at: .milliseconds(31_000))
    #expect(again?.highestSequenceNumber == 2)
  }

  @Test func `jitter converges on the mean transit difference`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    for index in 0..<500 {
      let late: Int64 = index % 2 == 0 ? 0 : 10
      statistics.receive(timestamp: UInt32(index) * 960, at: .milliseconds(Int64(index) * 20 + late))
    }
    #expect(abs(Int(statistics.jitter) - 480) <= 1)
  }

  @Test func `even arrival has no jitter, and neither has a set media clock`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    for index in 0..<50 { statistics.receive(timestamp: UInt32(index) * 960, at: .milliseconds(Int64(index) * 20)) }
    for index in 50..<90 {
      statistics.receive(timestamp: UInt32(index) * 960 + 1_000_000, at: .milliseconds(Int64(index) * 20))
    }
    #expect(statistics.jitter == 0)
  }
}

@Suite struct NACKGeneratorTests {
  func due(_ generator: inout NACKGenerator, at now: Instant) -> [UInt16] {
    var numbers: [UInt16] = []
    generator.takeDue(at: now, into: &numbers)
    return numbers
  }

  @Test func `a gap is asked for at once and again a round trip later`() {
    var generator = NACKGenerator()
    generator.roundTrip = .milliseconds(50)
    generator.receive(sequenceNumber: 65_534, at: .zero)
    generator.receive(sequenceNumber: 1, at: .zero)
    let asked1 = due(&generator, at: .zero)
    #expect(asked1 == [65_535, 0])
    let asked2 = due(&generator, at: .milliseconds(49))
    #expect(asked2 == [])
    generator.receive(sequenceNumber: 65_535, at: .milliseconds(49))
    let asked3 = due(&generator, at: .milliseconds(50))
    #expect(asked3 == [0])
    generator.receive(sequenceNumber: 0, at: .milliseconds(60))
    #expect(generator.deadline == nil)
  }

  @Test func `a request that cannot leave is used up no more than it is made`() {
    var settings = NACKGenerator.Settings()
    settings.maximumRequests = 1
    var generator = NACKGenerator(settings: settings)
    generator.receive(sequenceNumber: 1, at: .zero)
    generator.receive(sequenceNumber: 3, at: .zero)
    for step in 0..<5 {
      let now = Instant.milliseconds(Int64(step) * 100)
      #expect(generator.deadline == now)
      generator.postponeDue(at: now)
    }
    let asked = due(&generator, at: .milliseconds(500))
    #expect(asked == [2])
    generator.receive(sequenceNumber: 5, at: .milliseconds(500))
    generator.postponeDue(at: .milliseconds(1_500))
    #expect(generator.deadline == nil && generator.abandonedCount == 2)
  }

  @Test func `a number is given up after its last request`() {
    var settings = NACKGenerator.Settings()
    settings.maximumRequests = 3
    settings.maximumAge = .seconds(60)
    var generator = NACKGenerator(settings: settings)
    generator.receive(sequenceNumber: 1, at: .zero)
    generator.receive(sequenceNumber: 3, at: .zero)
    var requests = 0
    for step in 0..<100 { requests += due(&generator, at: .milliseconds(Int64(step) * 100)).count }
    #expect(requests == 3)
    #expect(generator.missingCount == 0)
    #expect(generator.abandonedCount == 1)
  }

  @Test func `a number too old to play is forgotten`() {
    var generator = NACKGenerator()
    generator.receive(sequenceNumber: 1, at: .zero)
    generator.receive(sequenceNumber: 3, at: .zero)
    let asked4 = due(&generator, at: .milliseconds(1_000))
    #expect(asked4 == [])
    #expect(generator.missingCount == 0)
  }

  @Test func `a gap too large to repair starts no storm`() {
    var generator = NACKGenerator()
    generator.receive(sequenceNumber: 1, at: .zero)
    generator.receive(sequenceNumber: 3_000, at: .zero)
    let asked5 = due(&generator, at: .zero)
    #expect(asked5 == [])
    #expect(generator.abandonedCount == 2_998)
  }

  @Test
  func `a source that goes on at another number is asked for what lies between, and for nothing when it went back`() {
    for (number, asked) in [(60, 3...58), (40_000, nil)] as [(UInt16, ClosedRange<UInt16>?)] {
      var generator = NACKGenerator()
      for sequence in UInt16(0)...2 { generator.receive(sequenceNumber: sequence, at: .zero) }
      generator.restart(at: number &- 1, now: .zero)
      generator.receive(sequenceNumber: number, at: .zero)
      let numbers = due(&generator, at: .zero)
      #expect(numbers == (asked.map(Array.init) ?? []))
    }
  }

  @Test func `the list never grows beyond its bound`() {
    var settings = NACKGenerator.Settings()
    settings.maximumListSize = 20
    var generator = NACKGenerator(settings: settings)
    for index in 0..<100 {
      generator.receive(sequenceNumber: UInt16(index * 11), at: .zero)
      #expect(generator.missingCount <= 20)
    }
    let asked6 = due(&generator, at: .zero)
    #expect(asked6.count == 20)
  }

  @Test func `reordering within the tolerance asks for nothing`() {
    var settings = NACKGenerator.Settings()
    settings.reorderingTolerance = .milliseconds(20)
    var generator = NACKGenerator(settings: settings)
    for sequence in [1, 3] { generator.receive(sequenceNumber: UInt16(sequence), at: .zero) }
    let asked7 = due(&generator, at: .milliseconds(19))
    #expect(asked7 == [])
    generator.receive(sequenceNumber: 2, at: .milliseconds(19))
    let asked8 = due(&generator, at: .milliseconds(40))
    #expect(asked8 == [])
  }
}
