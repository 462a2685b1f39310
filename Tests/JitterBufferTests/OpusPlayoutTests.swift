import CallCore
import Codecs
import JitterBuffer
import RTP
import StackWorlds
import Testing

/// The buffer with real samples: the numbers NetEq's own tests ask for, and what the ear would.
@Suite struct OpusPlayoutTests {
  /// A voiced sound with harmonics, steady or in syllables, as packets 20 ms apart.
  func voice(
    _ count: Int, pitch: Double = 125, inSyllables: Bool = false, duration: PacketDuration = .ms20
  ) throws -> [Arrival] {
    var settings = OpusEncoder.Settings()
    settings.complexity = 3
    settings.expectedPacketLoss = 20
    // Redundancy lives in the SILK layer: keep the encoder there.
    settings.bitrate = .kilobitsPerSecond(24)
    settings.maximumBandwidth = .wide
    settings.packetDuration = duration
    let encoder = try OpusEncoder(settings: settings)
    var phase = 0.0
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: OpusEncoder.maximumPacketSize)
    defer { buffer.deallocate() }
    return try (0..<count).map { index in
      // Redundancy is only made for what the encoder takes for speech, and a steady tone is none.
      let loudness = inSyllables ? [1, 0.9, 0.7, 0.4, 0.1, 0.02, 0.05, 0.3, 0.6, 0.9, 1][index % 11] : 1
      let samples = (0..<duration.samplesPerChannel).map { _ -> Int16 in
        phase += pitch / 48_000
        if phase >= 1 { phase -= 1 }
        return Int16((phase * 2 - 1) * (1 - phase) * 14_000 * loudness)
      }
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      _ = try encoder.encode(samples.span, into: &output)
      let size = output.finalize(for: buffer)
      return Arrival(
        at: .zero + duration.interval * Int64(index),
        header: RTPHeader(
          payloadType: 111, sequenceNumber: UInt16(index),
          timestamp: UInt32(index * duration.samplesPerChannel), ssrc: 1),
        payload: Array(buffer[..<size]))
    }
  }

  func playback(minimum: Int64 = 30, initial: Int64 = 30, drift: Double = 0) throws -> Playback {
    var settings = AudioJitterBuffer.Settings()
    settings.minimumDelay = .milliseconds(minimum)
    settings.initialDelay = .milliseconds(initial)
    let playback = Playback(decoder: .opus(try OpusDecoder()), settings: settings, drift: drift)
    playback.keepsSamples = true
    return playback
  }

  @Test func `periodic loss of a tenth is wholly restored from redundancy`() throws {
    let arrivals = try voice(500, inSyllables: true)
    // In every ten packets, the first from the fifth on that its successor can restore.
    let carries = arrivals.map { OpusPacket(bytes: $0.payload)?.hasRedundancy == true }
    let lost = stride(from: 0, to: 490, by: 10).compactMap { start in
      (start + 5..<start + 10).first { carries[$0 + 1] }
    }
    #expect(lost.count > 40)
    let playback = try playback()
    playback.run(arrivals.without { lost.contains($0) }, until: .milliseconds(9_970))
    #expect(playback.statistics.concealedSamples == 0)
    #expect(playback.statistics.concealmentEvents == 0)
    #expect(playback.statistics.recoveredSamples == Int64(lost.count) * 960)
    #expect(playback.statistics.fecPacketsDiscarded < playback.statistics.fecPacketsReceived)
  }

  @Test func `with less delay than a frame redundancy comes too late for some of it`() throws {
    let arrivals = try voice(300, inSyllables: true)
    let carries = arrivals.map { OpusPacket(bytes: $0.payload)?.hasRedundancy == true }
    let lost = (1..<299).filter { $0 % 10 == 9 && carries[$0 + 1] }
    #expect(lost.count > 10)
    let concealed = ([10, 30] as [Int64]).map { delay -> Int64 in
      var settings = AudioJitterBuffer.Settings()
      settings.initialDelay = .milliseconds(delay)
      settings.minimumDelay = .milliseconds(delay)
      settings.maximumDelay = .milliseconds(delay)
      guard let decoder = try? OpusDecoder() else { return -1 }
      let playback = Playback(decoder: .opus(decoder), settings: settings)
      playback.run(arrivals.without { lost.contains($0) }, until: .milliseconds(5_970))
      #expect(playback.statistics.recoveredSamples > 0)
      return playback.statistics.concealedSamples
    }
    #expect(concealed[0] >= Int64(lost.count) * 240 && concealed[1] == 0)
  }

  @Test(arguments: [PacketDuration.ms40, .ms60])
  func `of a lost packet of several frames redundancy restores the last one`(duration: PacketDuration) {
    var talker = Talker(duration, redundancy: true)
    var settings = AudioJitterBuffer.Settings()
    settings.initialDelay = .milliseconds(30)
    let playback = Playback(settings: settings)
    let arrivals = talker.stream(100)
    let lost = [30, 50, 70]
    let end = Instant.zero + duration.interval * 99
    playback.run(arrivals.without { lost.contains($0) }, until: end)
    #expect(playback.statistics.recoveredSamples == 3 * 960)
    #expect(playback.statistics.concealedSamples == Int64(3 * (duration.samplesPerChannel - 960)))
  }

  @Test(arguments: [PacketDuration.ms40, .ms60])
  func `of a lost packet of one long frame redundancy restores all, once one has shown how late it comes`(
    duration: PacketDuration
  ) throws {
    let arrivals = try voice(300, inSyllables: true, duration: duration)
    let packets = arrivals.map { OpusPacket(bytes: $0.payload) }
    let lost = (60..<299).filter { $0 % 10 == 9 && packets[$0 + 1]?.hasRedundancy == true }
    #expect(lost.count > 5 && packets.allSatisfy { $0?.frameSamples == duration.samplesPerChannel })
    var random = RandomSource(seed: 5).stream("jitter")
    let jittered = arrivals.without { lost.contains($0) }.delayed { _ in .milliseconds(random.uniform(in: 0...9)) }
    let playback = try playback(minimum: 0)
    playback.run(jittered, until: .zero + duration.interval * 298)
    let missing = Int64(lost.count * duration.samplesPerChannel)
    #expect(playback.statistics.recoveredSamples + playback.statistics.concealedSamples == missing)
    #expect(playback.statistics.concealedSamples < Int64(duration.samplesPerChannel))
    #expect(playback.targetDelay == duration.interval + .milliseconds(20))
  }

  @Test func `total loss for 100 ms is concealed throughout`() throws {
    let playback = try playback()
    playback.run(try voice(100), until: .milliseconds(2_100))
    let before = playback.statistics
    playback.run([], until: .milliseconds(2_200))
    #expect(playback.statistics.concealedSamples - before.concealedSamples == 4_800)
    #expect(playback.statistics.totalSamplesReceived - before.totalSamplesReceived == 4_800)
  }

  @Test func `concealment fades to silence and speech comes back`() throws {
    let playback = try playback()
    playback.run(try voice(200).without { (50..<100).contains($0) }, until: .milliseconds(3_900))
    #expect(playback.frames[130..<200].allSatisfy { $0.level == 0 })
    #expect(playback.frames.suffix(150).allSatisfy { $0.level > 0.02 })
    #expect(playback.statistics.silentConcealedSamples > 30_000)
  }

  @Test(arguments: [4_000.0, -4_000.0]) func `stretching leaves no click in a steady voice`(drift: Double) throws {
    let arrivals = try voice(300)
    let stretched = try playback(drift: drift)
    stretched.run(arrivals, until: .milliseconds(5_900))
    let plain = try playback()
    plain.run(arrivals, until: .milliseconds(5_900))
    let statistics = stretched.statistics
    #expect(statistics.concealedSamples == 0)
    #expect(
      drift > 0 ? statistics.insertedSamplesForDeceleration > 500 : statistics.removedSamplesForAcceleration > 500)
    #expect(steepest(stretched.samples) < 1.25 * steepest(plain.samples))
    #expect(stretched.frames.suffix(400).allSatisfy { $0.level > 0.02 })
  }

  @Test func `every pull delivers exactly what was asked`() throws {
    var random = RandomSource(seed: 3).stream("jitter")
    let playback = try playback(minimum: 0)
    let arrivals = try voice(300).delayed { _ in .milliseconds(random.uniform(in: 0...90)) }
    playback.run(arrivals.without { $0 % 13 == 0 }, until: .seconds(6))
    #expect(playback.samples.count == playback.frames.count * 480)
  }

  @Test func `a silence under discontinuous transmission is comfort, not loss`() throws {
    var settings = OpusEncoder.Settings()
    settings.complexity = 3
    settings.usesDTX = true
    let encoder = try OpusEncoder(settings: settings)
    let voiced = try voice(50)
    var gate = DTXGate()
    var arrivals = voiced
    let silence = [Int16](repeating: 0, count: 960)
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: OpusEncoder.maximumPacketSize)
    defer { buffer.deallocate() }
    for index in 50..<300 {
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      let audio = try encoder.encode(silence.span, into: &output)
      let size = output.finalize(for: buffer)
      guard gate.admits(audio) else { continue }
      let header = RTPHeader(
        payloadType: 111, sequenceNumber: UInt16(arrivals.count), timestamp: UInt32(index) * 960, ssrc: 1)
      arrivals.append(
        Arrival(at: .milliseconds(Int64(index) * 20), header: header, payload: Array(buffer[..<size])))
    }
    #expect(arrivals.count < 100)
    let playback = try playback()
    playback.run(arrivals, until: .milliseconds(5_900))
    #expect(playback.statistics.concealedSamples == 0)
    #expect(playback.statistics.comfortSamples > 150 * 960)
  }

  /// The largest step between neighbouring samples.
  private func steepest(_ samples: [Int16]) -> Double {
    zip(samples, samples.dropFirst()).reduce(0) { max($0, abs(Double($1.1) - Double($1.0))) }
  }
}
