import CallCore
import Testing

@testable import SimNet

@Suite struct IPPacketTests {
  private static let v4 = (Endpoint("192.168.1.2:40000")!, Endpoint("203.0.113.9:3478")!)
  private static let v6 = (Endpoint("[2001:db8::2]:40000")!, Endpoint("[2001:db8:1::9]:3478")!)

  private static func packet(
    _ path: (Endpoint, Endpoint), payload: [UInt8] = Array(1...21), transport: TransportProtocol = .udp,
    ecn: ECN = .notECT
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    let isWritten = IPPacket.append(
      payload.span.bytes, source: path.0, destination: path.1, transport: transport, ecn: ecn, to: &bytes)
    #expect(isWritten)
    return bytes
  }

  private static func parse(_ bytes: [UInt8]) -> Result<IPDatagram, IPPacketDefect> { IPPacket.parse(bytes.span.bytes) }

  /// Sets a byte of an IPv4 packet and makes the header's checksum right again.
  private static func changed(_ packet: [UInt8], _ offset: Int, to value: UInt8) -> [UInt8] {
    var packet = packet
    packet[offset] = value
    (packet[10], packet[11]) = (0, 0)
    var checksum = InternetChecksum()
    let header = Array(packet[..<20])
    checksum.add(header.span.bytes)
    (packet[10], packet[11]) = (UInt8(checksum.value >> 8), UInt8(checksum.value & 0xFF))
    return packet
  }

  @Test(arguments: [false, true]) func `what is written is read back with its addresses, ports and ECN`(
    isIPv6: Bool
  ) throws {
    let path = isIPv6 ? Self.v6 : Self.v4
    for ecn in [ECN.notECT, .ect1, .ect0, .ce] {
      let bytes = Self.packet(path, ecn: ecn)
      let datagram = try Self.parse(bytes).get()
      #expect(datagram.header == PacketHeader(source: path.0, destination: path.1, ecn: ecn))
      #expect(Array(bytes[datagram.payload]) == Array(1...21))
    }
  }

  @Test(arguments: [false, true]) func `an empty datagram and one of odd length are whole datagrams`(
    isIPv6: Bool
  ) throws {
    let path = isIPv6 ? Self.v6 : Self.v4
    for payload in [[], [7], Array(repeating: 0xFF, count: 1_400)] as [[UInt8]] {
      let bytes = Self.packet(path, payload: payload)
      #expect(Array(bytes[try Self.parse(bytes).get().payload]) == payload)
    }
  }

  @Test(arguments: [false, true]) func `a packet cut short anywhere is truncated, never more`(
    isIPv6: Bool
  ) {
    let path = isIPv6 ? Self.v6 : Self.v4
    let bytes = Self.packet(path)
    for count in 0..<bytes.count { #expect(Self.parse(Array(bytes[..<count])) == .failure(.truncated), "\(count)") }
  }

  @Test(arguments: [false, true]) func `a flipped bit anywhere in header or payload is noticed or makes another packet`(
    isIPv6: Bool
  ) {
    let path = isIPv6 ? Self.v6 : Self.v4
    let bytes = Self.packet(path)
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      if case .success(let datagram) = Self.parse(damaged) {
        // IPv6 has no sum over its header: class, flow label and hop limit may change unseen.
        #expect(path.0.address.isIPv6 && [0, 1, 2, 3, 7].contains(bit / 8), "bit \(bit): \(datagram)")
      }
    }
  }

  @Test func `bytes behind the packet's own length are padding`() throws {
    let bytes = Self.packet(Self.v4) + [9, 9, 9]
    #expect(try Self.parse(bytes).get().payload.count == 21)
  }

  @Test func `a UDP sum of zero means none over IPv4 and is wrong over IPv6`() throws {
    var bytes = Self.packet(Self.v4)
    (bytes[26], bytes[27]) = (0, 0)
    #expect(try Self.parse(bytes).get().payload.count == 21)
    bytes = Self.packet(Self.v6)
    (bytes[46], bytes[47]) = (0, 0)
    #expect(Self.parse(bytes) == .failure(.checksum))
  }

