import CallCore
import Codecs
import JitterBuffer
import RTP
import StackWorlds
import Testing

@Suite struct AdaptationTests {
  /// An hour of 20 ms packets against a device whose clock is off.
  @Test(arguments: [200.0, -200.0]) func `an hour of clock drift neither starves nor grows the buffer`(drift: Double) {
    var talker = Talker(.ms60)
    let playback = Playback(drift: drift, pullSamples: 2_880)
    playback.keepsFrames = false
    let pattern = talker.stream(1)[0]
    let arrivals = (0..<60_000).lazy.map { index -> Arrival in
      var packet = pattern
      packet.at = .milliseconds(Int64(index) * 60)
      packet.header.sequenceNumber &+= UInt16(truncatingIfNeeded: index)
      packet.header.timestamp &+= UInt32(truncatingIfNeeded: index * 2_880)
      return packet
    }
    // The start's own changes of the target are over.
    playback.run(arrivals.prefix(500), until: .seconds(30))
    let begun = playback.statistics
    playback.run(arrivals.dropFirst(500), until: .seconds(3_600))
    let statistics = playback.statistics
    #expect(statistics.concealedSamples == 0)
    #expect(statistics.packetsDiscarded == 0)
    #expect(playback.currentDelay < .milliseconds(100))
    // 200 ppm of an hour is 720 ms, of which the band around the target absorbs a little.
    let drifted = Double(
      abs(
        (statistics.insertedSamplesForDeceleration - begun.insertedSamplesForDeceleration)
          - (statistics.removedSamplesForAcceleration - begun.removedSamplesForAcceleration)))
    #expect((0.62...0.80).contains(drifted / 48_000))
  }

  @Test(arguments: [(true, true, Int64(40)), (true, false, 20), (false, true, 20)])
  func `media that come as redundancy alone are as late as the packet that carries them`(
    isRedundant: Bool, isLossy: Bool, target: Int64
  ) {
    var talker = Talker(redundancy: isRedundant)
    let playback = Playback()
    playback.run(talker.stream(500).without { isLossy && $0 % 10 == 9 }, until: .milliseconds(9_970))
    #expect(playback.targetDelay == .milliseconds(target))
  }

  @Test(arguments: [PacketDuration.ms40, .ms60])
  func `redundancy of what the packet before brought is not late`(duration: PacketDuration) {
    var talker = Talker(duration, redundancy: true)
    let playback = Playback()
    playback.run(talker.stream(200), until: .zero + duration.interval * 199)
    #expect(playback.targetDelay == .milliseconds(20))
  }

  @Test func `a packet that comes after its redundancy has come already`() {
    var talker = Talker(redundancy: true)
    let playback = Playback()
    // So late that it would ask for 320 ms, every half second.
    let arrivals = talker.stream(500).delayed { $0 % 20 == 10 ? .milliseconds(300) : .zero }
    playback.run(arrivals, until: .milliseconds(9_970))
    #expect(playback.targetDelay == .milliseconds(40))
    #expect(playback.statistics.packetsDiscarded > 20)
  }

  @Test func `the target follows jitter up and down`() {
    var random = RandomSource(seed: 6).stream("jitter")
    var talker = Talker()
    // Half seconds fade by 1.7 % each, packets out of order by 0.07 % with each packet.
    let arrivals = talker.stream(10_000).delayed { index in
      (1_000..<2_000).contains(index) ? .milliseconds(random.uniform(in: 0...100)) : .zero
    }
    let playback = Playback()
    playback.run(arrivals.prefix(1_000), until: .seconds(20))
    #expect(playback.targetDelay == .milliseconds(20))
    let before = playback.statistics
    playback.run(arrivals[1_000..<2_000], until: .seconds(40))
    #expect((Interval.milliseconds(90)...(.milliseconds(130))).contains(playback.targetDelay))
    #expect(playback.currentDelay > .milliseconds(70))
    let during = playback.statistics
    #expect(during.packetsDiscarded - before.packetsDiscarded < 20)
    playback.run(arrivals[2_000...], until: .seconds(200))
    // Half seconds ask for 20 ms again. A packet 20 ms out of order would cost nothing to wait for beside that, so it is
    // waited for as long as any is remembered.
    #expect(playback.targetDelay == .milliseconds(40))
    #expect(playback.currentDelay <= .milliseconds(60))
    #expect(playback.statistics.removedSamplesForAcceleration > during.removedSamplesForAcceleration)
  }

  @Test func `a packet later than most is waited for, when one such comes in each half second`() {
    var talker = Talker()
    // One packet in 25 is 70 ms late: a quantile of 0.95 of all packets would not see it.
    let arrivals = talker.stream(1_500).delayed { $0 % 25 == 7 ? .milliseconds(70) : .zero }
    let playback = Playback()
    playback.run(arrivals.prefix(500), until: .seconds(10))
    #expect(playback.targetDelay == .milliseconds(80))
    let before = playback.statistics.concealedSamples
    playback.run(arrivals[500...], until: .seconds(30))
    #expect(playback.statistics.concealedSamples == before)
  }

  @Test func `waiting for packets out of order is worth 20 ms for a percent of them`() {
    func target(oneIn period: Int) -> Interval {
      var talker = Talker()
      let arrivals = talker.stream(3_000).delayed { $0 % period == 1 ? .milliseconds(130) : .zero }
      let playback = Playback()
      playback.run(arrivals, until: .seconds(60))
      return playback.targetDelay
    }
    #expect(target(oneIn: 100) == .milliseconds(20))
    #expect(target(oneIn: 10) == .milliseconds(140))
  }

