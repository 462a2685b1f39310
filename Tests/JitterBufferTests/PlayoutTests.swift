import CallCore
import Codecs
import JitterBuffer
import RTP
import StackWorlds
import Testing

@Suite struct PlayoutTests {
  func settings(minimum: Int64 = 0, initial: Int64 = 20) -> AudioJitterBuffer.Settings {
    var settings = AudioJitterBuffer.Settings()
    settings.minimumDelay = .milliseconds(minimum)
    settings.initialDelay = .milliseconds(initial)
    return settings
  }

  @Test func `an even stream plays without a single invented or stretched sample`() {
    var talker = Talker()
    let playback = Playback(settings: settings())
    playback.run(talker.stream(500), until: .seconds(10))
    let statistics = playback.statistics
    #expect(statistics.concealedSamples == 0)
    #expect(statistics.insertedSamplesForDeceleration + statistics.removedSamplesForAcceleration == 0)
    #expect(statistics.packetsDiscarded == 0)
    #expect(statistics.totalSamplesReceived > 478_000)
    #expect(statistics.jitterBufferEmittedCount > 478_000)
    let delay = statistics.jitterBufferDelay / Double(statistics.jitterBufferEmittedCount)
    #expect((0.02...0.03).contains(delay))
  }

  @Test func `loudness is judged without samples`() {
    var talker = Talker()
    let playback = Playback(settings: settings())
    let arrivals = talker.stream(100)
    playback.run(arrivals[..<50], until: .seconds(1))
    let before = playback.statistics
    playback.run(arrivals[50...], until: .seconds(2))
    let statistics = playback.statistics
    #expect(abs(statistics.audioLevel - 0.1) < 0.001)
    let duration = statistics.totalSamplesDuration - before.totalSamplesDuration
    #expect(abs((statistics.totalAudioEnergy - before.totalAudioEnergy) / duration - 0.01) < 0.0001)
  }

  @Test func `another source has counters of its own`() {
    var talker = Talker()
    var settings = settings()
    settings.initialDelay = .milliseconds(40)
    var buffer = AudioJitterBuffer(decoder: .synthetic(SyntheticAudioDecoder()), settings: settings)
    for arrival in talker.stream(3) {
      buffer.insert(arrival.header, payload: arrival.payload.span.bytes, at: arrival.at)
    }
    let first = buffer.begin()
    #expect(first.packetsDiscarded == 3 && buffer.statistics == AudioJitterBufferStatistics())
    let second = buffer.begin(withCounters: first)
    #expect(second == AudioJitterBufferStatistics() && buffer.statistics == first)
  }

  @Test func `processing is from a packet's arrival until it is decoded`() {
    var talker = Talker()
    let playback = Playback(settings: settings())
    playback.run(talker.stream(100), until: .seconds(2))
    let statistics = playback.statistics
    let mean = statistics.totalProcessingDelay / Double(statistics.jitterBufferEmittedCount)
    #expect((0.015...0.03).contains(mean))
    #expect(statistics.totalProcessingDelay <= statistics.jitterBufferDelay)
  }

  @Test func `nothing counts before the first packet`() {
    let playback = Playback()
    playback.run([], until: .seconds(1))
    #expect(playback.statistics == AudioJitterBufferStatistics())
    #expect(playback.frames.allSatisfy { $0.source == .silence && $0.level == 0 })
  }

  @Test func `a lost packet is one concealment of its own length`() {
    var talker = Talker()
    let playback = Playback(settings: settings(minimum: 40, initial: 40))
    playback.run(talker.stream(200).without { $0 == 50 || $0 == 90 }, until: .milliseconds(4_000))
    #expect(playback.statistics.concealedSamples == 2 * 960)
    #expect(playback.statistics.concealmentEvents == 2)
  }

  @Test func `redundancy and one packet of delay restore every isolated loss`() {
    var talker = Talker(redundancy: true)
    let playback = Playback(settings: settings(minimum: 30, initial: 30))
    playback.run(talker.stream(500).without { $0 % 10 == 9 }, until: .milliseconds(9_970))
    let statistics = playback.statistics
    #expect(statistics.concealedSamples == 0)
    #expect(statistics.recoveredSamples == 49 * 960)
    // The first packet has nothing to repeat.
    #expect(statistics.fecPacketsReceived == 449)
    #expect(statistics.fecPacketsDiscarded == 449 - 49 - Int64(playback.packetCount))
  }

