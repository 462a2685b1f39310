internal import CallCore
internal import ICE
internal import STUN
internal import TURN

/// Gathers candidates from STUN and TURN servers, and keeps mappings and allocations alive.
///
/// It also carries relayed datagrams, so that callers need not distinguish a relayed address from a socket.
struct CandidateGatherer: ~Copyable {
  enum Event {
    case found(ICECandidate, base: Endpoint)
    /// A relay was lost, and its candidates can no longer be used.
    case lost(base: Endpoint)
    /// The interface of a relay is gone.
    case withdrawn(base: Endpoint)
    case serverError(ICEServer, code: Int, reason: String)
    /// A relay refused to send to a peer: to any port of the address when `port` is nil.
    case peerRefused(base: Endpoint, peer: IPAddress, port: UInt16?, code: UInt16)
    case allocated(TURNClient.Allocation)
    /// A connection to a TURN server is no longer needed.
    case streamUnneeded(Path)
    /// A TURN server must be asked from another port than this socket's.
    case socketNeeded(Endpoint)
    /// A socket is no longer used.
    case socketUnneeded(Endpoint)
    /// Every server has answered or timed out.
    case finished
  }

  /// The preference among candidates of one type: first by address, then by the order of the servers. Each candidate of
  /// an agent must have its own priority (RFC 8445 section 5.1.2).
  struct Rank {
    /// The local preference of the address.
    let address: UInt16
    /// The index of the server among those of its kind.
    let server: Int
    let servers: (stun: Int, turn: Int)
    let kind: ICEServer.Kind

    /// The local preference of a reflexive candidate; STUN servers come before TURN servers.
    var reflexivePreference: UInt16 {
      preference(kind == .stun ? server : servers.stun + server, of: servers.stun + servers.turn)
    }

    /// Returns the local preference of a relayed address; an allocation has at most two, one of each family.
    func relayPreference(_ place: Int) -> UInt16 { preference(2 * server + place, of: 2 * servers.turn) }

    private func preference(_ place: Int, of count: Int) -> UInt16 {
      UInt16(clamping: Int(UInt16.max) - Int(UInt16.max - address) * count - place)
    }
  }

  /// The binding of one socket at one STUN server, repeated to keep the mapping alive.
  private struct Reflexive {
    let server: ICEServer
    let base: Endpoint
    var rank: Rank
    var begunAt: Instant
    var transaction: (id: STUNTransactionID, timer: STUNTransactionTimer)?
    var mapped: Endpoint?
    var nextAt: Instant?
    var isDone = false

    /// Whether the server does not answer, and no request is pending or planned.
    var isSilent: Bool { isDone && transaction == nil && nextAt == nil }
  }

  var configuration: SessionConfiguration
  let random: RandomSource
  private var transactionIDs: RandomStream
  private var reflexives: [Reflexive] = []
  var relays: [Relay] = []
  var relayCount = 0
  /// Sockets that no gathering needs any more.
  var leaving: [Endpoint] = []
  private var outgoing = FIFO<(bytes: [UInt8], path: Path)>()
  var events = FIFO<Event>()
  private var isFinished = true
  /// The addresses on costly networks, for example cellular ones.
  var costlyAddresses: [IPAddress] = []
  /// The time for which a mapping on a costly network is kept alive, as in libwebrtc; on others it is kept as long as
  /// the socket.
  private static let costlyKeepaliveLifetime = Interval.minutes(2)
  /// The local preferences in use.
  private var preferences: [(socket: Endpoint, value: UInt16)] = []
  var clock = Instant.zero

  init(configuration: SessionConfiguration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
    transactionIDs = random.stream("stun-transactions")
  }

  // MARK: Gathering

  /// Gathers on these sockets. Candidates of an earlier gathering are reported again without new requests; servers that
  /// did not answer are asked once more.
  ///
  /// - Parameter asked: the sockets to gather on, if not all; the others only determine the ranks.
  mutating func gather(_ sockets: [Endpoint], asking asked: [Endpoint]? = nil, at now: Instant) {
    clock = now
    isFinished = false
    if asked == nil { preferences = [] }
    let wanted = ICEPriority.localPreferences(for: sockets.map(\.address))
    for (socket, wanted) in zip(sockets, wanted) where asked?.contains(socket) ?? true {
      // A later socket ranks below those already announced.
      var preference = wanted
      while preference > 0, preferences.contains(where: { $0.value == preference }) { preference -= 1 }
      preferences.append((socket, preference))
      if configuration.iceTransportPolicy == .all {
        events.append(.found(.host(socket, localPreference: preference), base: socket))
      }
      ask(from: socket, preference, at: now)
    }
    finishIfDone()
  }

  private mutating func ask(from socket: Endpoint, _ preference: UInt16, at now: Instant) {
    let stun = configuration.iceServers.filter { $0.kind == .stun }
    let turn = configuration.iceServers.filter { $0.kind == .turn }
    let isIPv6 = socket.address.isIPv6
    for server in configuration.iceServers where server.endpoint.address.isIPv6 == isIPv6 {
      // A STUN server returns the same address under each of its names.
      let isRepeated = server.kind == .stun && stun.first { $0.endpoint == server.endpoint } != server
      if isRepeated { continue }
      let place = (server.kind == .stun ? stun : turn).firstIndex(of: server) ?? 0
      let rank = Rank(address: preference, server: place, servers: (stun.count, turn.count), kind: server.kind)
      switch server.kind {
      case .stun where configuration.iceTransportPolicy == .all: askReflexive(server, socket, rank, at: now)
      case .stun: break
      case .turn where Defect.relayNotGatheredBesideReflexive.isPlanted && !reflexives.isEmpty: break
      case .turn: askRelay(server, socket, rank, at: now)
      }
    }
  }

