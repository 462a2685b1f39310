internal import CallCore

/// A polyphase filter between two sampling rates, with the low-pass filter of Octave's `resample`, on which the
/// published values of STOI rest: a sinc in a Kaiser window with 60 dB of rejection.
package struct Resampler {
  private let up: Int
  private let down: Int
  /// The coefficients on both sides of the centre.
  private let filter: [Double]
  private var reach: Int { filter.count / 2 }

  /// Creates a filter between two rates in Hz.
  package init(from source: Int, to target: Int) {
    var (divisor, rest) = (source, target)
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    up = target / divisor
    down = source / divisor
    filter = Self.lowPass(cutoff: 1 / Double(2 * max(up, down)), gain: Double(up))
  }

  /// Returns a filter whose coefficients sum to `gain`.
  ///
  /// - Parameter cutoff: In cycles per sample.
  private static func lowPass(cutoff: Double, gain: Double) -> [Double] {
    let rejection = 60.0
    let reach = Int(((rejection - 8) / (28.714 * cutoff / 10)).rounded(.up))
    let beta = 0.1102 * (rejection - 8.7)
    var filter = (-reach...reach).map { position in
      let turns = Double(position) * cutoff
      let sinc =
        position == 0
        ? 1 : ElementaryFunctions.cosineAndSine(turns: turns).sine / (2 * Double.pi * turns)
      let place = Double(position) / Double(reach)
      return sinc * bessel(beta * (1 - place * place).squareRoot())
    }
    let sum = filter.reduce(0, +)
    for index in filter.indices { filter[index] *= gain / sum }
    return filter
  }

  /// Returns the modified Bessel function of the first kind and order zero.
  private static func bessel(_ x: Double) -> Double {
    var (term, sum) = (1.0, 1.0)
    for index in 1...40 {
      let factor = x / Double(2 * index)
      term *= factor * factor
      sum += term
    }
    return sum
  }

  /// Returns the signal at the other rate; zeros surround it.
  package func resample(_ signal: [Double]) -> [Double] {
    let count = (signal.count * up + down - 1) / down
    return signal.withUnsafeBufferPointer { signal in
      filter.withUnsafeBufferPointer { filter in
        (0..<count).map { index in
          let centre = index * down
          let first = max(0, (centre - reach + up - 1) / up)
          let last = min(signal.count - 1, (centre + reach) / up)
          var sum = 0.0
          for source in stride(from: first, through: last, by: 1) {
            sum += signal[source] * filter[reach + centre - source * up]
          }
          return sum
        }
      }
    }
  }
}
