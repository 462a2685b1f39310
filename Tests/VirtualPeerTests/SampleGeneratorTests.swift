import CallCore
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

  @Test func `the samples do not depend on how they are cut into frames`() {
    #expect(samples(.speech, seconds: 3) == samples(.speech, seconds: 3, frame: 480))
  }

  @Test func `silence is silent and noise is not`() {
    #expect(samples(.silence, seconds: 1).allSatisfy { $0 == 0 })
    #expect(samples(.noise, seconds: 1).contains { $0.magnitude > 3_000 })
  }
}
