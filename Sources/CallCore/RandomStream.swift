/// The root of all randomness in a run: named, independent streams derived from one seed.
///
/// A stream depends only on the seed and its own name, so an additional peer, link or draw elsewhere does not change
/// its draws. Values that must be unpredictable, as in a live call, use ``init(drawing:)`` instead: a seed has only 64
/// bits, and a few draws seen on the wire reveal all later ones.
public struct RandomSource: Sendable {
  /// The seed; zero, and without meaning, if draws come from a closure.
  public let seed: UInt64
  /// The prefix of all names drawn from this source, such as `peer/alice/`; empty at the root.
  public let prefix: String
  private let words: (@Sendable () -> UInt64)?

  /// Makes a source whose streams all derive from `seed`.
  public init(seed: UInt64) { self.init(seed: seed, prefix: "", words: nil) }

  /// Makes a source whose streams take every draw from `words`, independent of their names.
  public init(drawing words: @escaping @Sendable () -> UInt64) { self.init(seed: 0, prefix: "", words: words) }

  private init(seed: UInt64, prefix: String, words: (@Sendable () -> UInt64)?) {
    self.seed = seed
    self.prefix = prefix
    self.words = words
  }

  /// Whether the same seed repeats the same draws.
  public var isRepeatable: Bool { words == nil }

  /// Returns the same source for one part of the world: its names all begin with `name/`.
  public func scoped(_ name: String) -> RandomSource {
    RandomSource(seed: seed, prefix: prefix + name + "/", words: words)
  }

  /// Returns the stream called `name`, such as `link/wan/loss`. For one seed the same name always yields the same
  /// draws.
  public func stream(_ name: String) -> RandomStream {
    if let words { return RandomStream(drawing: words) }
    return RandomStream(seed: splitMix(seed ^ splitMix(FNV1a.hash(of: prefix + name))))
  }
}

/// One stream of draws: pseudo-random ones (xoshiro256**), or those of a closure. It is not copyable, so that two
/// owners cannot share draws by accident.
public struct RandomStream: ~Copyable {
  @usableFromInline var a: UInt64
  @usableFromInline var b: UInt64
  @usableFromInline var c: UInt64
  @usableFromInline var d: UInt64
  /// The source of draws in place of the generator, or nil.
  @usableFromInline let words: (@Sendable () -> UInt64)?

  /// Makes the stream of a 64-bit seed.
  public init(seed: UInt64) {
    a = splitMix(seed)
    b = splitMix(a)
    c = splitMix(b)
    d = splitMix(c)
    words = nil
  }

  init(drawing words: @escaping @Sendable () -> UInt64) {
    (a, b, c, d) = (0, 0, 0, 0)
    self.words = words
  }

  /// Draws 64 random bits.
  @inlinable public mutating func next() -> UInt64 {
    if let words { return words() }
    let scrambled = b &* 5
    let result = (scrambled << 7 | scrambled >> 57) &* 9
    let shifted = b << 17
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = d << 45 | d >> 19
    return result
  }

  /// Draws a uniform integer in `0..<bound`, by multiplication and rejection.
  ///
  /// - Precondition: `bound` is positive.
  @inlinable public mutating func uniform(below bound: UInt64) -> UInt64 {
    precondition(bound > 0, "an empty range has no member")
    var (high, low) = next().multipliedFullWidth(by: bound)
    if low < bound {
      let threshold = (0 &- bound) % bound
      while low < threshold { (high, low) = next().multipliedFullWidth(by: bound) }
    }
    return high
  }

  /// Draws a uniform integer in the closed range.
  @inlinable public mutating func uniform(in range: ClosedRange<Int64>) -> Int64 {
    let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    guard width < .max else { return Int64(bitPattern: next()) }
    return range.lowerBound &+ Int64(bitPattern: uniform(below: width + 1))
  }

  /// Draws a uniform fraction in `0..<1` with 53 bits.
  @inlinable public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Draws true with the given probability; 0 never, 1 always.
  @inlinable public mutating func chance(_ probability: Double) -> Bool { unit() < probability }

  /// Draws `count` random bytes.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    while result.count < count {
      var word = next()
      for _ in 0..<min(8, count - result.count) {
        result.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    return result
  }
}

@usableFromInline
func splitMix(_ state: UInt64) -> UInt64 {
  var z = state &+ 0x9E37_79B9_7F4A_7C15
  z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
  z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
  return z ^ (z >> 31)
}
