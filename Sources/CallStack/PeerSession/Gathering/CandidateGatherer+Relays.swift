internal import CallCore
internal import ICE
internal import STUN
internal import TURN

// Relays: allocation, refresh, data, and release.
extension CandidateGatherer {
  final class Relay {
    var client: TURNClient
    let base: Endpoint
    let server: ICEServer
    var rank: Rank
    /// The relayed addresses of reported candidates.
    var relayed: [Endpoint] = []
    /// The time of the last allocation, and the number of further allocations to request when the server loses it.
    var allocatedAt: Instant?
    var reallocationsLeft = Relay.reallocations
    /// The connection that the driver holds, or will open with the first message.
    var stream: Path?
    var isDone = false
    /// The number of further local addresses to try.
    var movesLeft = Relay.moves
    /// The reason for which it waits for another socket.
    var socketNeed: SocketNeed?
    /// Whether it is being released because no gathering needs it.
    var isLeaving = false

    enum SocketNeed {
      /// Another relay uses the same path: a server identifies its clients by their source address.
      case taken
      /// The server holds an allocation of an earlier client at this port (437).
      case mismatch

      /// The error reported when no socket can be opened.
      var error: (code: Int, reason: String) {
        switch self {
        case .taken: (701, "no local port to ask from")
        case .mismatch: (437, "allocation mismatch")
        }
      }
    }

    static let moves = 3
    /// A limit, because a server that grants allocations and then forgets them would be asked forever.
    static let reallocations = 3
    /// The lifetime of an allocation after which the server counts as working again.
    static let proof = Interval.minutes(1)

    /// Whether gathering can finish: the server has answered, and no refresh is outstanding. After an ICE restart it
    /// may answer 437.
    var isSettled: Bool { isDone && !client.isRefreshing }

    init(client: consuming TURNClient, base: Endpoint, server: ICEServer, rank: Rank) {
      self.client = client
      self.base = base
      self.server = server
      self.rank = rank
    }
  }

  mutating func askRelay(_ server: ICEServer, _ base: Endpoint, _ rank: Rank, at now: Instant) {
    let known = relays.first { $0.base == base && $0.server == server && !$0.isLeaving }
    if let known {
      known.rank = rank
      known.reallocationsLeft = Relay.reallocations
      if let allocation = known.client.allocation {
        // A restart often follows the loss of an allocation in the server.
        report(allocation, known)
        known.client.renew(at: now)
      } else if !known.client.isActive, known.socketNeed == nil {
        // The last attempt failed, or the allocation was lost.
        begin(known, at: now)
      }
      return
    }
    relayCount += 1
    let client = TURNClient(
      configuration: TURNClient.Configuration(
        server: server.endpoint, transport: server.transport,
        credentials: TURNCredentials(username: server.username, password: server.credential),
        // Clients on IPv4 request an IPv4 relay. On IPv6 that alone would exclude peers that have only IPv6.
        family: base.address.isIPv6 ? .both : .ipv4, permissionRefresh: configuration.relayRefresh.permission,
        channelRefresh: configuration.relayRefresh.channel,
        unusedPermissionLifetime: configuration.relayRefresh.unusedPermission,
        retransmission: configuration.stunRetransmission),
      local: base, random: random.stream("turn/\(relayCount)"))
    let relay = Relay(client: client, base: base, server: server, rank: rank)
    relays.append(relay)
    begin(relay, at: now)
  }

  /// Requests an allocation, from a separate socket if another relay uses the same server under another name or with
  /// other credentials.
  private mutating func begin(_ relay: Relay, at now: Instant) {
    relay.isDone = false
    relay.movesLeft = Relay.moves
    let isTaken = relays.contains { $0 !== relay && $0.client.isActive && $0.client.path == relay.client.path }
    guard !isTaken else { return needSocket(relay, .taken) }
    do throws(TURNClient.Misuse) {
      try relay.client.allocate(at: now)
    } catch {
      preconditionFailure("a TURN client without an allocation refused to ask for one: \(error)")
    }
    trackStream(of: relay)
  }

  private mutating func needSocket(_ relay: Relay, _ need: Relay.SocketNeed) {
    relay.socketNeed = need
    events.append(.socketNeeded(relay.base))
  }

