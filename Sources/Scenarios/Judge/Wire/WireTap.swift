package import CallCore
package import SimNet

/// One RTP packet at a peer's interface, bare or in TURN framing, as the network sees it, independent of the peer's
/// stack.
package struct WireMedia {
  package var peer: String
  /// `tx` when the peer sends it, `rx` when it has reached the peer.
  package var direction: LinkDirection
  package var transport = TransportProtocol.udp
  /// The peer's own endpoint. No two connections share a socket.
  package var local: Endpoint?
  package var payloadType: UInt8 = 0
  package var ssrc: UInt32
  package var sequence: UInt16 = 0
  package var timestamp: UInt32 = 0
  /// The size of the RTP packet with its SRTP protection.
  package var byteCount: Int
  /// The size of its header with extensions.
  package var headerByteCount = 12
  /// The first eight bytes of its payload; nil when it has fewer.
  package var prefix: UInt64?
  /// The identity of the packet, equal wherever it is seen: networks and relays change only the framing around it.
  package var identity: UInt64 = 0
  package var time: Instant

  package init(
    peer: String, direction: LinkDirection, transport: TransportProtocol = .udp, payloadType: UInt8 = 0,
    ssrc: UInt32, sequence: UInt16 = 0, timestamp: UInt32 = 0, byteCount: Int, prefix: UInt64? = nil,
    identity: UInt64 = 0, time: Instant
  ) {
    self.peer = peer
    self.direction = direction
    self.transport = transport
    self.payloadType = payloadType
    self.ssrc = ssrc
    self.sequence = sequence
    self.timestamp = timestamp
    self.byteCount = byteCount
    self.prefix = prefix
    self.identity = identity
    self.time = time
  }
}

/// A certificate that was shown to a peer in a DTLS handshake.
package struct WireCertificate {
  package var peer: String
  /// The peer's own endpoint.
  package var local: Endpoint
  /// Its SHA-256 fingerprint, as in an `a=fingerprint` line (RFC 8122 section 5).
  package var fingerprint: String

  package init(peer: String, local: Endpoint, fingerprint: String) {
    (self.peer, self.local, self.fingerprint) = (peer, local, fingerprint)
  }
}

/// One Binding request or its success response (RFC 8489) at a peer's interface, bare or in TURN framing.
package struct WireCheck {
  package var peer: String
  package var direction: LinkDirection
  package var transport = TransportProtocol.udp
  package var isRequest: Bool
  /// Whether it is in TURN framing.
  package var isRelayed = false
  /// A hash of the transaction identifier.
  package var transaction: UInt64
  package var time: Instant

  package init(
    peer: String, direction: LinkDirection, transport: TransportProtocol = .udp, isRequest: Bool,
    isRelayed: Bool = false, transaction: UInt64, time: Instant
  ) {
    self.peer = peer
    self.direction = direction
    self.transport = transport
    self.isRequest = isRequest
    self.isRelayed = isRelayed
    self.transaction = transaction
    self.time = time
  }
}

/// A message between a peer and a TURN server about an allocation over UDP, at the peer's interface: a Refresh that
/// leaves the peer, or a response that reaches it (RFC 8656 sections 7 and 8).
package struct WireAllocation {
  package enum Message: Hashable {
    case allocated
    /// A Refresh; one with lifetime zero releases the allocation.
    case refresh(seconds: UInt32?)
    case refreshAnswered
  }

  package var message: Message
  /// The endpoints of the peer and of the server.
  package var client: Endpoint
  package var server: Endpoint
  package var transaction: UInt64
  package var time: Instant

  package init(
    message: Message, client: Endpoint, server: Endpoint, transaction: UInt64, time: Instant
  ) {
    self.message = message
    self.client = client
    self.server = server
    self.transaction = transaction
    self.time = time
  }
}

/// One packet at a peer's interface.
package struct WirePacket {
  package var peer: String
  package var direction: LinkDirection
  /// The size of the UDP payload, or of a TCP segment with its header.
  package var byteCount: Int
  /// The size of the RTCP packets in it, with their SRTP protection.
  package var controlByteCount = 0
  /// The identities of its contents without TURN framing: one for UDP; for TCP the segment and every TURN message that
  /// it completes.
  package var identities: [UInt64]

  package init(
    peer: String, direction: LinkDirection, byteCount: Int, identities: [UInt64]
  ) {
    self.peer = peer
    self.direction = direction
    self.byteCount = byteCount
    self.identities = identities
  }
}

/// Announces the packets at the peers' interfaces, in the order of the network. The reader of the interfaces reports
/// them.
package final class WireTap {
  private var mediaListeners: [(WireMedia) -> Void] = []
  private var packetListeners: [(WirePacket) -> Void] = []
  private var checkListeners: [(WireCheck) -> Void] = []
  private var allocationListeners: [(WireAllocation) -> Void] = []
  private var certificateListeners: [(WireCertificate) -> Void] = []

  package init() {}

  package func listen(media listener: @escaping (WireMedia) -> Void) { mediaListeners.append(listener) }

  package func listen(packets listener: @escaping (WirePacket) -> Void) { packetListeners.append(listener) }

  package func listen(checks listener: @escaping (WireCheck) -> Void) { checkListeners.append(listener) }

  package func listen(allocations listener: @escaping (WireAllocation) -> Void) { allocationListeners.append(listener) }

  package func listen(certificates listener: @escaping (WireCertificate) -> Void) {
    certificateListeners.append(listener)
  }

  /// Removes every listener: the listeners and the tap retain each other.
  package func close() {
    mediaListeners.removeAll()
    packetListeners.removeAll()
    checkListeners.removeAll()
    allocationListeners.removeAll()
    certificateListeners.removeAll()
  }

  // MARK: Telling

  // Packets without a listener need not be read.
  package var wantsMedia: Bool { !mediaListeners.isEmpty }
  package var wantsPackets: Bool { !packetListeners.isEmpty }
  package var wantsChecks: Bool { !checkListeners.isEmpty }
  package var wantsAllocations: Bool { !allocationListeners.isEmpty }
  package var wantsCertificates: Bool { !certificateListeners.isEmpty }

  package func tell(_ check: WireCheck) { for listener in checkListeners { listener(check) } }

  package func tell(_ allocation: WireAllocation) { for listener in allocationListeners { listener(allocation) } }

  package func tell(_ certificate: WireCertificate) { for listener in certificateListeners { listener(certificate) } }

  package func tell(_ media: WireMedia) { for listener in mediaListeners { listener(media) } }

  package func tell(_ packet: WirePacket) { for listener in packetListeners { listener(packet) } }
}
