internal import CallCore
internal import DTLS
internal import STUN
internal import ScenarioJudge
internal import SimNet

/// Reads the packets at every peer's interfaces and reports them to the tap.
///
/// It removes the TURN framing of relayed packets: ChannelData, Send and Data indications, over UDP, over TCP (whose
/// segments it reorders as the receiver would) and over TLS, which it decrypts with the servers' secrets. A packet that
/// was damaged is not reported at its arrival: the host drops it.
package final class WireReader: PacketTap {
  private let tap: WireTap
  private let peers: [String]
  /// Receives all packets too, such as a capture.
  private let next: (any PacketTap)?
  private var owners: [InterfaceID: String] = [:]
  private(set) var streams: [StreamKey: WireStream] = [:]
  /// The readers of TLS connections, by the client's direction.
  private(set) var readers: [StreamKey: TLSReader] = [:]
  /// The handshakes at each endpoint of a peer.
  private var handshakes: [LocalEnd: HandshakeReader] = [:]
  /// Connections that an end has finished, oldest first: retransmissions on them are still read.
  private var finished = FIFO<StreamKey>()
  private static let finishedLimit = 64
  /// The secrets that decrypt connections to TURN servers.
  let secrets: TLSSecrets

  struct StreamKey: Hashable {
    let interface: InterfaceID
    let source: Endpoint
    let destination: Endpoint

    var reversed: StreamKey { StreamKey(interface: interface, source: destination, destination: source) }
  }

  private struct LocalEnd: Hashable {
    let peer: String
    let endpoint: Endpoint
  }

  init(_ tap: WireTap, peers: [String], secrets: TLSSecrets = TLSSecrets(), next: (any PacketTap)? = nil) {
    self.tap = tap
    self.peers = peers
    self.secrets = secrets
    self.next = next
  }

  // MARK: PacketTap

  func added(_ interface: InterfaceID, name: String) {
    next?.added(interface, name: name)
    // An interface is named after its host: `alice wifi`.
    let host = String(name.prefix { $0 != " " })
    if peers.contains(host) { owners[interface] = host }
  }

  func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection,
    isDamaged: Bool, at now: Instant
  ) {
    next?.observed(payload, header, on: interface, direction, isDamaged: isDamaged, at: now)
    guard let peer = owners[interface], !(isDamaged && direction == .rx) else { return }
    var identities: [UInt64] = []
    var control = 0
    switch header.transport {
    // A forged packet is nothing that an end of the call has sent: a stack that takes it takes what never arrived.
    case .udp where header.source == PacketForgery.source(isIPv6: header.source.address.isIPv6): break
    case .udp: saw(payload, header, of: peer, direction, &identities, &control, at: now)
    case .tcp:
      if tap.wantsPackets { identities.append(PacketContent.identity(of: payload)) }
      let key = StreamKey(interface: interface, source: header.source, destination: header.destination)
      streams[key, default: WireStream()].receive(payload, reader: { reader(of: key, $0) }) { message in
        saw(message, header, of: peer, direction, &identities, &control, at: now)
      }
      if header.flags.contains(.rst) { forget(key) } else if header.flags.contains(.fin) { finished.append(key) }
      if finished.count > Self.finishedLimit, let oldest = finished.popFirst() { forget(oldest) }
    }
    guard tap.wantsPackets else { return }
    var packet = WirePacket(peer: peer, direction: direction, byteCount: payload.byteCount, identities: identities)
    packet.controlByteCount = control
    tap.tell(packet)
  }

  private func forget(_ key: StreamKey) {
    for key in [key, key.reversed] {
      streams[key] = nil
      readers[key] = nil
    }
  }

  /// Returns the reader of the TLS connection of which a stream is one direction. The client speaks first.
  private func reader(of key: StreamKey, _ sender: TLSReader.Sender) -> TLSReader {
    if sender == .server, let known = readers[key.reversed] { return known }
    let reader = TLSReader(secrets: secrets)
    if sender == .client { readers[key] = reader }
    return reader
  }

  /// Reads a datagram, or a message on a connection to a TURN server.
  private func saw(
    _ message: RawSpan, _ header: PacketHeader, of peer: String, _ direction: LinkDirection,
    _ identities: inout [UInt64], _ control: inout Int, at now: Instant
  ) {
    let transport = header.transport
    if tap.wantsAllocations, let allocation = Self.allocation(message, header, direction, at: now) {
      tap.tell(allocation)
    }
    let relayed = PacketContent.relayed(in: message)
    let content = message.extracting(relayed ?? 0..<message.byteCount)
    if tap.wantsPackets {
      identities.append(PacketContent.identity(of: content))
      control += PacketContent.range(of: .rtcp, in: message)?.count ?? 0
    }
    if tap.wantsChecks, let type = content.bigEndian(UInt16.self, at: 0), type & ~0x0100 == 0x0001,
      content.byteCount >= 20
    {
      let transaction = PacketContent.identity(of: content.extracting(8..<20))
      tap.tell(
        WireCheck(
          peer: peer, direction: direction, transport: transport, isRequest: type == 0x0001,
          isRelayed: relayed != nil, transaction: transaction, time: now))
    }
    let local = direction == .tx ? header.source : header.destination
    if tap.wantsCertificates, direction == .rx, let range = PacketContent.range(of: .dtls, in: message),
      let fingerprint = handshakes[LocalEnd(peer: peer, endpoint: local), default: HandshakeReader()]
        .fingerprint(completedBy: message.extracting(range))
    {
      tap.tell(WireCertificate(peer: peer, local: local, fingerprint: fingerprint))
    }
    guard tap.wantsMedia, let range = PacketContent.range(of: .rtp, in: message) else { return }
    let packet = message.extracting(range)
    guard let payloadType = packet.byte(at: 1), let sequence = packet.bigEndian(UInt16.self, at: 2),
      let timestamp = packet.bigEndian(UInt32.self, at: 4),
      let ssrc = packet.bigEndian(UInt32.self, at: 8)
    else { return }
    let size = Self.headerSize(of: packet)
    var media = WireMedia(
      peer: peer, direction: direction, transport: transport, payloadType: payloadType & 0x7F, ssrc: ssrc,
      sequence: sequence, timestamp: timestamp, byteCount: packet.byteCount,
      prefix: size.flatMap { packet.bigEndian(UInt64.self, at: $0) }, identity: PacketContent.identity(of: packet),
      time: now)
    if let size { media.headerByteCount = size }
    media.local = local
    tap.tell(media)
  }

  // MARK: Reading

  private static func allocation(
    _ message: RawSpan, _ header: PacketHeader, _ direction: LinkDirection, at now: Instant
  ) -> WireAllocation? {
    guard header.transport == .udp, let type = message.bigEndian(UInt16.self, at: 0) else { return nil }
    // Most packets on a path to a relay are data.
    let isSent = direction == .tx
    guard isSent ? type == 0x0004 : [0x0103, 0x0104, 0x0114].contains(type),
      let parsed = try? STUNMessage(parsing: message)
    else { return nil }
    let (client, server) = isSent ? (header.source, header.destination) : (header.destination, header.source)
    let content: WireAllocation.Message =
      switch parsed.method {
      case .allocate: .allocated
      default: isSent ? .refresh(seconds: parsed[.lifetime]) : .refreshAnswered
      }
    return WireAllocation(
      message: content, client: client, server: server,
      transaction: PacketContent.identity(of: message.extracting(8..<20)), time: now
    )
  }

  /// Returns the size of the header of an RTP packet with its extensions (RFC 3550 section 5.1); nil if it is cut off.
  private static func headerSize(of packet: RawSpan) -> Int? {
    guard let first = packet.byte(at: 0) else { return nil }
    let size = 12 + Int(first & 0x0F) * 4
    guard first & 0x10 != 0 else { return size }
    return packet.bigEndian(UInt16.self, at: size + 2).map { size + 4 + Int($0) * 4 }
  }
}
