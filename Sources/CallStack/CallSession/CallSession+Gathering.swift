public import CallCore
internal import ICE
internal import SDP
internal import TURN

/// Local candidates: which sockets there are, and what is found on them.
extension CallSession {
  /// Says which sockets there are now. Candidates of those that are gone are withdrawn at once; new ones are gathered
  /// on at the next ICE restart, or at once when ``SessionConfiguration/gathering`` says so.
  public mutating func setInterfaces(_ interfaces: [LocalInterface], at now: Instant) {
    guard enter(at: now) else { return }
    if Defect.restartReusesDeadSockets.isPlanted, hasStartedICE { return }
    let gone = self.interfaces.map(\.socket).filter { socket in !interfaces.contains { $0.socket == socket } }
    let added = interfaces.map(\.socket).filter { socket in !self.interfaces.contains { $0.socket == socket } }
    self.interfaces = interfaces
    for interface in interfaces { concealment.add(interface) }
    gatherer.remove(sockets: gone)
    for socket in gone {
      ice.removeLocalCandidates(base: socket, at: self.now)
      forgetLocalCandidates(of: socket)
    }
    if configuration.gathering == .continually, hasGathered, !added.isEmpty {
      gatherer.gather(interfaces.map(\.socket), asking: added, at: self.now)
    }
    settle()
  }

  /// The peer has lost candidates that it told (``SessionEvent/iceCandidatesRemoved(_:)`` on its side): no new pair is
  /// formed with them. Pairs that there are go by their checks, as in libwebrtc.
  public mutating func removeICECandidates(_ candidates: [String], at now: Instant) throws(SessionError) {
    guard enter(at: now) else { throw .invalidState("closed") }
    for text in candidates {
      guard let candidate = ICECandidate(text) else { throw .invalidCandidate("'\(text)' is no candidate") }
      ice.removeRemoteCandidate(candidate, at: self.now)
    }
    settle()
  }

  /// Answers ``SessionEvent/socketNeeded(_:)`` with the new socket's address, or nil when none can be had.
  public mutating func supply(_ socket: Endpoint?, for base: Endpoint, at now: Instant) {
    guard enter(at: now) else { return }
    gatherer.supply(socket, for: base, at: self.now)
    settle()
  }

  /// Gathers once for each generation of credentials, when a local description is set.
  mutating func gatherIfNeeded() {
    guard !hasGathered else { return }
    hasGathered = true
    setGatheringState(.gathering)
    gatherer.gather(interfaces.map(\.socket), at: now)
  }

  mutating func handle(_ event: CandidateGatherer.Event) {
    switch event {
    case .found(let candidate, let base): add(candidate, base: base)
    case .lost(let base):
      ice.removeLocalCandidates(base: base, at: now)
      forgetLocalCandidates(of: base)
    case .serverError(let server, let code, let reason):
      events.append(.iceServerError(server: server, code: code, reason: reason))
    case .peerRefused(let base, let peer, let port, let code):
      ice.failPairs(base: base, to: peer, port: port, .relayRefused(code: code), at: now)
    case .allocated(let allocation):
      for relayed in allocation.relayedAddresses {
        events.append(.turnAllocated(server: allocation.server, relayed: relayed, lifetime: allocation.lifetime))
      }
    case .streamUnneeded(let path): events.append(.streamUnneeded(path))
    case .socketNeeded(let base): events.append(.socketNeeded(base))
    // There may always be another interface.
    case .finished where configuration.gathering == .continually: break
    case .finished:
      ice.endOfLocalCandidates(at: now)
      try? jsep.endLocalCandidates()
      setGatheringState(.complete)
      tell(nil)
    }
  }

  /// Later descriptions no longer name what came from this socket or relay.
  private mutating func forgetLocalCandidates(of base: Endpoint) {
    let lost = localCandidates.filter { $0.endpoint == base || $0.relatedEndpoint == base }
    guard !lost.isEmpty else { return }
    localCandidates.removeAll { lost.contains($0) }
    if configuration.gathering == .continually {
      events.append(.iceCandidatesRemoved(lost.map { concealment.shown($0).description }))
    }
  }

  private mutating func add(_ found: ICECandidate, base: Endpoint) {
    var candidate = found
    candidate.ufrag = ice.localCredentials.ufrag
    let network = network(of: gatherer.socket(ofRelay: base) ?? base)
    candidate.networkID = Int(network.id)
    candidate.networkCost = network.type.cost == 0 ? nil : Int(network.type.cost)
    do throws(ICEError) {
      try ice.addLocalCandidate(candidate, base: base, network: network, at: now)
    } catch {
      return
    }
    // After the end of candidates nobody is told of another (RFC 8838 section 13): checks show it to the far side.
    guard iceGatheringState == .gathering else { return }
    guard !localCandidates.contains(where: { $0.endpoint == candidate.endpoint && $0.type == candidate.type }) else {
      return
    }
    localCandidates.append(candidate)
    concealment.add(candidate)
    let text = concealment.shown(candidate).description
    try? jsep.addLocalCandidate(text, defaultEndpoint: defaultEndpoint)
    tell(text)
  }

  /// The default candidate (RFC 8445 section 5.1.4): the one most likely to work with a peer that does not speak ICE, relayed
  /// before reflexive before host, and as with libwebrtc IPv4 where there is any.
  var defaultEndpoint: Endpoint? {
    let known = localCandidates.compactMap { candidate in
      concealment.shown(candidate).endpoint.map { (endpoint: $0, type: candidate.type) }
    }
    let family = known.contains { !$0.endpoint.address.isIPv6 } ? known.filter { !$0.endpoint.address.isIPv6 } : known
    for type in [ICECandidateType.relay, .serverReflexive, .host] {
      if let best = family.first(where: { $0.type == type }) { return best.endpoint }
    }
    return nil
  }

  /// An interface has a network for each of its addresses, as in libwebrtc, and the same one when it comes back.
  private mutating func network(of socket: Endpoint) -> ICENetwork {
    if !networks.contains(socket.address) { networks.append(socket.address) }
    let place = networks.firstIndex(of: socket.address) ?? 0
    let interface = interfaces.first { $0.socket.address == socket.address }
    return ICENetwork(
      id: UInt16(clamping: place + 1), type: interface.flatMap { ICENetworkType(rawValue: $0.networkType) } ?? .unknown)
  }

  /// A candidate to trickle, under the section whose transport it is for.
  private mutating func tell(_ candidate: String?) {
    let index = jsep.localTransportIndex ?? 0
    let mid = jsep.localTransportIndex.flatMap { jsep.localDescription?.media[$0].mid } ?? "0"
    events.append(.iceCandidate(candidate, mid: mid, mLineIndex: index))
  }
}

extension ICECandidate {
  /// The base a reflexive candidate was derived from.
  var relatedEndpoint: Endpoint? {
    guard case .ip(let address)? = relatedAddress, let port = relatedPort else { return nil }
    return Endpoint(address, port: port)
  }
}
