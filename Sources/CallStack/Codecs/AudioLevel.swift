/// How loud a stretch of audio is: −dBov, 0 the loudest and 127 digital silence (RFC 6464 section 3).
public struct AudioLevel: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The level below full scale in decibels, 0 to 127.
  public let rawValue: UInt8

  /// Values above 127 are clamped.
  public init(_ rawValue: UInt8) { self.rawValue = min(rawValue, 127) }

  /// Digital silence.
  public static let silence = AudioLevel(127)

  /// The root mean square of the samples, 1 being full scale, as a level.
  public init(linear: Double) {
    guard linear > 0 else {
      self = .silence
      return
    }
    // The nearest step: half a decibel of rounding on either side.
    var level: UInt8 = 0
    while level < 127, Self.linearValues[Int(level)] > linear * 1.059253725177289 { level += 1 }
    self.init(level)
  }

  /// The level as a fraction of full scale; silence is exactly zero.
  public var linear: Double { Self.linearValues[Int(rawValue)] }

  /// Louder is greater.
  public static func < (a: AudioLevel, b: AudioLevel) -> Bool { a.rawValue > b.rawValue }

  /// 10^(−n/20), and zero for silence.
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
  /// The level of interleaved samples.
  public init(of samples: Span<Int16>) { self.init(linear: rootMeanSquare(samples)) }
}

/// The root mean square of samples as a fraction of full scale.
package func rootMeanSquare(_ samples: Span<Int16>) -> Double {
  guard !samples.isEmpty else { return 0 }
  var sum: Int64 = 0
  for index in samples.indices {
    let sample = Int64(samples[unchecked: index])
    sum &+= sample &* sample
  }
  return (Double(sum) / Double(samples.count)).squareRoot() / 32_768
}
