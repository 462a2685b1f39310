package import CallCore

/// Adds the IP and transport headers that packets lack inside the simulator.
package enum IPPacket {
  /// Appends a whole IPv4 or IPv6 packet; returns false if the address families differ or the packet is too long.
  package static func append(
    _ payload: RawSpan, source: Endpoint, destination: Endpoint, transport: TransportProtocol, ecn: ECN,
    to bytes: inout [UInt8]
  ) -> Bool {
    let isIPv6 = source.address.isIPv6
    let length = payload.byteCount + (transport == .udp ? 8 : 0)
    guard isIPv6 == destination.address.isIPv6, length <= (isIPv6 ? 65_535 : 65_515) else { return false }
    if isIPv6 {
      appendIPv6Header(source.address, destination.address, transport, ecn, UInt16(length), to: &bytes)
    } else {
      appendIPv4Header(source.address, destination.address, transport, ecn, UInt16(length + 20), to: &bytes)
    }
    let start = bytes.count
    if transport == .udp {
      bytes.append(bigEndian: source.port)
      bytes.append(bigEndian: destination.port)
      bytes.append(bigEndian: UInt16(length))
      bytes.append(bigEndian: UInt16(0))
    }
    payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if transport == .tcp {
      // A NAT rewrote the header's endpoints, but not the ports within the segment.
      store(source.port, at: 0, start, &bytes)
      store(destination.port, at: 2, start, &bytes)
      store(0, at: 16, start, &bytes)
    }
    var checksum = InternetChecksum()
    checksum.add(source.address)
    checksum.add(destination.address)
    checksum.add(UInt32(transport.rawValue))
    checksum.add(UInt32(length))
    checksum.add(bytes.span.bytes.extracting(start..<bytes.count))
    let value = checksum.value
    // In UDP a checksum of zero means none, so zero is sent as its complement (RFC 768).
    store(transport == .udp && value == 0 ? 0xFFFF : value, at: transport == .udp ? 6 : 16, start, &bytes)
    return true
  }

  /// RFC 791; never fragmented, so the identification is zero (RFC 6864).
  private static func appendIPv4Header(
    _ source: IPAddress, _ destination: IPAddress, _ transport: TransportProtocol, _ ecn: ECN, _ length: UInt16,
    to bytes: inout [UInt8]
  ) {
    let start = bytes.count
    bytes.append(0x45)
    bytes.append(ecn.rawValue)
    bytes.append(bigEndian: length)
    bytes.append(bigEndian: UInt32(0x4000))
    bytes.append(64)
    bytes.append(transport.rawValue)
    bytes.append(bigEndian: UInt16(0))
    bytes.append(bigEndian: source.v4Bits)
    bytes.append(bigEndian: destination.v4Bits)
    var checksum = InternetChecksum()
    checksum.add(bytes.span.bytes.extracting(start..<bytes.count))
    store(checksum.value, at: 10, start, &bytes)
  }

  /// RFC 8200.
  private static func appendIPv6Header(
    _ source: IPAddress, _ destination: IPAddress, _ transport: TransportProtocol, _ ecn: ECN, _ length: UInt16,
    to bytes: inout [UInt8]
  ) {
    bytes.append(bigEndian: 0x6000_0000 | UInt32(ecn.rawValue) << 20)
    bytes.append(bigEndian: length)
    bytes.append(transport.rawValue)
    bytes.append(64)
    for word in [source.high, source.low, destination.high, destination.low] { bytes.append(bigEndian: word) }
  }

  /// Overwrites a 16-bit field, unless a truncated segment has no such field.
  private static func store(_ value: UInt16, at offset: Int, _ start: Int, _ bytes: inout [UInt8]) {
    guard start + offset + 2 <= bytes.count else { return }
    bytes[start + offset] = UInt8(truncatingIfNeeded: value >> 8)
    bytes[start + offset + 1] = UInt8(truncatingIfNeeded: value)
  }
}
