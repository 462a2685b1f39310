package import CallCore

/// The type of a candidate (RFC 8445 section 5.1.1, RFC 8839 section 5.1). The raw value is the `typ` token.
package enum ICECandidateType: String, Hashable, Sendable, CaseIterable {
  case host
  case serverReflexive = "srflx"
  case peerReflexive = "prflx"
  case relay
}

/// A transport address of an agent, with the values by which the peer ranks it.
///
/// Its text is the SDP `candidate` attribute: see ``init(_:)`` and ``description``.
package struct ICECandidate: Hashable, Sendable {
  package enum Transport: Hashable, Sendable {
    case udp, tcp
    /// A token of another specification; such candidates are stored but not paired.
    case other(String)
  }

  /// The connection address: numeric, or a name that must be resolved first (mDNS).
  package enum Address: Hashable, Sendable {
    case ip(IPAddress)
    case name(String)
  }

  /// A name and value of an unknown extension, after the known part of the text.
  package struct Extension: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The foundation: equal for candidates of the same type, base address and server, which will likely work or fail
  /// together.
  package var foundation: String
  /// The component: 1 is RTP, or all traffic under rtcp-mux.
  package var component = 1
  package var transport = Transport.udp
  package var priority: UInt32
  package var address: Address
  package var port: UInt16
  package var type: ICECandidateType
  /// The address from which this one was derived, for diagnosis only (`raddr`).
  package var relatedAddress: Address?
  package var relatedPort: UInt16?
  package var tcpType: String?
  package var generation: Int?
  /// The user name fragment the candidate belongs to (RFC 8840 section 4.4.1).
  package var ufrag: String?
  package var networkID: Int?
  package var networkCost: Int?
  package var extensions: [Extension] = []
  /// Whether the peer signalled a name to hide this address (draft-ietf-mmusic-mdns-ice-candidates): third parties must
  /// not learn it.
  package private(set) var isConcealed = false

  package init(
    _ type: ICECandidateType, at endpoint: Endpoint, priority: UInt32, foundation: String, related: Endpoint? = nil
  ) {
    self.foundation = foundation
    self.priority = priority
    self.address = .ip(endpoint.address)
    self.port = endpoint.port
    self.type = type
    self.relatedAddress = related.map { .ip($0.address) }
    self.relatedPort = related?.port
  }

  init(
    foundation: String, component: Int, transport: Transport, priority: UInt32, address: Address, port: UInt16,
    type: ICECandidateType
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.port = port
    self.type = type
  }

  /// The transport address, or nil if the address is a name.
  package var endpoint: Endpoint? {
    guard case .ip(let address) = address else { return nil }
    return Endpoint(address, port: port)
  }

  /// Returns the candidate with its name replaced by the resolved address.
  package func resolved(to address: IPAddress) -> ICECandidate {
    var copy = self
    copy.address = .ip(address)
    copy.isConcealed = true
    return copy
  }
}

// MARK: Making local candidates

extension ICECandidate {
  /// Returns the host candidate of a UDP socket bound to `endpoint`.
  package static func host(_ endpoint: Endpoint, localPreference: UInt16 = .max) -> ICECandidate {
    ICECandidate(
      .host, at: endpoint, priority: ICEPriority.candidate(.host, localPreference: localPreference),
      foundation: ICEFoundation.make(.host, base: endpoint.address))
  }

  /// Returns a server-reflexive candidate: `endpoint` is the mapped address that `server` reported, `base` the socket
  /// of the request.
  package static func serverReflexive(
    _ endpoint: Endpoint, base: Endpoint, server: IPAddress, localPreference: UInt16 = .max
  ) -> ICECandidate {
    ICECandidate(
      .serverReflexive, at: endpoint,
      priority: ICEPriority.candidate(.serverReflexive, localPreference: localPreference),
      foundation: ICEFoundation.make(.serverReflexive, base: base.address, server: server), related: base)
  }

  /// Returns a relayed candidate: `endpoint` was allocated on `server`, which reported the client's address as
  /// `mapped`.
  ///
  /// - Parameter transport: the transport between client and server; it ranks equal relays.
  package static func relay(
    _ endpoint: Endpoint, mapped: Endpoint, server: IPAddress, over transport: ICERelayTransport = .udp,
    localPreference: UInt16 = .max
  ) -> ICECandidate {
    ICECandidate(
      .relay, at: endpoint,
      priority: ICEPriority.candidate(typePreference: transport.typePreference, localPreference: localPreference),
      foundation: ICEFoundation.make(.relay, base: endpoint.address, server: server, discriminator: transport.rawValue),
      related: mapped)
  }
}