  private mutating func askReflexive(_ server: ICEServer, _ base: Endpoint, _ rank: Rank, at now: Instant) {
    if let index = reflexives.firstIndex(where: { $0.base == base && $0.server.endpoint == server.endpoint }) {
      reflexives[index].rank = rank
      if reflexives[index].isSilent {
        reflexives[index].isDone = false
        reflexives[index].mapped = nil
        reflexives[index].begunAt = now
        sendBinding(index, at: now)
      } else if let mapped = reflexives[index].mapped {
        report(mapped, reflexives[index])
      }
      return
    }
    reflexives.append(Reflexive(server: server, base: base, rank: rank, begunAt: now))
    sendBinding(reflexives.count - 1, at: now)
  }

  /// Removes the candidates of sockets that are gone.
  mutating func remove(sockets: [Endpoint]) {
    removeReflexives(on: sockets)
    preferences.removeAll { sockets.contains($0.socket) }
    leaving.removeAll { sockets.contains($0) }
    for relay in relays where sockets.contains(relay.base) {
      for relayed in relay.relayed { events.append(.withdrawn(base: relayed)) }
      if let stream = relay.stream { events.append(.streamUnneeded(stream)) }
    }
    relays.removeAll { sockets.contains($0.base) }
    finishIfDone()
  }

  mutating func removeReflexives(on sockets: [Endpoint]) { reflexives.removeAll { sockets.contains($0.base) } }

  /// Releases relays and stops all other requests. The caller must drive the gatherer until the servers have confirmed
  /// (see ``isReleasing``): a request may be lost, or need a new nonce.
  mutating func close(at now: Instant) {
    reflexives = []
    for relay in relays { relay.client.release(at: now) }
  }

  var isReleasing: Bool { relays.contains { $0.client.isActive } }

  /// Leaves allocations that were not released to expire.
  mutating func abandon() { relays = [] }

  /// Reports that a connection to a server failed or ended, with the loss of its data.
  mutating func streamClosed(_ path: Path, reason: String?, at now: Instant) {
    clock = now
    for relay in relays where relay.client.path == path.unmarked {
      relay.client.connectionLost(reason: reason, at: now)
      collect(relay)
    }
    finishIfDone()
  }

  /// Returns the URL of the server that reported a server-reflexive or relayed address (W3C
  /// `RTCIceCandidateStats.url`).
  func url(ofServerBehind endpoint: Endpoint) -> String? {
    if let relay = relays.first(where: { $0.relayed.contains(endpoint) }) { return relay.server.url }
    if let reflexive = reflexives.first(where: { $0.mapped == endpoint }) { return reflexive.server.url }
    return relays.first { $0.server.transport == .udp && $0.client.allocation?.mapped == endpoint }?.server.url
  }

  // MARK: Input

  /// Takes a datagram if it is a response of one of the servers.
  ///
  /// - Returns: whether it is a response.
  mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) -> Bool {
    clock = now
    // STUN first: one address and port may be both a STUN and a TURN server, and the transaction tells them apart.
    if takeBindingResponse(datagram, on: path, at: now) {
      finishIfDone()
      return true
    }
    guard let relay = relay(of: datagram, on: path) else { return false }
    relay.client.receive(datagram, on: path, at: now)
    collect(relay)
    finishIfDone()
    return true
  }

  private mutating func takeBindingResponse(_ datagram: RawSpan, on path: Path, at now: Instant) -> Bool {
    guard path.transport == .udp,
      let index = reflexives.firstIndex(where: { $0.base == path.local && $0.server.endpoint == path.remote }),
      let message = try? STUNMessage(parsing: datagram), message.method == .binding,
      reflexives[index].transaction?.id == message.transactionID
    else { return false }
    switch message.messageClass {
    case .successResponse:
      if let mapped = message.reflexiveAddress { answered(index, mapped, at: now) }
    case .errorResponse:
      let error = message[.errorCode]
      events.append(.serverError(reflexives[index].server, code: Int(error?.code ?? 0), reason: error?.reason ?? ""))
      giveUp(index)
    case .request, .indication: return false
    }
    return true
  }

  private mutating func answered(_ index: Int, _ mapped: Endpoint, at now: Instant) {
    reflexives[index].transaction = nil
    reflexives[index].isDone = true
    let isKept =
      !costlyAddresses.contains(reflexives[index].base.address)
      || now - reflexives[index].begunAt < Self.costlyKeepaliveLifetime
    reflexives[index].nextAt = isKept ? now + configuration.stunKeepalive : nil
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
          mapped, base: reflexive.base, server: reflexive.server.endpoint.address,
          localPreference: reflexive.rank.reflexivePreference),
        base: reflexive.base))
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
    closeLeft()
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
    outgoing.append((request.bytes, Path(local: reflexives[index].base, remote: reflexives[index].server.endpoint)))
  }

  mutating func finishIfDone() {
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
    case .tls: self = .tls
    }
  }

  /// The W3C `relayProtocol`.
  var name: String { "\(self)" }
}
