internal import CallCore
internal import ICE
internal import STUN
internal import TURN

/// Finds candidates: asks STUN servers what they see and TURN servers for relays, and keeps both alive.
///
/// It also carries what goes through relays, so that nothing above knows the difference between a relayed address and a
/// socket.
struct CandidateGatherer: ~Copyable {
  enum Event {
    case found(ICECandidate, base: Endpoint)
    /// A relay was lost; its candidates are of no use any more.
    case lost(base: Endpoint)
    case serverError(Endpoint, code: Int, reason: String)
    /// A relay will not carry anything to a peer: to any port of the address when `port` is nil.
    case peerRefused(base: Endpoint, peer: IPAddress, port: UInt16?, code: UInt16)
    case allocated(TURNClient.Allocation)
    /// A connection to a TURN server has served its purpose.
    case streamUnneeded(Path)
    /// A TURN server wants to be asked from another port than this socket's.
    case socketNeeded(Endpoint)
    /// Every server has answered or given up.
    case finished
  }

  /// One question to one STUN server from one socket, repeated to keep the mapping alive.
  private struct Reflexive {
    let server: Endpoint
    let base: Endpoint
    var localPreference: UInt16
    var transaction: (id: STUNTransactionID, timer: STUNTransactionTimer)?
    var mapped: Endpoint?
    var nextAt: Instant?
    var isDone = false

    /// Whether the server gave no answer, or none any more, and is not being asked.
    var isSilent: Bool { isDone && transaction == nil && nextAt == nil }
  }

  private final class Relay {
    var client: TURNClient
    let base: Endpoint
    let server: ICEServer
    var localPreference: UInt16
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
    var awaitsSocket = false

    static let moves = 3
    /// A server that grants allocations and then knows nothing of them would be asked without end.
    static let reallocations = 3
    /// An allocation that lived so long says that the server is in order.
    static let proof = Interval.minutes(1)

    /// Whether nothing more comes of it now. What an ICE restart finds allocated may turn out to be forgotten.
    var isSettled: Bool { isDone && !client.isRefreshing }

    init(client: consuming TURNClient, base: Endpoint, server: ICEServer, localPreference: UInt16) {
      self.client = client
      self.base = base
      self.server = server
      self.localPreference = localPreference
    }
  }

  private let configuration: SessionConfiguration
  private let random: RandomSource
  private var transactionIDs: RandomStream
  private var reflexives: [Reflexive] = []
  private var relays: [Relay] = []
  private var relayCount = 0
  private var outgoing = FIFO<(bytes: [UInt8], path: Path)>()
  private var events = FIFO<Event>()
  private var isFinished = true
  private var clock = Instant.zero

  init(configuration: SessionConfiguration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
    transactionIDs = random.stream("stun-transactions")
  }

  // MARK: Gathering

  /// Gathers on these sockets. What an earlier gathering found there is reported again, without asking again; servers
  /// that did not answer then are asked once more.
  ///
  /// - Parameter asked: the sockets to gather on, when it is not all of them; the others are for their ranks.
  mutating func gather(_ sockets: [Endpoint], asking asked: [Endpoint]? = nil, at now: Instant) {
    clock = now
    isFinished = false
    let preferences = ICEPriority.localPreferences(for: sockets.map(\.address))
    for (socket, preference) in zip(sockets, preferences) where asked?.contains(socket) ?? true {
      if configuration.iceTransportPolicy == .all {
        events.append(.found(.host(socket, localPreference: preference), base: socket))
      }
      for server in configuration.iceServers where server.endpoint.address.isIPv6 == socket.address.isIPv6 {
        switch server.kind {
        case .stun where configuration.iceTransportPolicy == .all: askReflexive(server, socket, preference, at: now)
        case .stun: break
        case .turn where Defect.relayNotGatheredBesideReflexive.isPlanted && !reflexives.isEmpty: break
        case .turn: askRelay(server, socket, preference, at: now)
        }
      }
    }
    finishIfDone()
  }

