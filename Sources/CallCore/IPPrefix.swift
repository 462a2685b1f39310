/// A network prefix in CIDR form, such as `192.168.1.0/24` or `2001:db8::/64`.
public struct IPPrefix: Hashable, Sendable, BitwiseCopyable {
  /// The network address: every host bit is zero.
  public let address: IPAddress
  /// The number of leading bits that all addresses of the prefix share.
  public let length: Int

  /// Makes a prefix; host bits of the address are cleared.
  ///
  /// - Precondition: `length` is within 0...32 for IPv4 and 0...128 for IPv6.
  public init(_ address: IPAddress, length: Int) {
    precondition((0...(address.isIPv6 ? 128 : 32)).contains(length), "prefix length \(length) out of range")
    self.length = length
    let (high, low) = Self.mask(isIPv6: address.isIPv6, length: length)
    self.address = IPAddress(high: address.high & high, low: address.low & low, isIPv6: address.isIPv6)
  }

  /// Returns whether an address lies within the prefix.
  public func contains(_ candidate: IPAddress) -> Bool {
    guard candidate.isIPv6 == address.isIPv6 else { return false }
    let (high, low) = Self.mask(isIPv6: address.isIPv6, length: length)
    return candidate.high & high == address.high && candidate.low & low == address.low
  }

  /// Returns the `number`-th host address of the network (0 is the network address itself), or nil if it lies outside.
  public func host(_ number: UInt64) -> IPAddress? {
    let (low, overflow) = address.low.addingReportingOverflow(number)
    guard !overflow else { return nil }
    let candidate = IPAddress(high: address.high, low: low, isIPv6: address.isIPv6)
    return contains(candidate) && (address.isIPv6 || low <= UInt64(UInt32.max)) ? candidate : nil
  }

  private static func mask(isIPv6: Bool, length: Int) -> (UInt64, UInt64) {
    func ones(_ count: Int) -> UInt64 { count <= 0 ? 0 : count >= 64 ? .max : ~(.max >> UInt64(count)) }
    return isIPv6 ? (ones(length), ones(length - 64)) : (.max, ones(length) >> 32)
  }
}

extension IPPrefix: LosslessStringConvertible {
  /// Parses `address/length`. Host bits may be set; they are cleared.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let address = IPAddress(String(parts[0])),
      !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(parts[1]),
      length <= (address.isIPv6 ? 128 : 32)
    else { return nil }
    self.init(address, length: length)
  }

  public var description: String { "\(address)/\(length)" }
}
