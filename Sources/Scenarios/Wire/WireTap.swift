internal import CallCore
internal import DTLS
internal import STUN
internal import SimNet

/// One RTP packet as a peer's interface carried it, bare or in TURN framing: what the network knows of it, whatever the
/// peer's stack says.
struct WireMedia {
  var peer: String
  /// `tx` when the peer sends it, `rx` when it has reached the peer.
  var direction: LinkDirection
  var transport = TransportProtocol.udp
  var ssrc: UInt32
  var sequence: UInt16 = 0
  var timestamp: UInt32 = 0
  /// The RTP packet's size, protected as it is.
  var byteCount: Int
  /// The first eight bytes of its payload; nil when it has fewer.
  var prefix: UInt64?
  /// Equal for the same packet wherever it is seen: networks and relays change what is around it only.
  var identity: UInt64 = 0
  var time: Instant
}

/// One Binding request or its success response (RFC 8489) at a peer's interface, bare or in TURN framing.
struct WireCheck {
  var peer: String
  var direction: LinkDirection
  var transport = TransportProtocol.udp
  var isRequest: Bool
  /// Whether it is in TURN framing.
  var isRelayed = false
  /// A hash of the transaction identifier.
  var transaction: UInt64
  var time: Instant
}

/// What a peer and a TURN server say of an allocation over UDP, at the peer's interface: a Refresh that leaves the peer,
/// or an answer that reaches it (RFC 8656 sections 7 and 8).
struct WireAllocation {
  enum Message: Hashable {
    case allocated
    /// A Refresh; one with lifetime zero gives the allocation back.
    case refresh(seconds: UInt32?)
    case refreshAnswered
  }

  var message: Message
  /// Where the peer has its end, and where the server.
  var client: Endpoint
  var server: Endpoint
  var transaction: UInt64
  var time: Instant
}

/// One packet as a peer's interface carried it.
struct WirePacket {
  var peer: String
  var direction: LinkDirection
  /// What UDP carries, or a TCP segment with its header.
  var byteCount: Int
  /// What it carries, out of TURN framing: one of UDP; of TCP the segment and every TURN message it completes.
  var identities: [UInt64]
}

/// Listens at every peer's interfaces, and tells what crosses them, in the order of the network.
///
/// Relayed packets are taken out of their framing: ChannelData, Send and Data indications, over UDP and over TCP, whose
/// segments it puts in order as the receiver would, and over TLS, which it reads with the servers' secrets. What was damaged on the way is not told when it arrives: the host
/// drops it.
final class WireTap: PacketTap {
  private let peers: [String]
  /// Sees everything as well, such as a capture.
  private let next: (any PacketTap)?
  private var owners: [InterfaceID: String] = [:]
  private(set) var streams: [StreamKey: WireStream] = [:]
  /// By the client's direction.
  private(set) var readers: [StreamKey: TLSReader] = [:]
  /// Connections that an end has finished, oldest first: what is sent again after that is still read.
  private var finished = FIFO<StreamKey>()
  private static let finishedLimit = 64
  /// What decrypts connections to TURN servers.
  let secrets: TLSSecrets
  private var mediaListeners: [(WireMedia) -> Void] = []
  private var packetListeners: [(WirePacket) -> Void] = []
  private var checkListeners: [(WireCheck) -> Void] = []
  private var allocationListeners: [(WireAllocation) -> Void] = []

  struct StreamKey: Hashable {
    let interface: InterfaceID
    let source: Endpoint
    let destination: Endpoint

    var reversed: StreamKey { StreamKey(interface: interface, source: destination, destination: source) }
  }

  init(peers: [String], secrets: TLSSecrets = TLSSecrets(), next: (any PacketTap)? = nil) {
    self.peers = peers
    self.secrets = secrets
    self.next = next
  }

  func listen(media listener: @escaping (WireMedia) -> Void) { mediaListeners.append(listener) }

  func listen(packets listener: @escaping (WirePacket) -> Void) { packetListeners.append(listener) }

  func listen(checks listener: @escaping (WireCheck) -> Void) { checkListeners.append(listener) }

  func listen(allocations listener: @escaping (WireAllocation) -> Void) { allocationListeners.append(listener) }

