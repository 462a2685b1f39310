/// An audio level in −dBov: 0 is the loudest, 127 digital silence (RFC 6464 section 3).
public struct AudioLevel: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The level below full scale in decibels, 0 to 127.
  public let rawValue: UInt8

  /// Makes a level; values above 127 are clamped.
  public init(_ rawValue: UInt8) { self.rawValue = min(rawValue, 127) }

  /// Digital silence.
  public static let silence = AudioLevel(127)

  /// Makes the level of a root mean square, where 1 is full scale.
  public init(linear: Double) {
    guard linear > 0 else {
      self = .silence
      return
    }
    // Round to the nearest step: up to half a decibel in either direction.
    var level: UInt8 = 0
    while level < 127, Self.linearValues[Int(level)] > linear * 1.059253725177289 { level += 1 }
    self.init(level)
  }

  /// The level as a fraction of full scale; silence is exactly zero.
  public var linear: Double { Self.linearValues[Int(rawValue)] }

  /// Returns whether `a` is quieter than `b`.
  public static func < (a: AudioLevel, b: AudioLevel) -> Bool { a.rawValue > b.rawValue }

  /// The fraction of full scale at each level: 10^(−n/20), and zero for silence.
  private static let linearValues: [Double] = {
    var values: [Double] = []
    var value = 1.0
    for _ in 0..<127 {
      values.append(value)
      value *= 0.8912509381337456
    }
    return values + [0]
  }()
}

extension AudioLevel {
  /// Makes the level of interleaved samples.
  public init(of samples: Span<Int16>) { self.init(linear: rootMeanSquare(samples)) }
}

/// Returns the root mean square of samples as a fraction of full scale.
package func rootMeanSquare(_ samples: Span<Int16>) -> Double {
  guard !samples.isEmpty else { return 0 }
  var sum: Int64 = 0
  for index in samples.indices {
    let sample = Int64(samples[unchecked: index])
    sum &+= sample &* sample
  }
  return (Double(sum) / Double(samples.count)).squareRoot() / 32_768
}
