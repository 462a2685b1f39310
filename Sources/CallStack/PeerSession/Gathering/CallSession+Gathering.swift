package import CallCore
internal import ICE
internal import SDP
internal import TURN

/// Local candidates: the sockets, and the candidates found on them.
extension CallSession {
  /// Sets the current sockets, one for each address. Candidates of removed sockets are withdrawn at once, and their
  /// pairs fail by their checks. New sockets are gathered on at once until a pair carries media, as in libwebrtc, and
  /// afterwards when ``SessionConfiguration/gathering`` is continual, or with the next ICE restart.
  package func setInterfaces(_ interfaces: [LocalInterface], at now: Instant) {
    guard enter(at: now) else { return }
    if Defect.restartReusesDeadSockets.isPlanted, hasStartedICE { return }
    let gone = self.interfaces.map(\.socket).filter { socket in !interfaces.contains { $0.socket == socket } }
    let added = interfaces.map(\.socket).filter { socket in !self.interfaces.contains { $0.socket == socket } }
    self.interfaces = interfaces
    let costly = interfaces.filter { ICENetworkType(rawValue: $0.networkType)?.isCostly ?? false }
    gatherer.costlyAddresses = costly.map(\.socket.address)
    for interface in interfaces { obfuscation.add(interface) }
    removeSockets(ofInterfaces: gone)
    if hasGathered, !added.isEmpty, configuration.gathering == .continually || !ice.hasUsedCurrentGeneration {
      gather(alsoOn: added)
    }
    gatherOnceOpen()
    settle()
  }

  private func removeSockets(ofInterfaces gone: [Endpoint]) {
    guard !gone.isEmpty else { return }
    var sockets = gone
    for index in gatherings.indices {
      sockets += gatherings[index].places.filter { gone.contains($0.interface) }.compactMap(\.socket)
      gatherings[index].places.removeAll { gone.contains($0.interface) }
    }
    gatherer.remove(sockets: sockets)
    for socket in sockets {
      ice.withdrawLocalCandidates(base: socket, at: now)
      forgetLocalCandidates(of: socket)
    }
  }

  private func gather(alsoOn added: [Endpoint]) {
    guard let last = gatherings.indices.last else { return }
    gatherings[last].places = interfaces.map { interface in
      gatherings[last].places.first { $0.interface == interface.socket }
        ?? Gathering.Place(interface: interface.socket, socket: interface.socket)
    }
    if gatherings[last].hasBegun, let sockets = gatherings[last].sockets {
      gatherer.gather(sockets, asking: added, at: now)
    }
  }

  /// Removes candidates that the peer has lost (``SessionEvent/iceCandidatesRemoved(_:)`` on its side): no new pair is
  /// formed with them. Existing pairs live or fail by their checks, as in libwebrtc.
  package func removeICECandidates(_ candidates: [String], at now: Instant) throws(SessionError) {
    guard enter(at: now) else { throw .invalidState("closed") }
    for text in candidates {
      guard let candidate = ICECandidate(text) else { throw .invalidCandidate("'\(text)' is no candidate") }
      ice.removeRemoteCandidate(candidate, at: self.now)
    }
    settle()
  }

  /// Answers ``SessionCommand/socketNeeded(_:)`` with the new socket's address, or nil when it could not be opened.
  package func supply(_ socket: Endpoint?, for base: Endpoint, at now: Instant) {
    guard enter(at: now) else { return }
    let last = gatherings.indices.last
    let place = last.flatMap { last in
      gatherings[last].places.firstIndex { $0.interface == base && $0.socket == nil }
    }
    if let last, let place {
      // Gathering on the old socket is better than having no candidate.
      gatherings[last].places[place].socket = socket ?? latestSocket(ofInterface: base)
      gatherOnceOpen()
    } else {
      gatherer.supply(socket, for: base, at: self.now)
    }
    settle()
  }

  /// Whether gathering for the current credentials has started.
  private var hasGathered: Bool {
    guard let last = gatherings.last, last.transport == transportNumber else { return false }
    return last.generation == ice.generation || Defect.restartGathersNothing.isPlanted
  }

  /// Gathers once for each generation of credentials, when a local description is set.
  func gatherIfNeeded() {
    guard !hasGathered else { return }
    setGatheringState(.gathering)
    var gathering = Gathering(transport: transportNumber, generation: ice.generation, places: [])
    for interface in interfaces.map(\.socket) {
      let known = latestSocket(ofInterface: interface)
      let isRenewed = known != nil && configuration.restartSockets == .new
      gathering.places.append(Gathering.Place(interface: interface, socket: isRenewed ? nil : known ?? interface))
      if isRenewed { events.append(.socketNeeded(interface)) }
    }
    gatherings.append(gathering)
    gatherOnceOpen()
  }

  /// Returns the socket of the last gathering on an interface; nil when there was none.
  private func latestSocket(ofInterface interface: Endpoint) -> Endpoint? {
    gatherings.reversed().lazy.flatMap(\.places).first { $0.interface == interface && $0.socket != nil }?.socket
  }

  private func gatherOnceOpen() {
    guard let last = gatherings.indices.last, !gatherings[last].hasBegun, let sockets = gatherings[last].sockets else {
      return
    }
    gatherings[last].hasBegun = true
    gatherer.gather(sockets, at: now)
  }

