package import CallCore
package import SRTP

/// A DTLS 1.2 association that keys SRTP (RFC 5763, RFC 5764) and carries SCTP (RFC 8261), sans-IO over libssl.
///
/// The owner announces ``Certificate/fingerprint(_:)``, binds the transport to the path that ICE selected and starts it
/// once the remote description is known, in either order. Up to two earlier datagrams are kept.
///
/// Unauthenticated datagrams are accepted only from endpoints that the owner has admitted: an attacker who guesses the
/// port cannot start or disturb a handshake.
package struct DTLSTransport: ~Copyable, SansIO {
  package struct Configuration: Sendable {
    /// The SRTP profiles to offer or accept, best first. The default is libwebrtc's order: the profile that every
    /// endpoint has comes first, and is six bytes per packet shorter.
    package var profiles: [SRTPProfile] = [.aes128CMHMACSHA1_80, .aeadAES256GCM, .aeadAES128GCM]
    /// The maximum size of a datagram in bytes; clamped to 256...1500.
    package var maximumDatagramSize = 1_200
    /// The time limit of the handshake, or nil for libssl's limit of 12 retransmissions.
    package var handshakeTimeout: Interval?
    /// Whether the transport emits ``Event/keyLog(_:)``.
    package var logsKeys = false

    package init() {}
  }

  package enum Event: Hashable, Sendable {
    case stateChanged(DTLSTransportState)
    /// A line for an NSS key log file, with which Wireshark decrypts the association.
    case keyLog(String)
  }

  /// The reasons in this machine's ``Wake``.
  package enum WakeReason: UInt8, Sendable { case retransmission = 1, handshakeTimeout }

  package let certificate: Certificate
  package let configuration: Configuration
  package private(set) var state = DTLSTransportState.new
  /// The reason of ``DTLSTransportState/failed``.
  package private(set) var failure: DTLSFailure?
  /// The result of the handshake; set before the state becomes ``DTLSTransportState/connected``.
  package private(set) var session: DTLSSession?
  /// The role passed at the start.
  package private(set) var role: DTLSRole?
  /// The path on which datagrams are sent.
  package private(set) var path: Path?

  private let environment: VirtualEnvironment
  private var connection: Connection?
  private var remoteFingerprints: [Fingerprint] = []
  private var initialTimeout = Interval.seconds(1)
  /// The admitted endpoints, latest last.
  private var admitted: [Endpoint] = []
  private var early: [(bytes: [UInt8], remote: Endpoint)] = []
  private var outgoing: [[UInt8]] = []
  private var events: [Event] = []
  private var retransmitAt: Instant?
  private var giveUpAt: Instant?
  private var now = Instant.zero
  private var counters = DTLSStatistics()

  /// The maximum number of datagrams kept from before the start.
  package static let earlyLimit = 2
  private static let admittedLimit = 8
  /// The number of retransmissions that are packed into as few datagrams as the first transmission.
  private static let packedRetransmissions = 2

  package init(certificate: Certificate, entropy: consuming Entropy, configuration: Configuration = Configuration()) {
    VirtualClockCheck.passOnce
    self.certificate = certificate
    self.configuration = configuration
    environment = VirtualEnvironment(entropy)
  }

  package var statistics: DTLSStatistics {
    var result = counters
    result.retransmissions = connection?.retransmissions ?? 0
    result.applicationBytes = connection?.applicationBytes ?? 0
    return result
  }

  // MARK: Commands

  /// Starts the handshake, or prepares it until the transport is bound to a path.
  ///
  /// - Parameter remoteFingerprints: every `a=fingerprint` of the remote description; one of them must match.
  package mutating func start(
    as role: DTLSRole, remoteFingerprints: [Fingerprint], at now: Instant
  ) throws(DTLSError) {
    guard state != .closed, state != .failed else { throw .ended }
    guard self.role == nil else { throw .alreadyStarted }
    guard !remoteFingerprints.isEmpty else { throw .noFingerprint }
    self.role = role
    self.remoteFingerprints = remoteFingerprints
    tick(now)
    connectIfReady()
  }

  /// Sends on `path` from now on, and accepts datagrams from its remote endpoint.
  package mutating func bind(to path: Path, at now: Instant) {
    tick(now)
    self.path = path
    admit(path.remote)
    connectIfReady()
  }

  /// Accepts datagrams from an endpoint that is not the destination: the peer may prefer another candidate pair, and an
  /// agent must receive on every signalled candidate (RFC 8445 section 12.2). Only the latest eight are stored.
  package mutating func admit(_ remote: Endpoint) {
    guard admitted.last != remote else { return }
    admitted.removeAll { $0 == remote }
    admitted.append(remote)
    if admitted.count > Self.admittedLimit { admitted.removeFirst() }
  }

  /// Sets the first retransmission timeout of later flights to two round trips, within 50 ms to 3 s.
  ///
  /// Without this call it is the one second of RFC 6347 section 4.2.4.1.
  package mutating func setRoundTripTime(_ roundTripTime: Interval) {
    if Defect.handshakeTimerIgnoresRoundTrip.isPlanted { return }
    initialTimeout = min(max(roundTripTime * 2, .milliseconds(50)), .seconds(3))
    connection?.initialTimeout = initialTimeout
  }

  /// Sends a packet of the user as application data, in a datagram of its own.
  ///
  /// - Returns: whether the transport is connected. A packet for another state is lost.
  @discardableResult
  package mutating func send(_ packet: RawSpan, at now: Instant) -> Bool {
    guard state == .connected, let connection else { return false }
    tick(now)
    guard connection.send(packet, at: self.now) else { return false }
    collect()
    return true
  }

  /// Whether received application data is kept for ``takeApplicationData()``; it is dropped otherwise.
  package var keepsApplicationData = false {
    didSet { connection?.keepsApplicationData = keepsApplicationData }
  }

  /// Returns and removes the application data of the records that were received, in order.
  package mutating func takeApplicationData() -> [[UInt8]] {
    guard let connection, !connection.applicationData.isEmpty else { return [] }
    defer { connection.applicationData = [] }
    return connection.applicationData
  }

  /// Sends close_notify if connected, and closes the transport.
  package mutating func close(at now: Instant) {
    guard state != .closed, state != .failed else { return }
    tick(now)
    connection?.close(at: self.now)
    end(in: .closed)
  }

  /// Fails as by an error of its own, without an alert: libssl sends none but its own. Returns false when the transport
  /// has ended already.
  package mutating func fail(at now: Instant) -> Bool {
    guard state != .closed, state != .failed else { return false }
    tick(now)
    fail(.internalError)
    return true
  }

  // MARK: SansIO

  package mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    tick(now)
    guard state != .closed, state != .failed else { return }
    if Defect.lastFlightNotRepeated.isPlanted, state == .connected { return }
    counters.datagramsReceived += 1
    var records = datagram
    let shortest = connection?.shortestProtectedRecord ?? Connection.shortestProtectedRecord
    switch RecordShape(of: datagram, shortestProtected: shortest) {
    case .wellFormed: break
    case .wellFormedPrefix(let count):
      counters.malformed += 1
      records = datagram.extracting(first: count)
    case .malformed:
      counters.malformed += 1
      return
    }
    guard connection != nil else {
      keepEarly(records, from: path.remote)
      return
    }
    guard admitted.contains(path.remote) || Defect.strangersHandshakeRead.isPlanted else {
      counters.offPath += 1
      return
    }
    process(records)
  }

  package mutating func advance(to now: Instant) {
    tick(now)
    if let giveUpAt, giveUpAt <= self.now {
      fail(.handshakeTimeout)
      return
    }
    guard let retransmitAt, retransmitAt <= self.now, let connection else { return }
    settle(connection.timerExpired(at: self.now))
  }

  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    guard let path, !outgoing.isEmpty else { return nil }
    let datagram = outgoing.removeFirst()
    buffer.append(contentsOf: datagram.span.bytes)
    counters.datagramsSent += 1
    return path
  }

  package mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  package var wake: Wake {
    let retransmission = retransmitAt.map { Wake.at($0, reason: WakeReason.retransmission.rawValue) }
    let timeout = giveUpAt.map { Wake.at($0, reason: WakeReason.handshakeTimeout.rawValue) }
    return .earliest(retransmission ?? .never, timeout ?? .never)
  }

  // MARK: Progress

  private mutating func tick(_ now: Instant) { self.now = max(self.now, now) }

  private mutating func keepEarly(_ datagram: RawSpan, from remote: Endpoint) {
    let limit = Defect.earlyHelloDropped.isPlanted ? 0 : Defect.earlyFragmentDropped.isPlanted ? 1 : Self.earlyLimit
    if early.count >= limit {
      counters.earlyDropped += 1
      // A sender that guessed the port must not take the place of an admitted one.
      guard admitted.contains(remote), let stranger = early.firstIndex(where: { !admitted.contains($0.remote) }) else {
        return
      }
      early.remove(at: stranger)
    }
    early.append((datagram.copied, remote))
  }

  private mutating func connectIfReady() {
    guard connection == nil, state == .new, let role, path != nil else { return }
    let connection = Connection(
      certificate: certificate, context: .shared(profiles: configuration.profiles), environment: environment,
      role: role,
      fingerprints: remoteFingerprints, configuration: configuration, initialTimeout: initialTimeout)
    connection.keepsApplicationData = keepsApplicationData
    self.connection = connection
    giveUpAt = configuration.handshakeTimeout.map { now + $0 }
    change(to: .connecting)
    settle(connection.receive(nil, at: now))
    let kept = early
    early = []
    for (bytes, remote) in kept where state == .connecting {
      if !admitted.contains(remote), !Defect.strangersHandshakeRead.isPlanted {
        counters.offPath += 1
      } else if role == .client, RecordShape.beginsWithClientHello(bytes.span.bytes) {
        // The peer began before it signalled that it is the server. libssl would end the handshake; ignore the
        // ClientHello, as libwebrtc does. A later one comes from a peer that is not a server.
        counters.strayHellos += 1
      } else {
        process(bytes.span.bytes)
      }
    }
  }

  private mutating func process(_ datagram: RawSpan) {
    guard let connection else { return }
    settle(connection.receive(datagram, at: now))
  }

  /// Processes the result of a connection's step.
  private mutating func settle(_ progress: Connection.Progress) {
    collect()
    switch progress {
    case .pending: restartTimer()
    case .established:
      if state == .connecting { establish() }
      if state == .connected { restartTimer() }
    case .closed:
      connection?.close(at: now)
      end(in: .closed)
    case .failed(let reason): fail(reason)
    }
  }

  private mutating func establish() {
    session = connection?.makeSession(at: now)
    guard session != nil else { return fail(.noCommonSRTPProfile) }
    giveUpAt = nil
    change(to: .connected)
  }

  private mutating func restartTimer() {
    guard let connection, let remaining = connection.timeRemaining(at: now),
      connection.retransmissions == 0 || !Defect.flightRepeatedOnce.isPlanted
    else {
      retransmitAt = nil
      return
    }
    // Zero also means "within 15 ms": then the known deadline is exact.
    if remaining == .zero, let retransmitAt, retransmitAt > now { return }
    retransmitAt = now + remaining
  }

  private mutating func fail(_ reason: DTLSFailure) {
    failure = reason
    end(in: .failed)
  }

  private mutating func end(in final: DTLSTransportState) {
    collect()
    retransmitAt = nil
    giveUpAt = nil
    early = []
    change(to: final)
  }

  private mutating func collect() {
    guard let connection else { return }
    // Small datagrams may arrive where large ones are lost.
    let isPacked = connection.retransmissions <= Self.packedRetransmissions
    outgoing += connection.exchange.takeOutgoing(upTo: isPacked ? connection.maximumDatagramSize : 0)
    events += connection.keyLog.map(Event.keyLog)
    connection.keyLog.removeAll()
  }

  private mutating func change(to next: DTLSTransportState) {
    guard next != state else { return }
    state = next
    events.append(.stateChanged(next))
  }
}
