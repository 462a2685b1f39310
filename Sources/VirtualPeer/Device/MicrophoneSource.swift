package import CallCore
public import Formats
internal import LibC

/// The sound that a microphone hears.
public enum MicrophoneSource: Hashable, Sendable {
  case silence
  /// A sine wave, in hertz.
  case tone(frequency: Int)
  /// White noise at a steady level.
  case noise
  /// Modelled speech, see ``SpeechSynthesizer``; not a recording.
  case speech
  case recording(Recording)
}

extension MicrophoneSource {
  /// The name of the random stream of a device's microphone.
  static let stream = "microphone"

  fileprivate var frequency: Double { if case .tone(let frequency) = self { Double(frequency) } else { 0 } }

  /// Returns the microphone's sound for a program that plays it from a file in a loop: a whole recording, or half a
  /// minute of an endless source.
  package func loop(random: RandomSource) -> [Int16] {
    if case .recording(let recording) = self { return recording.samples }
    let count = 30 * SampleGenerator.sampleRate
    var generator = SampleGenerator(self, random: random.stream(Self.stream))
    return [Int16](unsafeUninitializedCapacity: count) { buffer, initialized in
      generator.fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
      initialized = count
    }
  }
}

/// Makes the samples of a ``MicrophoneSource``: 48 kHz, mono, 16 bits. Equal random streams give equal samples.
struct SampleGenerator: ~Copyable {
  static let sampleRate = 48_000

  private let source: MicrophoneSource
  private var tone: Oscillator
  private var noise: RandomStream?
  private var speech: SpeechSynthesizer?
  private var recording: RecordingPlayback?

  init(_ source: MicrophoneSource, random: consuming RandomStream) {
    self.source = source
    tone = Oscillator(frequency: source.frequency)
    switch source {
    case .noise: noise = consume random
    case .speech: speech = SpeechSynthesizer(random: consume random)
    case .recording(let recording): self.recording = RecordingPlayback(recording)
    case .silence, .tone: break
    }
  }

  /// Overwrites all of `samples` with the next samples.
  ///
  /// - Parameter hasListener: Whether a connection is established yet. A recording waits for it, as people do.
  mutating func fill(_ samples: UnsafeMutableBufferPointer<Int16>, hasListener: Bool = true) {
    switch source {
    case .silence: samples.initialize(repeating: 0)
    case .recording where !hasListener: samples.initialize(repeating: 0)
    case .noise:
      for index in samples.indices {
        samples.initializeElement(at: index, to: Int16(noise!.uniform(in: -4_000...4_000)))
      }
    case .tone:
      for index in samples.indices { samples.initializeElement(at: index, to: Self.quantize(tone.next() * 8_000)) }
    case .speech:
      for index in samples.indices { samples.initializeElement(at: index, to: Self.quantize(speech!.next())) }
    case .recording:
      for index in samples.indices { samples.initializeElement(at: index, to: recording!.next()) }
    }
  }

  private static func quantize(_ value: Double) -> Int16 { Int16(clamping: Int(value.rounded())) }
}

/// An undamped two-pole resonator.
private struct Oscillator {
  private let a: Double
  private var previous = 0.0
  private var beforePrevious: Double

  init(frequency: Double) {
    let step = 2 * Double.pi * frequency / Double(SampleGenerator.sampleRate)
    a = 2 * cos(step)
    beforePrevious = -sin(step)
  }

  /// Returns the next sample, of amplitude one.
  mutating func next() -> Double {
    let output = a * previous - beforePrevious
    beforePrevious = previous
    previous = output
    return output
  }
}
