internal import CallCore
internal import ICE
internal import STUN
internal import TURN

// Relays: asking for them, keeping them, carrying what goes through them, and giving them back.
extension CandidateGatherer {
  final class Relay {
    var client: TURNClient
    let base: Endpoint
    let server: ICEServer
    var rank: Rank
    /// What candidates were told of.
    var relayed: [Endpoint] = []
    /// When the server last gave a relay, and how often another may be asked for when it then knows it no more.
    var allocatedAt: Instant?
    var reallocationsLeft = Relay.reallocations
    /// The connection that the driver holds, or will when it sees the first message.
    var stream: Path?
    var isDone = false
    /// Other local addresses that may still be tried.
    var movesLeft = Relay.moves
    /// Why it waits for another socket.
    var socketNeed: SocketNeed?
    /// No gathering needs it any more: it is being given back.
    var isLeaving = false

    enum SocketNeed {
      /// Another relay is asked for on the same path: a server knows its clients by where they ask from.
      case taken
      /// The server holds an allocation of somebody who had this port before (437).
      case mismatch

      /// What is reported when there is none.
      var error: (code: Int, reason: String) {
        switch self {
        case .taken: (701, "no local port to ask from")
        case .mismatch: (437, "allocation mismatch")
        }
      }
    }

    static let moves = 3
    /// A server that grants allocations and then knows nothing of them would be asked without end.
    static let reallocations = 3
    /// An allocation that lived so long says that the server is in order.
    static let proof = Interval.minutes(1)

    /// Whether nothing more comes of it now. What an ICE restart finds allocated may turn out to be forgotten.
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
        // A restart often comes because the server forgot what it gave.
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
        // Over IPv4 everybody asks for an IPv4 relay. Over IPv6 that alone would leave out peers that have IPv6 only.
        family: base.address.isIPv6 ? .both : .ipv4, permissionRefresh: configuration.relayRefresh.permission,
        channelRefresh: configuration.relayRefresh.channel,
        unusedPermissionLifetime: configuration.relayRefresh.unusedPermission,
        retransmission: configuration.stunRetransmission),
      local: base, random: random.stream("turn/\(relayCount)"))
    let relay = Relay(client: client, base: base, server: server, rank: rank)
    relays.append(relay)
    begin(relay, at: now)
  }

  /// Asks for an allocation, from a socket of its own when another name or other credentials are asked at the same place.
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

  /// Asks on from another socket at the address of `base`; from none, when none could be had.
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

  /// Gives back what was found on sockets that no gathering needs any more, and then reports them as unneeded.
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

  /// A socket is needed for as long as a relay on it is being given back.
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

  /// Asks the server of a relayed address to let the far end of a path through, as libwebrtc does for each pair that it
  /// forms: checks of the peer arrive then before ours has its turn.
  mutating func permit(_ path: Path, at now: Instant) {
    guard let relay = relays.first(where: { $0.relayed.contains(path.local) }) else { return }
    // An address of another family, or one that was refused before, is not let through. What is sent there says so, and
    // its pairs fail.
    try? relay.client.createPermission(for: path.remote.address, isKept: false, at: now)
  }

  /// Sends a datagram from a relayed address, when `path.local` is one.
  ///
  /// - Returns: whether it was.
  mutating func sendThroughRelay(_ datagram: RawSpan, on path: Path, at now: Instant) -> Bool {
    guard let relay = relays.first(where: { $0.relayed.contains(path.local) }) else { return false }
    do throws(TURNClient.Misuse) {
      try relay.client.send(datagram, to: path.remote, bindsChannel: !isSTUN(datagram), at: now)
    } catch {
      // A payload that does not fit or has another family is lost, as it would be on any path.
      if case .permissionRefused(let failure) = error {
        events.append(.peerRefused(base: path.local, peer: path.remote.address, port: nil, code: failure.code))
      }
    }
    return true
  }

  /// Which socket talks to the server of a relayed address; nil when `base` is no such address.
  func socket(ofRelay base: Endpoint) -> Endpoint? { relays.first { $0.relayed.contains(base) }?.base }

  /// How the server of a relayed address is reached; nil when `base` is no such address.
  func transport(ofRelay base: Endpoint) -> Path.Transport? {
    relays.first { $0.relayed.contains(base) }?.server.transport
  }

  /// The host that the server at the other end of a path must prove to be; nil when no relay is asked on it.
  func host(at path: Path) -> String? {
    relay(on: path).map { $0.client.alternateDomain ?? $0.server.host ?? "\($0.server.endpoint.address)" }
  }

  /// Which relay's client a path belongs to.
  func relay(on path: Path) -> Relay? {
    let here = path.unmarked
    return relays.first { $0.client.path == here && $0.client.allocation != nil }
      ?? relays.first { $0.client.path == here && $0.client.isActive } ?? relays.first { $0.client.path == here }
  }

  /// Whose a datagram from a server is. Who was sent on to another server may ask where another relay of ours is asked
  /// for already, until that server refuses it (437); there the transaction says whose answer it is.
  func relay(of datagram: RawSpan, on path: Path) -> Relay? {
    let here = path.unmarked
    return relays.first { $0.client.path == here && $0.client.isAwaiting(datagram) } ?? relay(on: path)
  }

  /// Where in a datagram from a TURN server a peer's payload lies, and the path it came on.
  func payload(of datagram: RawSpan, on path: Path, at now: Instant) -> (path: Path, range: Range<Int>)? {
    guard let relay = relay(on: path), let (peer, range) = relay.client.payload(of: datagram, on: path, at: now),
      let relayed = relay.client.allocation?.relayed(towards: peer.address)
    else { return nil }
    return (Path(local: relayed, remote: peer, ecn: path.ecn), range)
  }

  // MARK: Events

  mutating func report(_ allocation: TURNClient.Allocation, _ relay: Relay) {
    // What a server sees of a connection, or of a port taken for the relay alone, is no address of ours to be sent to.
    let isReflexive = relay.client.localAddress == relay.base && allocation.mapped != relay.base
    if configuration.iceTransportPolicy == .all, relay.server.transport == .udp, isReflexive {
      events.append(
        .found(
          .serverReflexive(
            allocation.mapped, base: relay.base, server: allocation.server.address,
            localPreference: relay.rank.reflexivePreference),
          base: relay.base))
    }
    // With relays only, the address behind them stays private (RFC 8839 section 5.1).
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
        // RFC 8656 section 7.4 gives up some time. A connection that is no other relay's has a port of its own.
        guard relay.movesLeft > 0, relay.server.transport == .udp || sharesStream(relay) else {
          giveUp(relay, for: .mismatch)
          continue
        }
        relay.movesLeft -= 1
        needSocket(relay, .mismatch)
      // No error of the server's to the application: W3C's is for gathering. The pairs are of no use, as in libwebrtc.
      case .permissionFailed(let address, let failure): refuse(address, nil, failure, of: relay)
      case .channelFailed(let peer, let failure): refuse(peer.address, peer.port, failure, of: relay)
      case .permissionGranted, .channelBound, .data, .released: break
      }
    }
    trackStream(of: relay)
  }

  /// 437: a server that restarted knows the allocation no more, and gives another.
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

  /// Notes which connection a relay needs now, and reports the one that it no longer does.
  mutating func trackStream(of relay: Relay) {
    let path = relay.client.path
    let needed = path.transport != .udp && relay.client.isActive ? path : nil
    if let stream = relay.stream, stream != needed, !sharesStream(relay) { events.append(.streamUnneeded(stream)) }
    relay.stream = needed
  }
}
