/// A transport address: an IP address and a port.
public struct Endpoint: Hashable, Sendable, BitwiseCopyable {
  /// The IP address.
  public var address: IPAddress
  /// The UDP or TCP port.
  public var port: UInt16

  /// Makes a transport address from an IP address and a port.
  @inlinable public init(_ address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }
}

extension Endpoint: Comparable {
  /// Compares by address and then by port.
  public static func < (a: Endpoint, b: Endpoint) -> Bool { (a.address, a.port) < (b.address, b.port) }
}

extension Endpoint: LosslessStringConvertible {
  /// Parses `203.0.113.5:3478` or `[2001:db8::1]:3478`.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    var host = text[..<colon]
    if host.first == "[" {
      guard host.last == "]" else { return nil }
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard let address = IPAddress(String(host)), !digits.isEmpty,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
    else { return nil }
    self.init(address, port: port)
  }

  public var description: String { address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