  @Test func `without redundancy the same loss is concealed`() {
    var talker = Talker()
    let playback = Playback(settings: settings(minimum: 30, initial: 30))
    playback.run(talker.stream(500).without { $0 % 10 == 9 }, until: .milliseconds(9_970))
    #expect(playback.statistics.concealedSamples == 49 * 960)
    #expect(playback.statistics.recoveredSamples == 0)
  }

  @Test(arguments: [0.1, 0.2, 0.3]) func `redundancy leaves the square of random loss`(probability: Double) {
    var random = RandomSource(seed: 12).stream("loss")
    var talker = Talker(redundancy: true)
    let count = 10_000
    let arrivals = talker.stream(count).without { $0 > 0 && $0 < count - 1 && random.chance(probability) }
    let playback = Playback(settings: settings(minimum: 60, initial: 60))
    playback.keepsFrames = false
    playback.run(arrivals, until: .milliseconds(Int64(count) * 20 - 40))
    let residual = Double(playback.statistics.concealedSamples) / Double(960 * count)
    // A run of k losses is restored but for k−1: neighbouring outcomes are correlated, hence the factor.
    let expected = probability * probability
    let variance = expected * (1 - expected) * (1 + 2 * probability) / Double(count)
    #expect(abs(residual - expected) < 3 * variance.squareRoot())
  }

  @Test func `redundancy reaches back one packet only`() {
    var talker = Talker(redundancy: true)
    let playback = Playback(settings: settings(minimum: 80, initial: 80))
    playback.run(talker.stream(200).without { (50..<53).contains($0) }, until: .milliseconds(3_900))
    #expect(playback.statistics.concealedSamples == 2 * 960)
    #expect(playback.statistics.recoveredSamples == 960)
  }

  @Test func `total loss is concealed in full and fades to silence`() {
    var talker = Talker()
    let playback = Playback(settings: settings(minimum: 20))
    playback.run(talker.stream(100).without { $0 >= 50 }, until: .milliseconds(2_000))
    let lost = playback.frames[110...]
    #expect(lost.allSatisfy { $0.source == .concealed })
    #expect(playback.statistics.concealmentEvents == 1)
    #expect(playback.statistics.silentConcealedSamples > 0)
    #expect(playback.frames.last?.level == 0)
  }

  @Test func `after an outage playout resumes where the sender is`() {
    var talker = Talker()
    let playback = Playback(settings: settings(minimum: 20))
    playback.run(talker.stream(500).without { (100..<300).contains($0) }, until: .seconds(10))
    let delay = playback.currentDelay
    #expect(delay < .milliseconds(60))
    #expect(playback.statistics.packetsDiscarded == 0)
    #expect(playback.frames.suffix(150).allSatisfy { $0.source == .decoded })
  }

  @Test func `reordering within the delay is not heard`() {
    var talker = Talker()
    let playback = Playback(settings: settings(minimum: 60, initial: 60))
    let arrivals = talker.stream(500).delayed { $0 % 7 == 3 ? .milliseconds(45) : .zero }
    playback.run(arrivals, until: .milliseconds(9_900))
    #expect(playback.statistics.concealedSamples == 0)
    #expect(playback.statistics.packetsDiscarded == 0)
  }

  @Test func `duplicates are dropped and not counted as discarded`() {
    var talker = Talker()
    let playback = Playback(settings: settings())
    let stream = talker.stream(200)
    let arrivals = (stream + stream.prefix(150)).delayed { index in
      index < 200 ? .zero : .milliseconds(index % 2 == 0 ? 3 : 500)
    }
    playback.run(arrivals, until: .milliseconds(3_980))
    #expect(playback.statistics.duplicatePackets == 150)
    #expect(playback.statistics.packetsDiscarded == 0)
    #expect(playback.statistics.concealedSamples == 0)
  }

  @Test func `a packet whose turn has passed is discarded`() {
    var talker = Talker()
    let playback = Playback(settings: settings(minimum: 20))
    playback.run(talker.stream(200).delayed { $0 == 50 ? .milliseconds(200) : .zero }, until: .seconds(3))
    #expect(playback.statistics.packetsDiscarded == 1)
    #expect(playback.statistics.concealedSamples == 960)
  }