  /// Continues on another socket at the address of `base`, or fails if `socket` is nil.
  mutating func supply(_ socket: Endpoint?, for base: Endpoint, at now: Instant) {
    clock = now
    guard let relay = relays.first(where: { $0.base == base && $0.socketNeed != nil }), let need = relay.socketNeed
    else { return }
    relay.socketNeed = nil
    let former = relay.client.localAddress
    if let socket, (try? relay.client.allocate(from: socket, at: now)) != nil {
      if former != base, former != socket { events.append(.socketUnneeded(former)) }
      return trackStream(of: relay)
    }
    giveUp(relay, for: need)
    finishIfDone()
  }

  private mutating func giveUp(_ relay: Relay, for need: Relay.SocketNeed) {
    relay.isDone = true
    events.append(.serverError(relay.server, code: need.error.code, reason: need.error.reason))
  }

  /// Releases the candidates on sockets that no gathering needs, and then reports the sockets as unneeded.
  mutating func leave(_ sockets: [Endpoint], at now: Instant) {
    clock = now
    removeReflexives(on: sockets)
    for relay in relays where sockets.contains(relay.base) && !relay.isLeaving {
      relay.isLeaving = true
      relay.isDone = true
      relay.relayed = []
      relay.client.release(at: now)
    }
    leaving += sockets
    closeLeft()
    finishIfDone()
  }

  /// Reports sockets as unneeded once all relays on them are released.
  mutating func closeLeft() {
    guard !leaving.isEmpty else { return }
    for relay in relays where relay.isLeaving && !relay.client.isActive {
      trackStream(of: relay)
      if relay.client.localAddress != relay.base { events.append(.socketUnneeded(relay.client.localAddress)) }
    }
    relays.removeAll { $0.isLeaving && !$0.client.isActive }
    let left = leaving.filter { socket in !relays.contains { $0.base == socket } }
    for socket in left { events.append(.socketUnneeded(socket)) }
    leaving.removeAll { left.contains($0) }
  }

  // MARK: Relayed datagrams

  /// Creates a permission for the remote end of a path, as libwebrtc does for each pair that it forms: the peer's
  /// checks can then arrive before ours are sent.
  mutating func permit(_ path: Path, at now: Instant) {
    guard let relay = relays.first(where: { $0.relayed.contains(path.local) }) else { return }
    // An address of another family, or one that was refused before, gets no permission. Sending to it reports the
    // failure, and its pairs fail.
    try? relay.client.createPermission(for: path.remote.address, isKept: false, at: now)
  }

  /// Sends a datagram from a relayed address, when `path.local` is one.
  ///
  /// - Returns: whether `path.local` is a relayed address.
  mutating func sendThroughRelay(_ datagram: RawSpan, on path: Path, at now: Instant) -> Bool {
    guard let relay = relays.first(where: { $0.relayed.contains(path.local) }) else { return false }
    do throws(TURNClient.Misuse) {
      try relay.client.send(datagram, to: path.remote, bindsChannel: !isSTUN(datagram), at: now)
    } catch {
      // A payload that is too large or of another family is lost, as it would be on any path.
      if case .permissionRefused(let failure) = error {
        events.append(.peerRefused(base: path.local, peer: path.remote.address, port: nil, code: failure.code))
      }
    }
    return true
  }

  /// Returns the socket used with the server of a relayed address; nil when `base` is not a relayed address.
  func socket(ofRelay base: Endpoint) -> Endpoint? { relays.first { $0.relayed.contains(base) }?.base }

  /// Returns the transport to the server of a relayed address; nil when `base` is not a relayed address.
  func transport(ofRelay base: Endpoint) -> Path.Transport? {
    relays.first { $0.relayed.contains(base) }?.server.transport
  }

  /// Returns the host name that the server at the other end of a path must prove; nil when no relay uses the path.
  func host(at path: Path) -> String? {
    relay(on: path).map { $0.client.alternateDomain ?? $0.server.host ?? "\($0.server.endpoint.address)" }
  }

  /// Returns the relay whose client uses a path.
  func relay(on path: Path) -> Relay? {
    let here = path.unmarked
    return relays.first { $0.client.path == here && $0.client.allocation != nil }
      ?? relays.first { $0.client.path == here && $0.client.isActive } ?? relays.first { $0.client.path == here }
  }

  /// Returns the relay that a datagram from a server belongs to. A relay redirected to another server may use the same
  /// path as another relay until that server refuses it (437); there the transaction decides.
  func relay(of datagram: RawSpan, on path: Path) -> Relay? {
    let here = path.unmarked
    return relays.first { $0.client.path == here && $0.client.isAwaiting(datagram) } ?? relay(on: path)
  }

