internal import CallCore

/// Measures of how like speech that was heard is to the speech that was said, at 10 kHz: STOI (Taal et al. 2011), ESTOI
/// (Jensen and Taal 2016) and the log-spectral distance.
package struct SpeechComparison {
  /// The rate at which STOI is defined.
  package static let sampleRate = 10_000
  private static let frame = 256
  private static let hop = 128
  private static let transform = 512
  /// Frames that are further below the loudest one are silent.
  private static let dynamicRange = 40.0
  /// The frames over which envelopes are correlated: 384 ms.
  private static let segment = 30
  /// The rounding of doubles, against divisions by zero.
  private static let epsilon = 0x1p-52

  /// The powers of the bins of each frame that is not silent.
  private let reference: [[Double]]
  private let heard: [[Double]]

  /// Creates a comparison; nil if too little of the reference is not silent: fewer than 30 frames.
  ///
  /// - Parameters:
  ///   - reference: What was said.
  ///   - heard: What was heard at the same times.
  package init?(reference: [Double], heard: [Double]) {
    precondition(reference.count == heard.count)
    let (reference, heard) = Self.withoutSilence(reference, heard)
    guard reference.count - Self.frame > (Self.segment - 1) * Self.hop else { return nil }
    var transform = FourierTransform(size: Self.transform)
    self.reference = Self.frames(of: reference).map { transform.power(of: $0) }
    self.heard = Self.frames(of: heard).map { transform.power(of: $0) }
  }

  /// Creates a comparison of 16-bit samples at 48 kHz.
  package init?(reference: [Int16], heard: [Int16]) {
    let resampled = [reference, heard].map { Self.resampler.resample($0.map { Double($0) / 32_768 }) }
    self.init(reference: resampled[0], heard: resampled[1])
  }

  private static let resampler = Resampler(from: 48_000, to: sampleRate)

  // MARK: Frames

  /// A Hann window without zeros at its ends.
  private static let window = (1...frame).map { index in
    0.5 - 0.5 * ElementaryFunctions.cosineAndSine(turns: Double(index) / Double(frame + 1)).cosine
  }

  /// Returns the windowed frames. As in the authors' program, a frame at the very end is left out.
  private static func frames(of signal: [Double]) -> [[Double]] {
    stride(from: 0, to: signal.count - frame, by: hop).map { start in
      (0..<frame).map { signal[start + $0] * window[$0] }
    }
  }

  /// Returns both signals without the frames in which the reference is silent.
  private static func withoutSilence(_ reference: [Double], _ heard: [Double]) -> ([Double], [Double]) {
    let said = frames(of: reference)
    let energies = said.map { frame in
      let norm = frame.reduce(0) { $0 + $1 * $1 }.squareRoot()
      return 20 / ln10 * ElementaryFunctions.log(norm + epsilon)
    }
    guard let loudest = energies.max(), said.contains(where: { $0.contains { $0 != 0 } }) else { return ([], []) }
    let kept = energies.indices.filter { loudest - dynamicRange - energies[$0] < 0 }
    let other = frames(of: heard)
    return (joined(kept.map { said[$0] }), joined(kept.map { other[$0] }))
  }

  private static func joined(_ frames: [[Double]]) -> [Double] {
    var signal = Array(repeating: 0.0, count: (frames.count - 1) * hop + frame)
    for (number, frame) in frames.enumerated() {
      for (index, sample) in frame.enumerated() { signal[number * hop + index] += sample }
    }
    return signal
  }

  private static let ln10 = 2.302585092994045684

  // MARK: Intelligibility

  /// The bins of 15 third-octave bands from 150 Hz.
  private static let bands: [Range<Int>] = (0..<15).map { band in
    let octaves = Double(band) / 3
    return bin(octaves - 1.0 / 6)..<bin(octaves + 1.0 / 6)
  }

  /// Returns the bin nearest to a frequency, in octaves above 150 Hz.
  private static func bin(_ octaves: Double) -> Int {
    let frequency = 150 * ElementaryFunctions.exp(octaves * 0.693147180559945309417)
    return Int((frequency * Double(transform) / Double(sampleRate)).rounded())
  }

  /// Returns the envelope of each band.
  private static func envelopes(_ frames: [[Double]]) -> [[Double]] {
    bands.map { band in frames.map { $0[band].reduce(0, +).squareRoot() } }
  }

  /// Calls `body` with the envelopes of each segment, and returns the mean of its results.
  private func meanOfSegments(_ body: (_ said: [[Double]], _ heard: [[Double]]) -> Double) -> Double {
    let (said, heard) = (Self.envelopes(reference), Self.envelopes(heard))
    let count = reference.count - Self.segment + 1
    var sum = 0.0
    for start in 0..<count {
      let range = start..<start + Self.segment
      sum += body(said.map { Array($0[range]) }, heard.map { Array($0[range]) })
    }
    return sum / Double(count)
  }

  /// The short-time objective intelligibility, at most 1.
  package var intelligibility: Double {
    // The lower bound of the signal-to-distortion ratio is -15 dB.
    let clip = 1 + ElementaryFunctions.exp(15.0 / 20 * Self.ln10)
    return meanOfSegments { said, heard in
      var sum = 0.0
      for (x, y) in zip(said, heard) {
        let scale = Self.norm(x) / (Self.norm(y) + Self.epsilon)
        let clipped = zip(x, y).map { min($1 * scale, $0 * clip) }
        let (a, b) = (Self.centred(x), Self.centred(clipped))
        sum += Self.product(a, b) / ((Self.norm(a) + Self.epsilon) * (Self.norm(b) + Self.epsilon))
      }
      return sum / Double(Self.bands.count)
    }
  }

  /// The extended short-time objective intelligibility, at most 1.
  package var extendedIntelligibility: Double {
    meanOfSegments { said, heard in
      let (x, y) = (Self.normalized(said), Self.normalized(heard))
      return zip(x, y).reduce(0) { $0 + Self.product($1.0, $1.1) } / Double(Self.segment)
    }
  }

  /// Returns the segment with mean zero and length one, first of each band and then of each frame.
  private static func normalized(_ segment: [[Double]]) -> [[Double]] {
    let rows = segment.map(unit)
    return (0..<Self.segment).map { frame in unit(rows.map { $0[frame] }) }
  }

  /// Returns a vector with mean zero and length one; zeros where nothing varies.
  private static func unit(_ vector: [Double]) -> [Double] {
    let centred = centred(vector)
    let length = norm(centred) + epsilon
    return centred.map { $0 / length }
  }

  private static func centred(_ vector: [Double]) -> [Double] {
    let mean = vector.reduce(0, +) / Double(vector.count)
    return vector.map { $0 - mean }
  }

  private static func norm(_ vector: [Double]) -> Double { product(vector, vector).squareRoot() }

  private static func product(_ a: [Double], _ b: [Double]) -> Double { zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }

  // MARK: Distance

  /// The log-spectral distance in dB: the root mean square over the bins, averaged over the frames.
  ///
  /// Powers count as at least 60 dB below the loudest one of the reference, because nobody hears what is below.
  package var logSpectralDistance: Double {
    let floor = 1e-6 * (reference.lazy.compactMap { $0.max() }.max() ?? 0)
    let distances = zip(reference, heard).map { said, heard in
      let squares = zip(said, heard).reduce(0.0) { sum, powers in
        let ratio = 10 / Self.ln10 * ElementaryFunctions.log(max(powers.0, floor) / max(powers.1, floor))
        return sum + ratio * ratio
      }
      return (squares / Double(said.count)).squareRoot()
    }
    return distances.reduce(0, +) / Double(distances.count)
  }
}
