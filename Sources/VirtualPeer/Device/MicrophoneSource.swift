internal import CallCore
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

/// Makes the samples of a ``MicrophoneSource``: 48 kHz, mono, 16 bits, the same ones for the same stream.
struct SampleGenerator: ~Copyable {
  static let sampleRate = 48_000

  private let source: MicrophoneSource
  private var random: RandomStream
  private var tone: Resonator
  private var formants: InlineArray<3, Resonator>
  private var pitchPeriod = 0
  private var untilPulse = 0
  private var untilSyllable = 0
  private var syllable: (length: Int, position: Int) = (0, 0)
  private var phraseSyllables = 0

  init(_ source: MicrophoneSource, random: consuming RandomStream) {
    self.source = source
    self.random = random
    formants = InlineArray(repeating: Resonator(oscillatingAt: 0))
    if case .tone(let frequency) = source {
      tone = Resonator(oscillatingAt: Double(frequency))
    } else {
      tone = Resonator(oscillatingAt: 440)
    }
  }

  /// The next sample.
  mutating func next() -> Int16 {
    switch source {
    case .silence: 0
    case .noise: Int16(random.uniform(in: -4_000...4_000))
    case .tone: Int16(clamping: Int((tone.step(0) * 8_000).rounded()))
    case .speech: nextSpeech()
    }
  }

  private mutating func nextSpeech() -> Int16 {
    if syllable.position >= syllable.length {
      if untilSyllable > 0 {
        untilSyllable -= 1
        return 0
      }
      startSyllable()
    }
    let rise = min(1, Double(syllable.position) * (1 / 960))
    let fall = min(1, Double(syllable.length - syllable.position) * (1 / 1_920))
    syllable.position += 1
    var pulse = 0.0
    if untilPulse == 0 {
      pulse = 1
      untilPulse = pitchPeriod
    }
    untilPulse -= 1
    let breath = (random.unit() - 0.5) * 0.02
    var sample = 0.0
    for index in formants.indices { sample += formants[index].step(pulse + breath) }
    return Int16(clamping: Int(sample * rise * fall * 9_000))
  }

  /// Formant frequencies in hertz.
  private static let vowels: [(Double, Double, Double)] = [
    (730, 1_090, 2_440), (270, 2_290, 3_010), (300, 870, 2_240), (530, 1_840, 2_480), (570, 840, 2_410),
  ]

  private mutating func startSyllable() {
    if phraseSyllables == 0 {
      phraseSyllables = Int(random.uniform(in: 6...14))
      untilSyllable = Int(random.uniform(in: 14_400...33_600))
    }
    phraseSyllables -= 1
    if phraseSyllables > 0 { untilSyllable = Int(random.uniform(in: 480...2_880)) }
    syllable = (Int(random.uniform(in: 5_760...12_000)), 0)
    pitchPeriod = Self.sampleRate / Int(random.uniform(in: 105...175))
    untilPulse = 0
    let vowel = Self.vowels[Int(random.uniform(below: UInt64(Self.vowels.count)))]
    formants = [
      Resonator(frequency: vowel.0, bandwidth: 80, gain: 1), Resonator(frequency: vowel.1, bandwidth: 100, gain: 0.5),
      Resonator(frequency: vowel.2, bandwidth: 140, gain: 0.25),
    ]
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
