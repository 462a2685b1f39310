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

  @Test func `a far jump is believed only when the next packet follows it`() {
    var statistics = ReceptionStatistics(clockRate: 48_000, minimumSequential: 0)
    _ = statistics.receive(sequenceNumber: 10)
    let verdicts = [20_000, 11, 30_000, 30_001].map { statistics.receive(sequenceNumber: UInt16($0)) }
    #expect(verdicts == [.rejected, .advanced(missing: 0), .rejected, .restarted])
    #expect(statistics.cumulativeLost == 0)
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