  /// Lets go of every listener: they hold what holds the tap.
  func close() {
    mediaListeners.removeAll()
    packetListeners.removeAll()
    checkListeners.removeAll()
    allocationListeners.removeAll()
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
    switch header.transport {
    case .udp: saw(payload, header, of: peer, direction, &identities, at: now)
    case .tcp:
      if !packetListeners.isEmpty { identities.append(PacketContent.identity(of: payload)) }
      let key = StreamKey(interface: interface, source: header.source, destination: header.destination)
      streams[key, default: WireStream()].receive(payload, reader: { reader(of: key, $0) }) { message in
        saw(message, header, of: peer, direction, &identities, at: now)
      }
      if header.flags.contains(.rst) { forget(key) } else if header.flags.contains(.fin) { finished.append(key) }
      if finished.count > Self.finishedLimit, let oldest = finished.popFirst() { forget(oldest) }
    }
    guard !packetListeners.isEmpty else { return }
    tell(WirePacket(peer: peer, direction: direction, byteCount: payload.byteCount, identities: identities))
  }

  private func forget(_ key: StreamKey) {
    for key in [key, key.reversed] {
      streams[key] = nil
      readers[key] = nil
    }
  }

  /// Reads the TLS connection that a stream is one direction of. The client speaks first.
  private func reader(of key: StreamKey, _ sender: TLSReader.Sender) -> TLSReader {
    if sender == .server, let known = readers[key.reversed] { return known }
    let reader = TLSReader(secrets: secrets)
    if sender == .client { readers[key] = reader }
    return reader
  }

  // MARK: Telling

  func tell(_ check: WireCheck) { for listener in checkListeners { listener(check) } }

  func tell(_ allocation: WireAllocation) { for listener in allocationListeners { listener(allocation) } }

  func tell(_ media: WireMedia) { for listener in mediaListeners { listener(media) } }

  func tell(_ packet: WirePacket) { for listener in packetListeners { listener(packet) } }

  /// A datagram, or a message on a connection to a TURN server.
  private func saw(
    _ message: RawSpan, _ header: PacketHeader, of peer: String, _ direction: LinkDirection,
    _ identities: inout [UInt64], at now: Instant
  ) {
    let transport = header.transport
    if !allocationListeners.isEmpty, let allocation = Self.allocation(message, header, direction, at: now) {
      tell(allocation)
    }
    let relayed = PacketContent.relayed(in: message)
    let content = message.extracting(relayed ?? 0..<message.byteCount)
    if !packetListeners.isEmpty { identities.append(PacketContent.identity(of: content)) }
    if !checkListeners.isEmpty, let type = content.bigEndian(UInt16.self, at: 0), type & ~0x0100 == 0x0001,
      content.byteCount >= 20
    {
      let transaction = PacketContent.identity(of: content.extracting(8..<20))
      tell(
        WireCheck(
          peer: peer, direction: direction, transport: transport, isRequest: type == 0x0001,
          isRelayed: relayed != nil, transaction: transaction, time: now))
    }
    guard !mediaListeners.isEmpty, let range = PacketContent.range(of: .rtp, in: message) else { return }
    let packet = message.extracting(range)
    guard let sequence = packet.bigEndian(UInt16.self, at: 2), let timestamp = packet.bigEndian(UInt32.self, at: 4),
      let ssrc = packet.bigEndian(UInt32.self, at: 8)
    else { return }
    tell(
      WireMedia(
        peer: peer, direction: direction, transport: transport, ssrc: ssrc, sequence: sequence, timestamp: timestamp,
        byteCount: packet.byteCount, prefix: Self.payloadPrefix(of: packet),
        identity: PacketContent.identity(of: packet),
        time: now))
  }

  // MARK: Reading

  private static func allocation(
    _ message: RawSpan, _ header: PacketHeader, _ direction: LinkDirection, at now: Instant
  ) -> WireAllocation? {
    guard header.transport == .udp, let type = message.bigEndian(UInt16.self, at: 0) else { return nil }
    // Most of what a relay's path carries is data.
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

  /// The first eight payload bytes of an RTP packet (RFC 3550 section 5.1).
  static func payloadPrefix(of packet: RawSpan) -> UInt64? {
    guard let first = packet.byte(at: 0) else { return nil }
    var offset = 12 + Int(first & 0x0F) * 4
    if first & 0x10 != 0 {
      guard let words = packet.bigEndian(UInt16.self, at: offset + 2) else { return nil }
      offset += 4 + Int(words) * 4
    }
    return packet.bigEndian(UInt64.self, at: offset)
  }
}