  private mutating func askReflexive(_ server: ICEServer, _ base: Endpoint, _ preference: UInt16, at now: Instant) {
    if let index = reflexives.firstIndex(where: { $0.base == base && $0.server == server.endpoint }) {
      reflexives[index].localPreference = preference
      if reflexives[index].isSilent {
        reflexives[index].isDone = false
        sendBinding(index, at: now)
      } else if let mapped = reflexives[index].mapped {
        report(mapped, reflexives[index])
      }
      return
    }
    reflexives.append(Reflexive(server: server.endpoint, base: base, localPreference: preference))
    sendBinding(reflexives.count - 1, at: now)
  }

  private mutating func askRelay(_ server: ICEServer, _ base: Endpoint, _ preference: UInt16, at now: Instant) {
    let known = relays.first { relay in
      relay.base == base && relay.server.endpoint == server.endpoint && relay.server.transport == server.transport
    }
    if let known {
      known.localPreference = preference
      known.reallocationsLeft = Relay.reallocations
      if let allocation = known.client.allocation {
        // A restart often comes because the server forgot what it gave.
        report(allocation, known)
        known.client.renew(at: now)
      } else if (try? known.client.allocate(at: now)) != nil {
        // The last attempt failed, or the allocation was lost.
        known.isDone = false
        known.awaitsSocket = false
        known.movesLeft = Relay.moves
        trackStream(of: known)
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
    let relay = Relay(client: client, base: base, server: server, localPreference: preference)
    relays.append(relay)
    do throws(TURNClient.Misuse) {
      try relay.client.allocate(at: now)
    } catch {
      preconditionFailure("a new TURN client refused to allocate: \(error)")
    }
    trackStream(of: relay)
  }

  /// Asks on from another socket at the address of `base`; from none, when none could be had.
  mutating func supply(_ socket: Endpoint?, for base: Endpoint, at now: Instant) {
    clock = now
    guard let relay = relays.first(where: { $0.base == base && $0.awaitsSocket }) else { return }
    relay.awaitsSocket = false
    if let socket, (try? relay.client.allocate(from: socket, at: now)) != nil { return }
    refuse(relay)
    finishIfDone()
  }

  private mutating func refuse(_ relay: Relay) {
    relay.isDone = true
    events.append(.serverError(relay.server.endpoint, code: 437, reason: "allocation mismatch"))
  }

  /// Forgets what was found on sockets that are gone.
  mutating func remove(sockets: [Endpoint]) {
    reflexives.removeAll { sockets.contains($0.base) }
    for relay in relays where sockets.contains(relay.base) {
      for relayed in relay.relayed { events.append(.lost(base: relayed)) }
      if let stream = relay.stream { events.append(.streamUnneeded(stream)) }
    }
    relays.removeAll { sockets.contains($0.base) }
    finishIfDone()
  }

  /// Gives relays back and asks nothing any more. Whoever closes goes on driving the gatherer until the servers have
  /// agreed (see ``isReleasing``): a farewell may be lost, or meet a stale nonce.
  mutating func close(at now: Instant) {
    reflexives = []
    for relay in relays { relay.client.release(at: now) }
  }

  var isReleasing: Bool { relays.contains { $0.client.isActive } }

  /// Leaves what has not been given back to lapse by itself.
  mutating func abandon() { relays = [] }

  /// A connection to a server failed or ended, and with it what it carried.
  mutating func streamClosed(_ path: Path, at now: Instant) {
    clock = now
    guard let relay = relay(on: path) else { return }
    relay.client.connectionLost(at: now)
    collect(relay)
    finishIfDone()
  }

  // MARK: Relayed datagrams

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

  /// Which relay's client a path belongs to.
  private func relay(on path: Path) -> Relay? { relays.first { $0.client.path == path.unmarked } }

  /// Where in a datagram from a TURN server a peer's payload lies, and the path it came on.
  func payload(of datagram: RawSpan, on path: Path, at now: Instant) -> (path: Path, range: Range<Int>)? {
    guard let relay = relay(on: path), let (peer, range) = relay.client.payload(of: datagram, on: path, at: now),
      let relayed = relay.client.allocation?.relayed(towards: peer.address)
    else { return nil }
    return (Path(local: relayed, remote: peer, ecn: path.ecn), range)
  }

  // MARK: Input

  /// Takes a datagram, when it is an answer of one of the servers.
  ///
  /// - Returns: whether it was.
  mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) -> Bool {
    clock = now
    // First: one address and port may be both a STUN and a TURN server, and the transaction says whose answer it is.
    if takeBindingResponse(datagram, on: path, at: now) {
      finishIfDone()
      return true
    }
    guard let relay = relay(on: path) else { return false }
    relay.client.receive(datagram, on: path, at: now)
    collect(relay)
    finishIfDone()
    return true
  }

  private mutating func takeBindingResponse(_ datagram: RawSpan, on path: Path, at now: Instant) -> Bool {
    guard path.transport == .udp,
      let index = reflexives.firstIndex(where: { $0.base == path.local && $0.server == path.remote }),
      let message = try? STUNMessage(parsing: datagram), message.method == .binding,
      reflexives[index].transaction?.id == message.transactionID
    else { return false }
    switch message.messageClass {
    case .successResponse:
      if let mapped = message.reflexiveAddress { answered(index, mapped, at: now) }
    case .errorResponse:
      let error = message[.errorCode]
      events.append(.serverError(path.remote, code: Int(error?.code ?? 0), reason: error?.reason ?? ""))
      giveUp(index)
    case .request, .indication: return false
    }
    return true
  }

  private mutating func answered(_ index: Int, _ mapped: Endpoint, at now: Instant) {
    reflexives[index].transaction = nil
    reflexives[index].isDone = true
    reflexives[index].nextAt = now + configuration.stunKeepalive
    guard reflexives[index].mapped != mapped else { return }
    reflexives[index].mapped = mapped
    report(mapped, reflexives[index])
  }

  private mutating func giveUp(_ index: Int) {
    if Defect.unusedCandidateWithdrawn.isPlanted { events.append(.lost(base: reflexives[index].base)) }
    reflexives[index].transaction = nil
    reflexives[index].isDone = true
    reflexives[index].nextAt = nil
    reflexives[index].mapped = nil
  }

  private mutating func report(_ mapped: Endpoint, _ reflexive: Reflexive) {
    guard mapped != reflexive.base else { return }
    events.append(
      .found(
        .serverReflexive(
          mapped, base: reflexive.base, server: reflexive.server.address, localPreference: reflexive.localPreference),
        base: reflexive.base))
  }

  private mutating func report(_ allocation: TURNClient.Allocation, _ relay: Relay) {
    // What a server sees of a connection, or of a port taken for the relay alone, is no address of ours to be sent to.
    let isReflexive = relay.client.localAddress == relay.base && allocation.mapped != relay.base
    if configuration.iceTransportPolicy == .all, relay.server.transport == .udp, isReflexive {
      events.append(
        .found(
          .serverReflexive(
            allocation.mapped, base: relay.base, server: allocation.server.address,
            localPreference: relay.localPreference),
          base: relay.base))
    }
    // With relays only, the address behind them stays private (RFC 8839 section 5.1).
    let isPrivate = configuration.iceTransportPolicy == .relay
    let hidden = Endpoint(allocation.mapped.address.isIPv6 ? .anyIPv6 : .anyIPv4, port: 9)
    for relayed in allocation.relayedAddresses {
      events.append(
        .found(
          .relay(
            relayed, mapped: isPrivate ? hidden : allocation.mapped, server: allocation.server.address,
            over: ICERelayTransport(relay.server.transport), localPreference: relay.localPreference),
          base: relayed))
    }
  }

  // MARK: Time

  mutating func advance(to now: Instant) {
    clock = now
    for index in reflexives.indices {
      if let nextAt = reflexives[index].nextAt, nextAt <= now {
        reflexives[index].nextAt = nil
        sendBinding(index, at: now)
      }
      switch reflexives[index].transaction?.timer.advance(to: now) {
      case .retransmit: transmitBinding(index)
      case .timedOut:
        let server = reflexives[index].server
        if !reflexives[index].isDone { events.append(.serverError(server, code: 701, reason: "no answer")) }
        giveUp(index)
      case nil: break
      }
    }
    for relay in relays {
      relay.client.advance(to: now)
      collect(relay)
    }
    finishIfDone()
  }

  var wake: Wake {
    var earliest = Wake.never
    for reflexive in reflexives {
      if let deadline = reflexive.transaction?.timer.deadline {
        earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.gathering.rawValue))
      }
      if let nextAt = reflexive.nextAt {
        earliest = .earliest(earliest, .at(nextAt, reason: SessionWakeReason.gathering.rawValue))
      }
    }
    for relay in relays {
      if let deadline = relay.client.wake.deadline {
        earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.relay.rawValue))
      }
    }
    return earliest
  }

  // MARK: Output

  mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    if let (bytes, path) = outgoing.popFirst() {
      buffer.append(contentsOf: bytes.span.bytes)
      return path
    }
    for relay in relays {
      if let path = relay.client.transmit(into: &buffer) { return path }
    }
    return nil
  }

  mutating func nextEvent() -> Event? {
    for relay in relays { collect(relay) }
    return events.popFirst()
  }

  private mutating func sendBinding(_ index: Int, at now: Instant) {
    let id = STUNTransactionID(from: &transactionIDs)
    reflexives[index].transaction = (id, STUNTransactionTimer(sentAt: now, policy: configuration.stunRetransmission))
    transmitBinding(index)
  }

  private mutating func transmitBinding(_ index: Int) {
    guard let id = reflexives[index].transaction?.id else { return }
    var request = STUNMessageBuilder(.request, .binding, id)
    request.appendFingerprint()
    outgoing.append((request.bytes, Path(local: reflexives[index].base, remote: reflexives[index].server)))
  }

  private mutating func collect(_ relay: Relay) {
    while let event = relay.client.nextEvent() {
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
        events.append(.serverError(relay.server.endpoint, code: Int(failure.code), reason: "\(failure)"))
        let lost = relay.relayed
        for relayed in lost { events.append(.lost(base: relayed)) }
        relay.relayed = []
        if failure.code == 437, !lost.isEmpty { reallocate(relay) }
      case .newLocalAddressNeeded:
        // RFC 8656 section 7.4 gives up some time. A connection has had a port of its own from the start.
        guard relay.movesLeft > 0, relay.server.transport == .udp else {
          refuse(relay)
          continue
        }
        relay.movesLeft -= 1
        relay.awaitsSocket = true
        events.append(.socketNeeded(relay.base))
      // No error of the server's to the application: W3C's is for gathering. The pairs are of no use, as in libwebrtc.
      case .permissionFailed(let address, let failure): refuse(address, nil, failure, of: relay)
      case .channelFailed(let peer, let failure): refuse(peer.address, peer.port, failure, of: relay)
      case .permissionGranted, .channelBound, .data, .released: break
      }
    }
    trackStream(of: relay)
  }

  /// 437: a server that restarted knows the allocation no more, and gives another.
  private mutating func reallocate(_ relay: Relay) {
    if let allocatedAt = relay.allocatedAt, clock - allocatedAt >= Relay.proof {
      relay.reallocationsLeft = Relay.reallocations
    }
    guard relay.reallocationsLeft > 0, (try? relay.client.allocate(at: clock)) != nil else { return }
    relay.reallocationsLeft -= 1
    relay.isDone = false
  }

  private mutating func refuse(
    _ peer: IPAddress, _ port: UInt16?, _ failure: TURNClient.Failure, of relay: Relay
  ) {
    guard let base = relay.relayed.first(where: { $0.address.isIPv6 == peer.isIPv6 }) else { return }
    events.append(.peerRefused(base: base, peer: peer, port: port, code: failure.code))
  }

  /// Notes which connection a relay needs now, and reports the one that it no longer does.
  private mutating func trackStream(of relay: Relay) {
    let path = relay.client.path
    let needed = path.transport != .udp && relay.client.isActive ? path : nil
    if let stream = relay.stream, stream != needed { events.append(.streamUnneeded(stream)) }
    relay.stream = needed
  }

  private mutating func finishIfDone() {
    guard !isFinished, reflexives.allSatisfy(\.isDone), relays.allSatisfy(\.isSettled) else { return }
    isFinished = true
    events.append(.finished)
  }
}

extension ICERelayTransport {
  init(_ transport: Path.Transport) {
    switch transport {
    case .udp: self = .udp
    case .tcp: self = .tcp
    }
  }

  /// The W3C `relayProtocol`.
  var name: String { "\(self)" }
}
