package import CallCore
internal import Glibc

/// What a microphone hears.
public enum MicrophoneSource: Hashable, Sendable {
  case silence
  /// A sine wave, in hertz.
  case tone(frequency: Int)
  /// White noise at a steady level.
  case noise
  /// Modelled speech: voiced syllables with formants, in phrases with pauses. It is not a recording of anybody.
  case speech
}

extension MicrophoneSource {
  /// What the microphone of a peer hears first, for a program that plays it from a file.
  package func samples(count: Int, random: RandomSource) -> [Int16] {
    var generator = SampleGenerator(self, random: random.stream("microphone"))
    return [Int16](unsafeUninitializedCapacity: count) { buffer, initialized in
      generator.fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
      initialized = count
    }
  }
}

/// Makes the samples of a ``MicrophoneSource``: 48 kHz, mono, 16 bits, the same ones for the same stream.
struct SampleGenerator: ~Copyable {
  static let sampleRate = 48_000

  private let source: MicrophoneSource
  private var random: RandomStream
  private var tone: Resonator
  private var formants: (Resonator, Resonator, Resonator)
  private var breath: UInt64
  private var pitchPeriod = 0
  private var untilPulse = 0
  private var pause = 0
  private var syllable: (length: Int, position: Int) = (0, 0)
  private var phraseSyllables = 0

  init(_ source: MicrophoneSource, random: consuming RandomStream) {
    self.source = source
    self.random = random
    breath = self.random.next() | 1
    let silent = Resonator(frequency: 500, bandwidth: 80, gain: 0)
    formants = (silent, silent, silent)
    if case .tone(let frequency) = source {
      tone = Resonator(oscillatingAt: Double(frequency))
    } else {
      tone = silent
    }
  }

  /// Writes the next samples over all of `samples`.
  mutating func fill(_ samples: UnsafeMutableBufferPointer<Int16>) {
    switch source {
    case .silence: samples.initialize(repeating: 0)
    case .noise:
      for index in samples.indices {
        samples.initializeElement(at: index, to: Int16(random.uniform(in: -4_000...4_000)))
      }
    case .tone:
      for index in samples.indices { samples.initializeElement(at: index, to: Self.quantize(tone.step(0) * 8_000)) }
    case .speech:
      var index = 0
      while index < samples.count { index = speak(into: samples, from: index) }
    }
  }

  private static func quantize(_ value: Double) -> Int16 { Int16(clamping: Int(value.rounded())) }

  // MARK: Speech

  /// Writes up to the end of the present syllable or pause, and returns where it stopped.
  private mutating func speak(into samples: UnsafeMutableBufferPointer<Int16>, from start: Int) -> Int {
    guard pause == 0 else {
      let end = min(samples.count, start + pause)
      for index in start..<end { samples.initializeElement(at: index, to: 0) }
      pause -= end - start
      return end
    }
    if syllable.position >= syllable.length { startSyllable() }
    let end = min(samples.count, start + syllable.length - syllable.position)
    for index in start..<end { samples.initializeElement(at: index, to: Self.quantize(voice())) }
    if syllable.position >= syllable.length { startPause() }
    return end
  }

  /// One sample of a syllable: glottal pulses and a little breath through three formants, under an envelope.
  private mutating func voice() -> Double {
    let rise = min(1, Double(syllable.position) / 960)
    let fall = min(1, Double(syllable.length - syllable.position) / 1_920)
    syllable.position += 1
    breath ^= breath << 13
    breath ^= breath >> 7
    breath ^= breath << 17
    var excitation = (Double(breath >> 11) * 0x1p-53 - 0.5) * 0.02
    if untilPulse == 0 {
      excitation += 1
      untilPulse = pitchPeriod
    }
    untilPulse -= 1
    let sum = formants.0.step(excitation) + formants.1.step(excitation) + formants.2.step(excitation)
    return sum * rise * fall * 9_000
  }

  private mutating func startSyllable() {
    if phraseSyllables == 0 { phraseSyllables = Int(random.uniform(in: 6...14)) }
    syllable = (Int(random.uniform(in: 5_760...12_000)), 0)
    pitchPeriod = Self.sampleRate / Int(random.uniform(in: 105...175))
    untilPulse = 0
    let vowels: [(Double, Double, Double)] = [
      (730, 1_090, 2_440), (270, 2_290, 3_010), (300, 870, 2_240), (530, 1_840, 2_480), (570, 840, 2_410),
    ]
    let vowel = vowels[Int(random.uniform(below: UInt64(vowels.count)))]
    formants = (
      Resonator(frequency: vowel.0, bandwidth: 80, gain: 1), Resonator(frequency: vowel.1, bandwidth: 100, gain: 0.5),
      Resonator(frequency: vowel.2, bandwidth: 140, gain: 0.25)
    )
  }

  /// A short gap inside a phrase, a long one after it.
  private mutating func startPause() {
    phraseSyllables -= 1
    pause = Int(phraseSyllables > 0 ? random.uniform(in: 480...2_880) : random.uniform(in: 14_400...33_600))
  }
}

/// A two-pole resonator: a formant when it is damped, an oscillator when it is not.
private struct Resonator {
  private let a: Double
  private let b: Double
  private let gain: Double
  private var previous = 0.0
  private var beforePrevious = 0.0

  init(frequency: Double, bandwidth: Double, gain: Double) {
    let rate = Double(SampleGenerator.sampleRate)
    let radius = exp(-Double.pi * bandwidth / rate)
    a = 2 * radius * cos(2 * Double.pi * frequency / rate)
    b = -radius * radius
    self.gain = gain * (1 - radius) * 12
  }

  /// An undamped oscillator of amplitude one.
  init(oscillatingAt frequency: Double) {
    let step = 2 * Double.pi * frequency / Double(SampleGenerator.sampleRate)
    a = 2 * cos(step)
    b = -1
    gain = 0
    previous = 0
    beforePrevious = -sin(step)
  }

  mutating func step(_ input: Double) -> Double {
    let output = gain * input + a * previous + b * beforePrevious
    beforePrevious = previous
    previous = output
    return output
  }
}
