internal import Codecs
internal import LibC

/// The input of a live call's microphone: 48 kHz, mono, 16 bits.
package struct AudioSource {
  private enum Kind {
    case silence
    case tone(step: Double)
    /// Samples that repeat from the start.
    case recording([Int16])
    case echo(AudioEcho)
  }

  private let kind: Kind
  private var phase = 0.0
  private var position = 0

  private init(_ kind: Kind) { self.kind = kind }

  package static var silence: AudioSource { AudioSource(.silence) }

  /// Returns a sine wave of `frequency` hertz at a quarter of full scale.
  package static func tone(_ frequency: Double) -> AudioSource {
    AudioSource(.tone(step: 2 * Double.pi * frequency / Double(audioSampleRate)))
  }

  /// - Parameter samples: the samples of the recording, at least one.
  package static func recording(_ samples: [Int16]) -> AudioSource { AudioSource(.recording(samples)) }

  static func echo(_ echo: AudioEcho) -> AudioSource { AudioSource(.echo(echo)) }

  /// Passes received audio to an echo.
  func heard(_ samples: Span<Int16>) {
    if case .echo(let echo) = kind { echo.append(samples) }
  }

  /// Fills all of `samples` with the next samples.
  package mutating func fill(_ samples: UnsafeMutableBufferPointer<Int16>) {
    switch kind {
    case .silence: samples.initialize(repeating: 0)
    case .tone(let step):
      for index in samples.indices {
        samples.initializeElement(at: index, to: Int16((sin(phase) * 8_000).rounded()))
        phase += step
        if phase > 2 * Double.pi { phase -= 2 * Double.pi }
      }
    case .recording(let recorded):
      for index in samples.indices {
        samples.initializeElement(at: index, to: recorded[position])
        position += 1
        if position == recorded.count { position = 0 }
      }
    case .echo(let echo):
      for index in samples.indices { samples.initializeElement(at: index, to: echo.next()) }
    }
  }
}