  /// Abandons the gathering for credentials that were rolled back.
  func cancelGathering() {
    while let last = gatherings.last, last.generation != ice.generation {
      gatherings.removeLast()
      leave(last)
    }
  }

  /// Releases the sockets of old credentials, with their NAT mappings and relays.
  func leaveOldSockets() {
    guard gatherings.count > 1 else { return }
    let old = gatherings.dropLast().filter { gathering in
      gathering.transport != transportNumber || !ice.holds(generation: gathering.generation)
    }
    for gathering in old {
      gatherings.removeAll { $0.transport == gathering.transport && $0.generation == gathering.generation }
      leave(gathering)
    }
  }

  private func leave(_ gathering: Gathering) {
    let needed = gatherings.flatMap(\.places).compactMap(\.socket)
    let left = gathering.places.compactMap(\.socket).filter { !needed.contains($0) }
    if !left.isEmpty { gatherer.leave(left, at: now) }
  }

  func handle(_ event: CandidateGatherer.Event) {
    switch event {
    case .found(let candidate, let base): add(candidate, base: base)
    case .lost(let base):
      ice.removeLocalCandidates(base: base, at: now)
      forgetLocalCandidates(of: base)
    case .withdrawn(let base):
      ice.withdrawLocalCandidates(base: base, at: now)
      forgetLocalCandidates(of: base)
    case .serverError(let server, let code, let reason):
      events.append(.iceServerError(server: server.endpoint, url: server.url, code: code, reason: reason))
    case .peerRefused(let base, let peer, let port, let code):
      ice.failPairs(base: base, to: peer, port: port, .relayRefused(code: code), at: now)
    case .allocated(let allocation):
      for relayed in allocation.relayedAddresses {
        events.append(.turnAllocated(server: allocation.server, relayed: relayed, lifetime: allocation.lifetime))
      }
    case .streamUnneeded(let path): events.append(.streamUnneeded(path))
    case .socketNeeded(let base): events.append(.socketNeeded(base))
    // The socket of an interface stays open: it identifies the interface.
    case .socketUnneeded(let socket) where interfaces.contains { $0.socket == socket }: break
    case .socketUnneeded(let socket): events.append(.socketUnneeded(socket))
    // Another interface may come up at any time.
    case .finished where configuration.gathering == .continually: break
    case .finished where iceGatheringState == .complete: break
    case .finished:
      ice.endOfLocalCandidates(at: now)
      try? jsep.endLocalCandidates()
      setGatheringState(.complete)
      tell(nil)
    }
  }

  /// Removes the candidates of this socket or relay from later descriptions.
  private func forgetLocalCandidates(of base: Endpoint) {
    let lost = localCandidates.filter { $0.endpoint == base || $0.relatedEndpoint == base }
    guard !lost.isEmpty else { return }
    localCandidates.removeAll { lost.contains($0) }
    if configuration.gathering == .continually {
      events.append(.iceCandidatesRemoved(lost.map { obfuscation.shown($0).description }))
    }
  }

  private func add(_ found: ICECandidate, base: Endpoint) {
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
    // After the end of candidates no candidate may be signalled (RFC 8838 section 13); the remote side learns it from
    // checks.
    guard iceGatheringState == .gathering else { return }
    guard !localCandidates.contains(where: { $0.endpoint == candidate.endpoint && $0.type == candidate.type }) else {
      return
    }
    localCandidates.append(candidate)
    obfuscation.add(candidate)
    let text = obfuscation.shown(candidate).description
    try? jsep.addLocalCandidate(text, defaultEndpoint: defaultEndpoint)
    tell(text)
  }

  /// The address of the default candidate (RFC 8445 section 5.1.4), the one most likely to work with a peer without
  /// ICE: relayed before reflexive before host, and as in libwebrtc IPv4 if there is any.
  var defaultEndpoint: Endpoint? {
    let known = localCandidates.compactMap { candidate in
      obfuscation.shown(candidate).endpoint.map { (endpoint: $0, type: candidate.type) }
    }
    let family = known.contains { !$0.endpoint.address.isIPv6 } ? known.filter { !$0.endpoint.address.isIPv6 } : known
    for type in [ICECandidateType.relay, .serverReflexive, .host] {
      if let best = family.first(where: { $0.type == type }) { return best.endpoint }
    }
    return nil
  }

  /// Returns the network of a socket. As in libwebrtc, each address of an interface is a network, and keeps its id when
  /// it comes back.
  private func network(of socket: Endpoint) -> ICENetwork {
    if !networks.contains(socket.address) { networks.append(socket.address) }
    let place = networks.firstIndex(of: socket.address) ?? 0
    let interface = interfaces.first { $0.socket.address == socket.address }
    return ICENetwork(
      id: UInt16(clamping: place + 1), type: interface.flatMap { ICENetworkType(rawValue: $0.networkType) } ?? .unknown)
  }

  /// Reports a candidate to trickle, with the section of its transport.
  private func tell(_ candidate: String?) {
    let index = jsep.localTransportIndex ?? 0
    let mid = jsep.localTransportIndex.flatMap { jsep.localDescription?.media[$0].mid } ?? "0"
    events.append(.iceCandidate(candidate, mid: mid, mLineIndex: index))
  }
}

extension ICECandidate {
  /// The related address and port: the base of a reflexive candidate.
  var relatedEndpoint: Endpoint? {
    guard case .ip(let address)? = relatedAddress, let port = relatedPort else { return nil }
    return Endpoint(address, port: port)
  }
}