  @Test func `between the target and the latest packet of late, nothing is stretched`() {
    var random = RandomSource(seed: 9).stream("jitter")
    var talker = Talker()
    let arrivals = talker.stream(3_000).delayed { _ in .milliseconds(random.uniform(in: 0...60)) }
    let playback = Playback()
    playback.run(arrivals.prefix(500), until: .seconds(10))
    let before = playback.statistics
    playback.run(arrivals[500...], until: .seconds(60))
    let statistics = playback.statistics
    let stretched =
      statistics.removedSamplesForAcceleration - before.removedSamplesForAcceleration
      + statistics.insertedSamplesForDeceleration - before.insertedSamplesForDeceleration
    // Less than a thousandth of what was played.
    #expect(stretched < 2_400)
  }

  @Test func `once adapted, few packets are late`() {
    var random = RandomSource(seed: 7).stream("jitter")
    var talker = Talker()
    let arrivals = talker.stream(3_000).delayed { _ in .milliseconds(random.uniform(in: 0...60)) }
    let playback = Playback()
    playback.run(arrivals.prefix(500), until: .seconds(10))
    let before = playback.statistics.concealedSamples
    playback.run(arrivals[500...], until: .seconds(60))
    #expect(Double(playback.statistics.concealedSamples - before) / 2_400_000 < 0.02)
  }

  @Test func `limits bound the target`() {
    var settings = AudioJitterBuffer.Settings()
    settings.minimumDelay = .milliseconds(120)
    var talker = Talker()
    let floor = Playback(settings: settings)
    floor.run(talker.stream(500), until: .seconds(10))
    #expect(floor.targetDelay == .milliseconds(120))
    #expect((Interval.milliseconds(85)...(.milliseconds(135))).contains(floor.currentDelay))
    #expect(floor.statistics.jitterBufferMinimumDelay < floor.statistics.jitterBufferTargetDelay)

    settings.minimumDelay = .zero
    settings.maximumDelay = .milliseconds(50)
    var random = RandomSource(seed: 7).stream("jitter")
    var other = Talker()
    let ceiling = Playback(settings: settings)
    ceiling.run(other.stream(500).delayed { _ in .milliseconds(random.uniform(in: 0...200)) }, until: .seconds(10))
    #expect(ceiling.targetDelay == .milliseconds(50))
  }

  @Test func `a burst held back by the network is caught up with`() {
    var talker = Talker()
    // 600 ms in which nothing arrives, and then everything at once.
    let arrivals = talker.stream(1_000).delayed { index in
      (100..<130).contains(index) ? .milliseconds(Int64(130 - index) * 20) : .zero
    }
    let playback = Playback()
    playback.run(arrivals, until: .seconds(20))
    #expect(playback.statistics.packetsDiscarded == 0)
    #expect(playback.statistics.removedSamplesForAcceleration > 20_000)
    #expect(playback.currentDelay < .milliseconds(80))
  }

  @Test(arguments: [1_001, 20_000, -5_000]) func `a sequence jump resynchronises`(jump: Int) {
    var talker = Talker()
    let first = talker.stream(100)
    talker.sequence = UInt16(truncatingIfNeeded: Int(talker.sequence) + jump)
    let playback = Playback()
    playback.run(first + talker.stream(100, from: .seconds(2)), until: .milliseconds(3_900))
    #expect(playback.statistics.resynchronizations == 1)
    #expect(playback.frames.suffix(170).allSatisfy { $0.source == .decoded })
  }

  @Test(arguments: [31, 3_000, -31, -10, 10]) func `a timestamp jump does not leave playout stuck`(seconds: Int) {
    var talker = Talker()
    let first = talker.stream(100)
    talker.timestamp = UInt32(truncatingIfNeeded: Int(talker.timestamp) + seconds * 48_000)
    let playback = Playback()
    playback.run(first + talker.stream(250, from: .seconds(2)), until: .milliseconds(6_900))
    #expect(playback.frames.suffix(400).allSatisfy { $0.source == .decoded })
    #expect(playback.targetDelay < .milliseconds(100))
    #expect(playback.currentDelay < .milliseconds(150))
  }

  @Test func `a new source starts afresh`() {
    var talker = Talker()
    let first = talker.stream(100)
    var other = Talker()
    other.ssrc = 2
    other.sequence = 5
    other.timestamp = 77
    let playback = Playback()
    playback.run(first + other.stream(100, from: .seconds(2)), until: .milliseconds(3_900))
    #expect(playback.frames.suffix(180).allSatisfy { $0.source == .decoded })
  }

  @Test func `two runs are the same`() {
    func run() -> ([PlayoutFrame], AudioJitterBufferStatistics) {
      var random = RandomSource(seed: 3).stream("jitter")
      var talker = Talker(redundancy: true)
      let arrivals = talker.stream(1_000).delayed { _ in .milliseconds(random.uniform(in: 0...80)) }
      let playback = Playback()
      playback.run(arrivals.without { $0 % 9 == 1 }, until: .seconds(20))
      return (playback.frames, playback.statistics)
    }
    #expect(run() == run())
  }
}
