import CallCore
internal import LibC

/// Modelled speech: phrases of syllables with consonants, gliding formants and an unsteady voice. Without these
/// properties Opus would classify the sound as music and not code it as speech.
struct SpeechSynthesizer: ~Copyable {
  private enum Sound {
    /// A voice whose formants glide to the given ones.
    case voiced(formants: [4 of Double], loudness: (Double, Double), pitch: (Double, Double))
    /// Breath through a constriction of the vocal tract.
    case friction(frequency: Double, bandwidth: Double, loudness: Double)
    case silence
  }

  private static let sampleRate = 48_000.0
  /// The number of samples between two steps of gliding formants.
  private static let step = 48
  private static let edge = 480.0

  // The first three formants of vowels (Peterson and Barney, 1952), and a fourth.
  private static let vowels: [[4 of Double]] = [
    [730, 1_090, 2_440, 3_400], [270, 2_290, 3_010, 3_600], [300, 870, 2_240, 3_300], [530, 1_840, 2_480, 3_500],
    [570, 840, 2_410, 3_300], [490, 1_350, 1_690, 3_300], [660, 1_720, 2_410, 3_500],
  ]
  private static let nasal: [4 of Double] = [280, 1_100, 2_200, 3_300]
  private static let bandwidths: [4 of Double] = [70, 90, 130, 200]

  private var random: RandomStream
  private var breath: UInt64
  private var pending: [(sound: Sound, length: Int)] = []
  private var current = (sound: Sound.silence, length: 0)
  private var position = 0

  private var formants: [4 of Double] = [500, 1_500, 2_500, 3_500]
  private var start: [4 of Double] = [500, 1_500, 2_500, 3_500]
  private var tract: [4 of Resonator]
  private var top: Resonator
  private var mouth: Resonator
  private var phase = 0.0
  private var unsteadiness = 0.0
  private var shimmer = 1.0
  private var glottis = (0.0, 0.0)
  private var before = (voice: 0.0, friction: 0.0)

  init(random: consuming RandomStream) {
    self.random = random
    breath = self.random.next() | 1
    tract = [4 of Resonator](repeating: Resonator(bandwidth: 100))
    for index in Self.bandwidths.indices { tract[index] = Resonator(bandwidth: Self.bandwidths[index]) }
    top = Resonator(bandwidth: 300)
    top.tune(to: 4_500)
    mouth = Resonator(bandwidth: 1_000)
  }

  /// Returns the next sample, within 16 bits.
  mutating func next() -> Double {
    while position >= current.length { begin() }
    defer { position += 1 }
    let progress = Double(position) / Double(current.length)
    switch current.sound {
    case .silence:
      return 0
    case .friction(_, _, let loudness):
      let filtered = mouth.filter(noise())
      defer { before.friction = filtered }
      return (filtered - before.friction) * loudness * envelope(Double(current.length) / 4)
    case .voiced(let target, let loudness, let pitch):
      if position % Self.step == 0 { glide(to: target, progress) }
      let voice = sing(pitch.0 + (pitch.1 - pitch.0) * progress)
      defer { before.voice = voice }
      return (voice - before.voice) * (loudness.0 + (loudness.1 - loudness.0) * progress) * envelope(Self.edge)
    }
  }

  /// Returns a gain that rises at the beginning of a sound and falls at its end.
  private func envelope(_ edge: Double) -> Double {
    min(1, Double(position) / edge, Double(current.length - position) / edge)
  }

  /// Returns a sample of vocal folds and breath, filtered by the formants.
  private mutating func sing(_ pitch: Double) -> Double {
    phase += pitch * (1 + unsteadiness) / Self.sampleRate
    var pulse = 0.0
    if phase >= 1 {
      phase -= 1
      pulse = shimmer
      unsteadiness = 0.04 * noise()
      shimmer = 1 + 0.3 * noise()
    }
    // Two poles: the folds close softly, so that high frequencies fall by 12 dB an octave.
    glottis.0 = 0.9 * glottis.0 + pulse
    glottis.1 = 0.9 * glottis.1 + 0.1 * glottis.0
    var sample = glottis.1 + 0.05 * noise() * (phase < 0.4 ? 1.3 : 0.5)
    for index in tract.indices { sample = tract[index].filter(sample) }
    return top.filter(sample)
  }

