/// Shortens or lengthens audio by one pitch period, with a cross-fade at the cut (overlap and add).
///
/// It works in place on interleaved 48 kHz samples, and finds the pitch on the first channel.
enum TimeStretcher {
  /// The pitch periods in samples, 2.5 ms to 10 ms: voices from 100 to 400 Hz, and multiples of higher ones.
  static let lagRange = 120...480
  private static let decimation = 8
  /// The root mean square, about −54 dBFS, below which any cut is inaudible.
  private static let quiet = 65.0

  /// Returns the pitch period with the highest correlation, or nil when none is good enough.
  ///
  /// - Parameter threshold: the minimum normalised correlation, up to 1.
  static func period(of samples: UnsafeBufferPointer<Int16>, channels: Int, threshold: Double) -> Int? {
    let frames = samples.count / channels
    let longest = min(lagRange.upperBound, frames / 2)
    guard longest >= lagRange.lowerBound else { return nil }
    func sample(_ frame: Int) -> Double { Double(samples[frame * channels]) }
    func correlation(lag: Int, step: Int) -> (value: Double, energy: Double) {
      var product = 0.0
      var first = 0.0
      var second = 0.0
      for frame in stride(from: 0, to: longest, by: step) {
        let (a, b) = (sample(frame), sample(frame + lag))
        product += a * b
        first += a * a
        second += b * b
      }
      let norm = (first * second).squareRoot()
      return (norm > 0 ? product / norm : 0, (first + second) * Double(step) / Double(2 * longest))
    }
    var best = (lag: longest, value: -1.0)
    var energy = 0.0
    for lag in stride(from: lagRange.lowerBound, through: longest, by: decimation) {
      let (value, power) = correlation(lag: lag, step: decimation)
      energy = max(energy, power)
      if value > best.value { best = (lag, value) }
    }
    guard energy > quiet * quiet else { return longest }
    let near = max(lagRange.lowerBound, best.lag - decimation + 1)...min(longest, best.lag + decimation - 1)
    best.value = -1
    for lag in near {
      let (value, _) = correlation(lag: lag, step: 2)
      if value > best.value { best = (lag, value) }
    }
    return best.value >= threshold ? best.lag : nil
  }

  /// Removes `lag` samples per channel at the start, which shortens the audio accordingly.
  ///
  /// - Precondition: there are at least `2 * lag` samples per channel.
  static func removePeriod(_ lag: Int, from samples: UnsafeMutableBufferPointer<Int16>, channels: Int) {
    let cut = lag * channels
    precondition(samples.count >= 2 * cut, "too short to cut")
    for index in 0..<cut {
      samples[index] = fade(from: samples[index], to: samples[index + cut], index / channels, of: lag)
    }
    for index in cut..<samples.count - cut { samples[index] = samples[index + cut] }
  }

  /// Repeats `lag` samples per channel. `samples` has `count` valid ones, and room for `lag * channels` more.
  ///
  /// - Precondition: there are at least `2 * lag` samples per channel.
  static func repeatPeriod(
    _ lag: Int, in samples: UnsafeMutableBufferPointer<Int16>, count: Int, channels: Int
  ) {
    let cut = lag * channels
    precondition(count >= 2 * cut && samples.count >= count + cut, "too short to repeat, or no room")
    for index in stride(from: count - 1, through: cut, by: -1) { samples[index + cut] = samples[index] }
    // Now [0, cut) is the period and [2·cut, …) the audio after it; the samples between them fade from the audio after
    // the period back to the period.
    for index in 0..<cut {
      samples[cut + index] = fade(from: samples[2 * cut + index], to: samples[index], index / channels, of: lag)
    }
  }

  private static func fade(from a: Int16, to b: Int16, _ position: Int, of length: Int) -> Int16 {
    let mixed = (Int(a) * (length - position) + Int(b) * position) / length
    return Int16(truncatingIfNeeded: mixed)
  }
}
