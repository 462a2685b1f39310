/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable, BitwiseCopyable {
  /// The address as 16 bytes, big-endian; an IPv4 address occupies the low 32 bits of `low`.
  public var high: UInt64
  /// The low 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
  public var low: UInt64
  /// Whether this is an IPv6 address.
  public var isIPv6: Bool

  /// Makes an address from its two words.
  @inlinable public init(high: UInt64, low: UInt64, isIPv6: Bool) {
    self.high = high
    self.low = low
    self.isIPv6 = isIPv6
  }

  /// Makes an IPv4 address from its 32 bits, in host byte order.
  @inlinable public init(v4 bits: UInt32) { self.init(high: 0, low: UInt64(bits), isIPv6: false) }
  /// Makes an IPv6 address from its upper and lower 64 bits, in host byte order.
  @inlinable public init(v6 high: UInt64, _ low: UInt64) { self.init(high: high, low: low, isIPv6: true) }

  /// The 32 bits of an IPv4 address.
  @inlinable public var v4Bits: UInt32 { UInt32(truncatingIfNeeded: low) }

  /// `0.0.0.0`.
  public static let anyIPv4 = IPAddress(v4: 0)
  /// `::`.
  public static let anyIPv6 = IPAddress(v6: 0, 0)

  /// Whether this is `0.0.0.0` or `::`.
  @inlinable public var isUnspecified: Bool { high == 0 && low == 0 }
  /// 127.0.0.0/8 or `::1`.
  public var isLoopback: Bool { isIPv6 ? high == 0 && low == 1 : low >> 24 == 127 }
  /// 169.254.0.0/16 or fe80::/10.
  public var isLinkLocal: Bool { isIPv6 ? high >> 54 == 0x3FA : low >> 16 == 0xA9FE }

  /// The bytes in network order: 4 or 16.
  public var bytes: [UInt8] {
    isIPv6
      ? (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - 8 * ($0 % 8))) }
      : (0..<4).map { UInt8(truncatingIfNeeded: low >> UInt64(24 - 8 * $0)) }
  }
}

extension IPAddress: Comparable {
  /// Orders IPv4 before IPv6, then numerically: a stable order for lists that reach the trace.
  public static func < (a: IPAddress, b: IPAddress) -> Bool {
    (a.isIPv6 ? 1 : 0, a.high, a.low) < (b.isIPv6 ? 1 : 0, b.high, b.low)
  }
}

extension IPAddress: LosslessStringConvertible {
  /// Parses dotted-quad IPv4 or RFC 4291 IPv6 text, including `::` and a trailing IPv4 part; no zone, no port.
  public init?(_ text: String) {
    let address = text.utf8.contains(UInt8(ascii: ":")) ? Self.parseIPv6(text[...]) : Self.parseIPv4(text[...])
    guard let address else { return nil }
    self = address
  }

  /// Canonical text: dotted quad, or RFC 5952 (lower case, longest zero run compressed).
  public var description: String {
    guard isIPv6 else { return bytes.map(String.init).joined(separator: ".") }
    let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> UInt64(48 - 16 * ($0 % 4))) }
    guard let zeros = Self.longestZeroRun(in: groups) else { return Self.hexadecimal(groups[...]) }
    return Self.hexadecimal(groups[..<zeros.lowerBound]) + "::" + Self.hexadecimal(groups[zeros.upperBound...])
  }

  private static func hexadecimal(_ groups: ArraySlice<UInt16>) -> String {
    groups.map { String($0, radix: 16) }.joined(separator: ":")
  }

  private static func longestZeroRun(in groups: [UInt16]) -> Range<Int>? {
    var best: Range<Int>?
    var start = 0
    while start < groups.count {
      var end = start
      while end < groups.count, groups[end] == 0 { end += 1 }
      if end - start >= 2, end - start > (best?.count ?? 0) { best = start..<end }
      start = max(end, start + 1)
    }
    return best
  }

  private static func parseIPv4(_ text: Substring) -> IPAddress? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bits: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        part.utf8.count == 1 || part.first != "0", let value = UInt8(part)
      else { return nil }
      bits = bits << 8 | UInt32(value)
    }
    return IPAddress(v4: bits)
  }

  private static func parseIPv6(_ text: Substring) -> IPAddress? {
    let halves = text.components(separatedBy: "::")
    guard halves.count <= 2, let head = groups(halves[0]) else { return nil }
    var all = head
    if halves.count == 2 {
      guard let tail = groups(halves[1]), head.count + tail.count <= 7 else { return nil }
      all += Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }
    guard all.count == 8 else { return nil }
    let word = { (part: ArraySlice<UInt16>) in part.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
    return IPAddress(v6: word(all[0..<4]), word(all[4..<8]))
  }

  private static func groups(_ text: Substring) -> [UInt16]? {
    guard !text.isEmpty else { return [] }
    var result: [UInt16] = []
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
        guard let v4 = parseIPv4(part) else { return nil }
        result += [UInt16(truncatingIfNeeded: v4.low >> 16), UInt16(truncatingIfNeeded: v4.low)]
      } else {
        guard (1...4).contains(part.utf8.count), part.utf8.first != UInt8(ascii: "+"),
          let value = UInt16(part, radix: 16)
        else { return nil }
        result.append(value)
      }
    }
    return result
  }
}

extension Substring {
  fileprivate func components(separatedBy separator: String) -> [Substring] {
    var parts: [Substring] = []
    var rest = self
    while let range = rest.firstRange(of: separator) {
      parts.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    return parts + [rest]
  }
}
