import CallCore
import Codecs
import Testing

@testable import VirtualPeer

@Suite struct SampleGeneratorTests {
  private func samples(_ source: MicrophoneSource, seconds: Int, frame: Int = 960) -> [Int16] {
    var generator = SampleGenerator(source, random: RandomStream(seed: 11))
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frame)
    defer { buffer.deallocate() }
    var result: [Int16] = []
    while result.count < seconds * 48_000 {
      generator.fill(buffer)
      result += buffer
    }
    return Array(result.prefix(seconds * 48_000))
  }

  @Test func `a tone crosses zero at its frequency`() {
    let tone = samples(.tone(frequency: 440), seconds: 1)
    let crossings = zip(tone, tone.dropFirst()).count { $0 < 0 && $1 >= 0 }
    #expect(abs(crossings - 440) <= 1)
    #expect((7_900...8_100).contains(tone.max() ?? 0))
  }

  @Test func `speech has syllables and pauses, and never a pause that counts as silence`() {
    let speech = samples(.speech, seconds: 20)
    let loud = stride(from: 0, to: speech.count, by: 960).map { start in
      speech[start..<start + 960].contains { $0.magnitude > 300 }
    }
    let share = Double(loud.count { $0 }) / Double(loud.count)
    #expect((0.5...0.95).contains(share))
    let longestPause = loud.split(separator: true).map(\.count).max() ?? 0
    #expect((10...Int(Device.silenceLimit.milliseconds / 20)).contains(longestPause))
  }

  @Test func `speech is coded as speech, not as music`() throws {
    let speech = samples(.speech, seconds: 20)
    // Complexity 9 is what browsers use, and from 7 on the encoder listens what kind of sound it is.
    for bitrate in [24, 32, 40] {
      var settings = OpusEncoder.Settings()
      settings.complexity = 9
      settings.bitrate = .kilobitsPerSecond(Int64(bitrate))
      settings.usesInBandFEC = true
      settings.expectedPacketLoss = 5
      let encoder = try OpusEncoder(settings: settings)
      let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: OpusEncoder.maximumPacketSize)
      defer { buffer.deallocate() }
      var music = 0
      let frames = speech.count / 960
      for index in 0..<frames {
        var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
        _ = try encoder.encode(Array(speech[index * 960..<(index + 1) * 960]).span, into: &output)
        _ = output.finalize(for: buffer)
        // The first five bits are the configuration; from 16 on it is CELT alone (RFC 6716 section 3.1).
        if buffer[0] >> 3 >= 16 { music += 1 }
      }
      #expect(Double(music) / Double(frames) < 0.05, "at \(bitrate) kbit/s")
    }
  }

  @Test func `a recording is played over and over`() {
    #expect(samples(.recording(Recording([1, 2, 3])), seconds: 1).prefix(7) == [1, 2, 3, 1, 2, 3, 1])
  }

  @Test func `after a recording that is not played again comes silence`() {
    let recording = Recording([1, 2, 3], atEnd: .silence)
    let heard = samples(.recording(recording), seconds: 1)
    #expect(heard.prefix(5) == [1, 2, 3, 0, 0] && heard.dropFirst(3).allSatisfy { $0 == 0 })
  }

  @Test func `a recording waits until there is somebody to hear it`() {
    var generator = SampleGenerator(.recording(Recording([1, 2, 3])), random: RandomStream(seed: 11))
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 4)
    defer { buffer.deallocate() }
    generator.fill(buffer, hasListener: false)
    #expect(Array(buffer) == [0, 0, 0, 0])
    generator.fill(buffer, hasListener: true)
    #expect(Array(buffer) == [1, 2, 3, 1])
  }

  @Test func `a program is given the whole of a recording, which it plays over and over itself`() {
    let source = MicrophoneSource.recording(Recording([1, 2, 3]))
    #expect(source.loop(random: RandomSource(seed: 1)) == [1, 2, 3])
    #expect(MicrophoneSource.noise.loop(random: RandomSource(seed: 1)).count == 30 * 48_000)
  }

  @Test func `the samples do not depend on how they are cut into frames`() {
    #expect(samples(.speech, seconds: 3) == samples(.speech, seconds: 3, frame: 480))
  }

  @Test func `silence is silent and noise is not`() {
    #expect(samples(.silence, seconds: 1).allSatisfy { $0 == 0 })
    #expect(samples(.noise, seconds: 1).contains { $0.magnitude > 3_000 })
  }
}