  private mutating func glide(to target: [4 of Double], _ progress: Double) {
    let x = min(1, progress * 2)
    let share = x * x * (3 - 2 * x)
    for index in tract.indices {
      formants[index] = start[index] + (target[index] - start[index]) * share
      tract[index].tune(to: formants[index])
    }
  }

  /// Returns a number between −0.5 and 0.5.
  private mutating func noise() -> Double {
    breath ^= breath << 13
    breath ^= breath >> 7
    breath ^= breath << 17
    return Double(breath >> 11) * 0x1p-53 - 0.5
  }

  // MARK: Phrases

  private mutating func begin() {
    if pending.isEmpty { planPhrase() }
    current = pending.removeFirst()
    position = 0
    start = formants
    if case .friction(let frequency, let bandwidth, _) = current.sound {
      mouth = Resonator(bandwidth: bandwidth)
      mouth.tune(to: frequency)
    }
  }

  /// Plans six to fourteen syllables with falling pitch, and a pause.
  private mutating func planPhrase() {
    let count = random.uniform(in: 6...14)
    let highest = uniform(125, 165)
    for index in 0..<count { planSyllable(pitch: highest * (1 - 0.3 * Double(index) / Double(count))) }
    pending.append((.silence, length(9_600, 24_000)))
  }

  private mutating func planSyllable(pitch: Double) {
    let voice = 180_000.0
    switch random.uniform(below: 4) {
    case 0:
      pending.append(
        (.friction(frequency: uniform(4_500, 6_500), bandwidth: 2_500, loudness: 22_000), length(2_900, 5_800)))
    case 1:
      pending.append(
        (.friction(frequency: uniform(2_500, 3_800), bandwidth: 1_200, loudness: 18_000), length(1_900, 3_800)))
    case 2:
      // A stop: silence, and then a burst.
      pending.append((.silence, length(1_400, 2_900)))
      pending.append((.friction(frequency: uniform(1_500, 4_000), bandwidth: 2_000, loudness: 36_000), 480))
    default:
      let sound = Sound.voiced(formants: Self.nasal, loudness: (voice * 0.3, voice * 0.3), pitch: (pitch, pitch))
      pending.append((sound, length(1_900, 3_400)))
    }
    let accented = pitch * uniform(0.95, 1.15)
    let loudness = (voice * uniform(0.6, 1), voice * uniform(0.5, 0.9))
    let vowel = Sound.voiced(
      formants: anyVowel(), loudness: loudness, pitch: (accented, accented * uniform(0.9, 1.05)))
    pending.append((vowel, length(3_800, 8_000)))
    if random.uniform(below: 3) == 0 {
      let second = Sound.voiced(
        formants: anyVowel(), loudness: (voice * 0.6, voice * 0.3), pitch: (pitch, pitch * 0.93))
      pending.append((second, length(1_900, 3_800)))
    }
    if random.uniform(below: 5) == 0 { pending.append((.silence, length(480, 1_900))) }
  }

  private mutating func anyVowel() -> [4 of Double] {
    Self.vowels[Int(random.uniform(below: UInt64(Self.vowels.count)))]
  }

  private mutating func length(_ shortest: Int64, _ longest: Int64) -> Int {
    Int(random.uniform(in: shortest...longest))
  }

  private mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * Double(random.next() >> 11) * 0x1p-53
  }
}

/// A two-pole resonator with a gain of one at frequency zero: a formant.
private struct Resonator {
  private let radius: Double
  private var a = 0.0
  private var gain = 0.0
  private var previous = 0.0
  private var beforePrevious = 0.0

  init(bandwidth: Double) { radius = exp(-Double.pi * bandwidth / 48_000) }

  mutating func tune(to frequency: Double) {
    a = 2 * radius * cos(2 * Double.pi * frequency / 48_000)
    gain = 1 - a + radius * radius
  }

  mutating func filter(_ input: Double) -> Double {
    let output = gain * input + a * previous - radius * radius * beforePrevious
    beforePrevious = previous
    previous = output
    return output
  }
}