  @Test func `a pause announced by discontinuous transmission is no loss`() {
    var talker = Talker()
    talker.settings.usesDTX = true
    let encoder = SyntheticAudioEncoder(settings: talker.settings)
    var gate = DTXGate()
    var arrivals: [Arrival] = []
    for index in 0..<300 {
      let isSilent = (50..<200).contains(index)
      let packet = talker.packet(
        at: .milliseconds(Int64(index) * 20), level: isSilent ? .silence : nil, encoder: encoder)
      let audio = EncodedAudio(byteCount: packet.payload.count, samplesPerChannel: 960, isDTX: isSilent)
      if gate.admits(audio) { arrivals.append(packet) } else { talker.sequence &-= 1 }
    }
    let playback = Playback(settings: settings(minimum: 20))
    playback.run(arrivals.prefix { $0.at < .zero + .milliseconds(2_500) }, until: .zero + .milliseconds(2_500))
    // Nobody speaks: what is played has no time at which it was recorded.
    #expect(playback.playedTimestamp == nil)
    playback.run(arrivals.drop { $0.at < .zero + .milliseconds(2_500) }, until: .seconds(6))
    #expect(playback.statistics.concealedSamples == 0)
    #expect(playback.statistics.comfortSamples > 130 * 960)
    #expect(playback.currentDelay < .milliseconds(60))
  }

  @Test func `a pause without marks resumes at once`() {
    var talker = Talker()
    let first = talker.stream(100)
    talker.timestamp &+= 20 * 48_000
    let second = talker.stream(100, from: .seconds(22))
    let playback = Playback(settings: settings())
    playback.run(first + second, until: .seconds(24))
    #expect(playback.frames.suffix(190).allSatisfy { $0.source == .decoded })
    #expect(playback.statistics.packetsDiscarded == 0)
  }

  @Test func `the packet duration may change mid-stream`() {
    var talker = Talker(.ms20)
    var arrivals = talker.stream(50)
    for (duration, count) in [(PacketDuration.ms60, 20), (.ms10, 100), (.ms40, 25)] {
      talker.settings.packetDuration = duration
      // A packet leaves when its last sample is there.
      let start = (arrivals.last?.at ?? .zero) + duration.interval
      arrivals += talker.stream(count, from: start)
    }
    let playback = Playback(settings: settings(minimum: 80, initial: 80))
    playback.run(arrivals, until: .milliseconds(4_200))
    #expect(playback.statistics.concealedSamples == 0)
    #expect(playback.statistics.packetsDiscarded == 0)
  }

  @Test(arguments: PacketDuration.allCases) func `every packet duration plays`(duration: PacketDuration) {
    var talker = Talker(duration)
    let playback = Playback(settings: settings())
    let count = Int(3_000_000 / (duration.interval.nanoseconds / 1_000))
    playback.run(talker.stream(count), until: .zero + duration.interval * Int64(count))
    #expect(playback.statistics.concealedSamples == 0)
    #expect(playback.statistics.totalSamplesReceived > 46 * (duration.samplesPerChannel * count) / 48)
  }

  @Test(arguments: [480, 960, 1_920, 441]) func `the device may pull any length`(length: Int) {
    var talker = Talker()
    let playback = Playback(settings: settings(minimum: 40, initial: 40), pullSamples: length)
    playback.run(talker.stream(150), until: .seconds(3))
    #expect(playback.statistics.concealedSamples == 0)
    #expect(playback.frames.allSatisfy { $0.sampleCount == length })
  }

  @Test func `broken payloads are counted and concealed`() {
    var talker = Talker()
    var arrivals = talker.stream(100)
    arrivals[50].payload = [1, 2, 3]
    let playback = Playback(settings: settings(minimum: 40, initial: 40))
    playback.run(arrivals, until: .milliseconds(2_000))
    #expect(playback.statistics.malformedPackets == 1)
    #expect(playback.statistics.concealedSamples == 960)
  }

  @Test func `nothing an attacker puts in a header or payload traps`() {
    var random = RandomSource(seed: 8).stream("jitter")
    let playback = Playback(settings: settings())
    var talker = Talker(redundancy: true)
    var arrivals = talker.stream(5_000)
    for index in arrivals.indices where random.chance(0.3) {
      switch random.uniform(below: 4) {
      case 0: arrivals[index].header.sequenceNumber = UInt16(truncatingIfNeeded: random.next())
      case 1: arrivals[index].header.timestamp = UInt32(truncatingIfNeeded: random.next())
      case 2: arrivals[index].header.ssrc = UInt32(random.uniform(below: 2))
      default: arrivals[index].payload = random.bytes(Int(random.uniform(below: 8)))
      }
    }
    playback.run(arrivals, until: .seconds(100))
    #expect(playback.packetCount <= 256)
  }
}