  @Test func `fragments are told from whole packets, and from those that forbid fragmentation`() {
    let whole = Self.packet(Self.v4)
    #expect(whole[6] == 0x40)
    #expect(Self.parse(Self.changed(whole, 6, to: 0)) != .failure(.fragment))
    #expect(Self.parse(Self.changed(whole, 6, to: 0x20)) == .failure(.fragment))
    #expect(Self.parse(Self.changed(whole, 7, to: 1)) == .failure(.fragment))
    var bytes = Self.packet(Self.v6)
    bytes[6] = 44
    #expect(Self.parse(bytes) == .failure(.fragment))
  }

  @Test func `other transports are named`() {
    let segment = [UInt8](repeating: 0, count: 20)
    #expect(Self.parse(Self.packet(Self.v4, payload: segment, transport: .tcp)) == .failure(.transport(6)))
    let names = [1, 2, 6, 58, 132].map { IPPacketDefect.transport($0).name }
    #expect(names == ["icmp", "igmp", "tcp", "icmpv6", "protocol-132"])
  }

  @Test func `IPv6 options before the transport are skipped`() throws {
    let plain = Self.packet(Self.v6)
    let options: [UInt8] = [17, 0, 1, 4, 0, 0, 0, 0]
    var bytes = Array(plain[..<40]) + options + Array(plain[40...])
    bytes[6] = 0
    bytes[5] += 8
    #expect(Array(bytes[try Self.parse(bytes).get().payload]) == Array(1...21))
    // A chain of options that leads out of the packet.
    bytes[41] = 200
    #expect(Self.parse(bytes) == .failure(.truncated))
  }

  @Test func `a version that is neither is refused`() {
    #expect(Self.parse([0x50] + Array(repeating: 0, count: 40)) == .failure(.unknownVersion))
    #expect(Self.parse([]) == .failure(.truncated))
  }
}

@Suite struct HostBridgeTests {
  private final class Outside: HostBridge {
    var received: [(bytes: [UInt8], header: PacketHeader)] = []
    func received(_ payload: RawSpan, _ header: PacketHeader) { received.append((payload.copied, header)) }
  }

  @Test func `a bridge gets what no socket of the host is for`() throws {
    let pair = try Pair()
    let outside = Outside()
    let host = try pair.simulator.host("a")
    pair.simulator.setBridge(outside, of: host)
    let address = pair.aEndpoint.address
    let other = try pair.simulator.bind(try pair.simulator.host("b"))
    pair.simulator.send([1], from: other, to: pair.aEndpoint)
    pair.simulator.send([2, 3], from: other, to: Endpoint(address, port: 9))
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(outside.received.map(\.bytes) == [[2, 3]])
    #expect(outside.received.first?.header.destination == Endpoint(address, port: 9))
  }

  @Test func `what comes from outside crosses the wire of the interface that has its address`() throws {
    let pair = try Pair(tx: LinkSettings(delay: .milliseconds(30)))
    let host = try pair.simulator.host("a")
    let outside = Outside()
    pair.simulator.setBridge(outside, of: try pair.simulator.host("b"))
    let destination = Endpoint(pair.bEndpoint.address, port: 7)
    let source = Endpoint(pair.aEndpoint.address, port: 5_000)
    let payload: [UInt8] = [4, 5]
    pair.simulator.inject(
      payload.span.bytes, PacketHeader(source: source, destination: destination, ecn: .ect0), from: host)
    pair.simulator.run(until: .zero + .milliseconds(29))
    #expect(outside.received.isEmpty)
    pair.simulator.run(until: .zero + .milliseconds(31))
    #expect(outside.received.map(\.bytes) == [[4, 5]])
    #expect(outside.received.first?.header == PacketHeader(source: source, destination: destination, ecn: .ect0))
  }

  @Test func `a source that no interface has goes nowhere`() throws {
    let pair = try Pair()
    let host = try pair.simulator.host("a")
    let foreign = Endpoint("203.0.113.77:1")!
    let payload: [UInt8] = [1]
    pair.simulator.inject(payload.span.bytes, PacketHeader(source: foreign, destination: pair.bEndpoint), from: host)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.simulator.packetsInFlight == 0)
  }
}
