package import CallCore

/// Finds by how much speech that was heard is later than the speech that was said.
package enum SpeechAlignment {
  /// The rate at which signals are compared, in Hz.
  private static let rate = 4_000
  /// The largest shift that is looked for, in samples: 50 ms.
  private static let reach = 200
  /// Signals that are less alike than this at every shift say nothing about time.
  private static let leastLikeness = 0.5
  /// Shifts of this share of the greatest likeness are as good: sound that repeats itself is alike at every period.
  private static let equalShare = 0.98

  /// Returns by how much the heard sound is late; nil if it is too unlike what was said to tell. Of shifts that are equally
  /// good it is the least.
  ///
  /// - Parameters:
  ///   - said: What was said, at 48 kHz.
  ///   - heard: What was heard at the same times.
  package static func lag(said: [Int16], heard: [Int16]) -> Interval? {
    let (said, heard) = (reduced(said), reduced(heard))
    let count = min(said.count, heard.count) - 2 * reach
    guard count > reach else { return nil }
    let middle = reach..<reach + count
    let energy = sum(said, said, middle, 0) * sum(heard, heard, middle, 0)
    guard energy > 0 else { return nil }
    let products = (-reach...reach).map { sum(said, heard, middle, $0) }
    let peaks = products.indices.map { peak(products, at: $0) }
    guard let best = products.indices.max(by: { products[$0] < products[$1] }),
      products[best] / energy.squareRoot() >= leastLikeness,
      let nearest = peaks.indices.filter({ peaks[$0] ?? 0 >= equalShare * products[best] })
        .min(by: { abs($0 - reach) < abs($1 - reach) })
    else { return nil }
    return .nanoseconds(Int64(nearest - reach) * 1_000_000_000 / Int64(rate))
  }

  /// Returns the height of a peak between samples, by the parabola through three of them; nil beside a peak.
  private static func peak(_ products: [Double], at index: Int) -> Double? {
    let here = products[index]
    let before = index > 0 ? products[index - 1] : here
    let after = index + 1 < products.count ? products[index + 1] : here
    guard here >= before, here >= after else { return nil }
    let curve = before - 2 * here + after
    return curve < 0 ? here - (after - before) * (after - before) / (8 * curve) : here
  }

  private static func sum(_ a: [Double], _ b: [Double], _ range: Range<Int>, _ lag: Int) -> Double {
    a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in
        var sum = 0.0
        for index in range { sum += a[index] * b[index + lag] }
        return sum
      }
    }
  }

  /// Returns the signal at the lower rate: the means of groups of samples, which suffice for the pitch of a voice.
  private static func reduced(_ signal: [Int16]) -> [Double] {
    let group = 48_000 / rate
    return signal.withUnsafeBufferPointer { signal in
      (0..<signal.count / group).map { index in
        var sum = 0
        for offset in 0..<group { sum += Int(signal[index * group + offset]) }
        return Double(sum)
      }
    }
  }
}
