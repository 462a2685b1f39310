import Testing

@testable import ScenarioJudge

/// STOI, ESTOI and the log-spectral distance against pystoi 0.4.1 and numpy, on signals that both sides compute from
/// integers.
@Suite struct SpeechComparisonTests {
  struct Golden: Sendable, CustomStringConvertible {
    let rate: Int
    let isNoisy: Bool
    let stoi: Double
    let estoi: Double
    let lsd: Double

    var description: String { "\(isNoisy ? "noise" : "gaps") at \(rate) Hz" }
    var said: [Int16] { Self.speech(count: 2 * rate, rate: rate) }
    var heard: [Int16] { isNoisy ? Self.noisy(said) : Self.gappy(said, rate: rate) }
  }

  /// pystoi's `stoi(x, y, rate, extended)`. The distance, with x and y at 10 kHz:
  ///
  ///     x, y = remove_silent_frames(x, y, 40, 256, 128)
  ///     p, q = [np.abs(stft(s, 256, 512, 2)) ** 2 for s in (x, y)]
  ///     f = 1e-6 * p.max()
  ///     d = 10 * np.log10(np.maximum(p, f) / np.maximum(q, f))
  ///     np.mean(np.sqrt(np.mean(d ** 2, axis=1)))
  static let golden = [
    Golden(
      rate: 10_000, isNoisy: true, stoi: 0.986641088210777, estoi: 0.8745155343691323, lsd: 6.354111918658371),
    Golden(
      rate: 10_000, isNoisy: false, stoi: 0.7890755559378152, estoi: 0.7819447838738449, lsd: 6.1110239575066005),
    Golden(
      rate: 48_000, isNoisy: true, stoi: 0.9955478654443853, estoi: 0.9528195940890869, lsd: 3.5874961358692534),
    Golden(
      rate: 48_000, isNoisy: false, stoi: 0.7562800725768796, estoi: 0.7893435083535241, lsd: 6.64582690440885),
  ]

  @Test(arguments: golden.filter { $0.rate == 10_000 })
  func `at 10 kHz the values are those of pystoi and numpy`(golden: Golden) throws {
    let comparison = try #require(
      SpeechComparison(reference: Self.reals(golden.said), heard: Self.reals(golden.heard)))
    #expect(abs(comparison.intelligibility - golden.stoi) < 1e-6)
    #expect(abs(comparison.extendedIntelligibility - golden.estoi) < 1e-6)
    #expect(abs(comparison.logSpectralDistance - golden.lsd) < 1e-9)
  }

  @Test(arguments: golden.filter { $0.rate == 48_000 })
  func `at 48 kHz they are, but for the resampling`(golden: Golden) throws {
    let comparison = try #require(SpeechComparison(reference: golden.said, heard: golden.heard))
    #expect(abs(comparison.intelligibility - golden.stoi) < 1e-3)
    #expect(abs(comparison.extendedIntelligibility - golden.estoi) < 1e-3)
    #expect(abs(comparison.logSpectralDistance - golden.lsd) < 1e-3)
  }

  @Test func `equal speech has the best values`() throws {
    let speech = Self.reals(Golden.speech(count: 10_000, rate: 10_000))
    let comparison = try #require(SpeechComparison(reference: speech, heard: speech))
    #expect(abs(comparison.intelligibility - 1) < 1e-12)
    #expect(abs(comparison.extendedIntelligibility - 1) < 1e-9)
    #expect(comparison.logSpectralDistance == 0)
  }

  @Test func `of speech of which nothing is heard nothing is intelligible`() throws {
    let speech = Self.reals(Golden.speech(count: 10_000, rate: 10_000))
    let comparison = try #require(
      SpeechComparison(reference: speech, heard: Array(repeating: 0, count: speech.count)))
    #expect(comparison.intelligibility == 0)
    #expect(comparison.extendedIntelligibility == 0)
    #expect(comparison.logSpectralDistance > 20)
  }

  @Test func `silence has no values`() {
    let silence = Array(repeating: 0.0, count: 20_000)
    let noise = Self.reals(Golden.speech(count: 20_000, rate: 10_000))
    #expect(SpeechComparison(reference: silence, heard: noise) == nil)
    #expect(SpeechComparison(reference: [Double](), heard: []) == nil)
  }

  @Test func `fewer than thirty frames have no values`() {
    // A frame at the very end is left out, before and after silence is removed.
    let enough = 256 + 30 * 128 + 1
    let sound = Self.reals((0..<enough).map { Int16($0 % 100) })
    let less = Array(sound.dropLast())
    #expect(SpeechComparison(reference: less, heard: less) == nil)
    #expect(SpeechComparison(reference: sound, heard: sound) != nil)
  }

  @Test func `silent frames do not count as speech`() {
    let speech = Self.reals(Golden.speech(count: 3_000, rate: 10_000))
    let signal = speech + Array(repeating: 0, count: 20_000)
    #expect(SpeechComparison(reference: signal, heard: signal) == nil)
  }

  static func reals(_ samples: [Int16]) -> [Double] { samples.map { Double($0) / 32_768 } }
}

extension SpeechComparisonTests.Golden {
  /// Numbers from a linear congruential generator, in the range of 16 bits.
  private struct Numbers {
    var state: UInt32

    mutating func next() -> Int {
      state = state &* 1_664_525 &+ 1_013_904_223
      return Int(state >> 16) - 32_768
    }
  }

  /// Returns syllables of coloured noise, with a pause after each four.
  fileprivate static func speech(count: Int, rate: Int) -> [Int16] {
    var (numbers, sample) = (Numbers(state: 1), 0)
    let syllable = rate / 4
    return (0..<count).map { index in
      let (number, place) = index.quotientAndRemainder(dividingBy: syllable)
      let envelope = number % 5 == 4 ? 0 : min(place, syllable - place) * 256 / (syllable / 2)
      let scaled = ((numbers.next() >> 1) * envelope) >> 8
      sample += (scaled - sample) >> (1 + number % 3)
      return Int16(sample)
    }
  }

  fileprivate static func noisy(_ samples: [Int16]) -> [Int16] {
    var numbers = Numbers(state: 2)
    return samples.map { $0 + Int16(numbers.next() >> 5) }
  }

  fileprivate static func gappy(_ samples: [Int16], rate: Int) -> [Int16] {
    samples.enumerated().map { $0 % (rate * 3 / 10) < rate * 6 / 100 ? 0 : $1 }
  }
}
