import CallCore

/// The ports of one external address in use by one transport.
struct NATPorts {
  private var words: [UInt64] = []

  func contains(_ port: UInt16) -> Bool {
    words.isEmpty ? false : words[Int(port >> 6)] & (1 << UInt64(port & 63)) != 0
  }

  mutating func insert(_ port: UInt16) {
    if words.isEmpty { words = Array(repeating: 0, count: 1_024) }
    words[Int(port >> 6)] |= 1 << UInt64(port & 63)
  }

  mutating func remove(_ port: UInt16) {
    guard !words.isEmpty else { return }
    words[Int(port >> 6)] &= ~(1 << UInt64(port & 63))
  }

  /// Returns the number of these ports that are in use.
  func count(in range: ClosedRange<UInt16>) -> Int {
    guard !words.isEmpty else { return 0 }
    let (first, last) = (Int(range.lowerBound >> 6), Int(range.upperBound >> 6))
    return (first...last).reduce(0) { count, index in
      var taken = words[index]
      if index == first { taken &= .max << UInt64(range.lowerBound & 63) }
      if index == last { taken &= .max >> UInt64(63 - range.upperBound & 63) }
      return count + taken.nonzeroBitCount
    }
  }

  /// Returns the first free port at or after `start`, wrapping around within `range`; nil if all are taken.
  ///
  /// - Parameter parity: 0 or 1 to accept only even or odd ports.
  func firstFree(from start: UInt16, in range: ClosedRange<UInt16>, parity: UInt16?) -> UInt16? {
    firstFree(in: max(start, range.lowerBound)...range.upperBound, parity: parity)
      ?? (start > range.lowerBound ? firstFree(in: range.lowerBound...(start - 1), parity: parity) : nil)
  }

  private func firstFree(in range: ClosedRange<UInt16>, parity: UInt16?) -> UInt16? {
    let accepted: UInt64 =
      switch parity {
      case nil: .max
      case 0: 0x5555_5555_5555_5555
      default: 0xAAAA_AAAA_AAAA_AAAA
      }
    for index in Int(range.lowerBound >> 6)...Int(range.upperBound >> 6) {
      var free = words.isEmpty ? accepted : ~words[index] & accepted
      if index == Int(range.lowerBound >> 6) { free &= .max << UInt64(range.lowerBound & 63) }
      if index == Int(range.upperBound >> 6) { free &= .max >> UInt64(63 - range.upperBound & 63) }
      if free != 0 { return UInt16(index << 6 + free.trailingZeroBitCount) }
    }
    return nil
  }
}
