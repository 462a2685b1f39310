internal import CallCore

/// A UDP datagram found in an IP packet from outside.
package struct IPDatagram: Equatable {
  package let header: PacketHeader
  /// The position of its payload in the packet.
  package let payload: Range<Int>
}

/// The reason for which a packet from outside is ignored. These are not errors: programs and kernels send such packets.
package enum IPPacketDefect: Error, Hashable {
  case truncated
  case unknownVersion
  case headerChecksum
  case checksum
  /// A part of a datagram that is larger than the MTU: SimNet carries whole datagrams only.
  case fragment
  /// Something other than UDP, by its protocol number.
  case transport(UInt8)

  /// A fixed word for the trace.
  package var name: String {
    switch self {
    case .truncated: "truncated"
    case .unknownVersion: "unknown-version"
    case .headerChecksum: "header-checksum"
    case .checksum: "checksum"
    case .fragment: "fragment"
    case .transport(1): "icmp"
    case .transport(2): "igmp"
    case .transport(6): "tcp"
    case .transport(58): "icmpv6"
    case .transport(let number): "protocol-\(number)"
    }
  }
}

extension IPPacket {
  /// Parses the IP and UDP headers of a packet that a kernel sent.
  package static func parse(_ packet: RawSpan) -> Result<IPDatagram, IPPacketDefect> {
    do throws(IPPacketDefect) {
      switch packet.byte(at: 0).map({ $0 >> 4 }) {
      case 4: return .success(try parseIPv4(packet))
      case 6: return .success(try parseIPv6(packet))
      case nil: throw .truncated
      default: throw .unknownVersion
      }
    } catch {
      return .failure(error)
    }
  }

  /// RFC 791. Options are skipped: nothing in the simulator reads them.
  private static func parseIPv4(_ packet: RawSpan) throws(IPPacketDefect) -> IPDatagram {
    guard let first = packet.byte(at: 0), let service = packet.byte(at: 1),
      let length = packet.bigEndian(UInt16.self, at: 2), let fragment = packet.bigEndian(UInt16.self, at: 6),
      let transport = packet.byte(at: 9), let source = packet.bigEndian(UInt32.self, at: 12),
      let destination = packet.bigEndian(UInt32.self, at: 16)
    else { throw .truncated }
    let headerLength = Int(first & 0x0F) * 4
    guard headerLength >= 20, Int(length) >= headerLength, Int(length) <= packet.byteCount else { throw .truncated }
    var checksum = InternetChecksum()
    checksum.add(packet.extracting(0..<headerLength))
    guard checksum.value == 0 else { throw .headerChecksum }
    // "More fragments" or an offset; "don't fragment" may be set or not.
    guard fragment & 0x3FFF == 0 else { throw .fragment }
    return try parseUDP(
      packet.extracting(0..<Int(length)), at: headerLength, transport, IPAddress(v4: source),
      IPAddress(v4: destination),
      ECN(rawValue: service & 3) ?? .notECT)
  }

  /// RFC 8200.
  private static func parseIPv6(_ packet: RawSpan) throws(IPPacketDefect) -> IPDatagram {
    guard let word = packet.bigEndian(UInt32.self, at: 0), let length = packet.bigEndian(UInt16.self, at: 4),
      let source = address(in: packet, at: 8), let destination = address(in: packet, at: 24),
      var next = packet.byte(at: 6)
    else { throw .truncated }
    let end = 40 + Int(length)
    guard end <= packet.byteCount else { throw .truncated }
    var offset = 40
    // Hop-by-hop options, routing, destination options: each begins with the next header and its own length.
    while next == 0 || next == 43 || next == 60 {
      guard offset + 8 <= end, let following = packet.byte(at: offset), let units = packet.byte(at: offset + 1) else {
        throw .truncated
      }
      next = following
      offset += 8 + Int(units) * 8
    }
    guard next != 44 else { throw .fragment }
    guard offset <= end else { throw .truncated }
    return try parseUDP(
      packet.extracting(0..<end), at: offset, next, source, destination,
      ECN(rawValue: UInt8(truncatingIfNeeded: word >> 20) & 3) ?? .notECT)
  }

  private static func address(in packet: RawSpan, at offset: Int) -> IPAddress? {
    guard let high = packet.bigEndian(UInt64.self, at: offset), let low = packet.bigEndian(UInt64.self, at: offset + 8)
    else { return nil }
    return IPAddress(v6: high, low)
  }

  private static func parseUDP(
    _ packet: RawSpan, at start: Int, _ transport: UInt8, _ source: IPAddress, _ destination: IPAddress, _ ecn: ECN
  ) throws(IPPacketDefect) -> IPDatagram {
    guard transport == TransportProtocol.udp.rawValue else { throw .transport(transport) }
    guard let from = packet.bigEndian(UInt16.self, at: start), let to = packet.bigEndian(UInt16.self, at: start + 2),
      let length = packet.bigEndian(UInt16.self, at: start + 4), let sum = packet.bigEndian(UInt16.self, at: start + 6),
      length >= 8, start + Int(length) <= packet.byteCount
    else { throw .truncated }
    // Over IPv4 a checksum of zero means none (RFC 768); over IPv6 it is mandatory (RFC 8200 section 8.1).
    if sum != 0 || source.isIPv6 {
      var checksum = InternetChecksum()
      checksum.add(source)
      checksum.add(destination)
      checksum.add(UInt32(transport))
      checksum.add(UInt32(length))
      checksum.add(packet.extracting(start..<start + Int(length)))
      guard sum != 0, checksum.value == 0 else { throw .checksum }
    }
    let header = PacketHeader(
      source: Endpoint(source, port: from), destination: Endpoint(destination, port: to), ecn: ecn)
    return IPDatagram(header: header, payload: start + 8..<start + Int(length))
  }
}