  /// Returns the range of a peer's payload in a datagram from a TURN server, and the path between relayed address and
  /// peer.
  func payload(of datagram: RawSpan, on path: Path, at now: Instant) -> (path: Path, range: Range<Int>)? {
    guard let relay = relay(on: path), let (peer, range) = relay.client.payload(of: datagram, on: path, at: now),
      let relayed = relay.client.allocation?.relayed(towards: peer.address)
    else { return nil }
    return (Path(local: relayed, remote: peer, ecn: path.ecn), range)
  }

  // MARK: Events

  mutating func report(_ allocation: TURNClient.Allocation, _ relay: Relay) {
    // The mapped address of a TCP connection, or of a port opened for the relay alone, does not receive datagrams for
    // us.
    let isReflexive = relay.client.localAddress == relay.base && allocation.mapped != relay.base
    if configuration.iceTransportPolicy == .all, relay.server.transport == .udp, isReflexive {
      events.append(
        .found(
          .serverReflexive(
            allocation.mapped, base: relay.base, server: allocation.server.address,
            localPreference: relay.rank.reflexivePreference),
          base: relay.base))
    }
    // With the relay policy, the mapped address stays private (RFC 8839 section 5.1).
    let isPrivate = configuration.iceTransportPolicy == .relay
    let hidden = Endpoint(allocation.mapped.address.isIPv6 ? .anyIPv6 : .anyIPv4, port: 9)
    for (place, relayed) in allocation.relayedAddresses.enumerated() {
      events.append(
        .found(
          .relay(
            relayed, mapped: isPrivate ? hidden : allocation.mapped, server: allocation.server.address,
            over: ICERelayTransport(relay.server.transport), localPreference: relay.rank.relayPreference(place)),
          base: relayed))
    }
  }

  mutating func collect(_ relay: Relay) {
    while let event = relay.client.nextEvent() {
      if relay.isLeaving { continue }
      switch event {
      case .allocated(let allocation):
        relay.isDone = true
        relay.movesLeft = Relay.moves
        relay.relayed = allocation.relayedAddresses
        relay.allocatedAt = clock
        events.append(.allocated(allocation))
        report(allocation, relay)
      case .failed(let failure):
        relay.isDone = true
        events.append(.serverError(relay.server, code: Int(failure.code), reason: "\(failure)"))
        let lost = relay.relayed
        for relayed in lost { events.append(.lost(base: relayed)) }
        relay.relayed = []
        if failure.code == 437, !lost.isEmpty { reallocate(relay) }
      case .newLocalAddressNeeded:
        // RFC 8656 section 7.4: stop after a few attempts. A connection used by no other relay already has a port of
        // its own.
        guard relay.movesLeft > 0, relay.server.transport == .udp || sharesStream(relay) else {
          giveUp(relay, for: .mismatch)
          continue
        }
        relay.movesLeft -= 1
        needSocket(relay, .mismatch)
      // W3C's `icecandidateerror` is for gathering only, so the application sees no error. The pairs fail, as in
      // libwebrtc.
      case .permissionFailed(let address, let failure): refuse(address, nil, failure, of: relay)
      case .channelFailed(let peer, let failure): refuse(peer.address, peer.port, failure, of: relay)
      case .permissionGranted, .channelBound, .data, .released: break
      }
    }
    trackStream(of: relay)
  }

  /// Requests another allocation from a server that has lost the first one (437), for example by a restart.
  mutating func reallocate(_ relay: Relay) {
    if let allocatedAt = relay.allocatedAt, clock - allocatedAt >= Relay.proof {
      relay.reallocationsLeft = Relay.reallocations
    }
    guard relay.reallocationsLeft > 0, (try? relay.client.allocate(at: clock)) != nil else { return }
    relay.reallocationsLeft -= 1
    relay.isDone = false
  }

  mutating func refuse(
    _ peer: IPAddress, _ port: UInt16?, _ failure: TURNClient.Failure, of relay: Relay
  ) {
    guard let base = relay.relayed.first(where: { $0.address.isIPv6 == peer.isIPv6 }) else { return }
    events.append(.peerRefused(base: base, peer: peer, port: port, code: failure.code))
  }

  private func sharesStream(_ relay: Relay) -> Bool {
    relay.stream != nil && relays.contains { $0 !== relay && $0.stream == relay.stream }
  }

  /// Updates the connection that a relay needs, and reports the previous one as unneeded.
  mutating func trackStream(of relay: Relay) {
    let path = relay.client.path
    let needed = path.transport != .udp && relay.client.isActive ? path : nil
    if let stream = relay.stream, stream != needed, !sharesStream(relay) { events.append(.streamUnneeded(stream)) }
    relay.stream = needed
  }
}
