public import CallCore
public import DTLS
public import ICE
internal import RTP
public import SDP
internal import SRTP
internal import TURN

/// Why a session wants to be woken: the reason in its ``CallSession/wake``.
package enum SessionWakeReason: UInt8, Sendable {
  case ice = 1, gathering, relay, dtls, rtcp, nack, pacer, feedback
}

/// A whole peer connection as one sans-IO machine: JSEP, ICE with STUN and TURN, DTLS-SRTP, RTP and audio.
///
/// The simulator and the socket driver run it with the same pump. Stages are fixed. Receive: demultiplex (RFC 7983),
/// then ICE or TURN, DTLS, or SRTP unprotect, arrival for the feedback, reception statistics, jitter buffer, decoder. Send:
/// encoder, packetiser, queue, pacer, transport-wide number, history, SRTP protect.
public struct CallSession: ~Copyable, SansIO {
  public typealias Event = SessionOutput

  var configuration: SessionConfiguration
  let random: RandomSource
  var jsep: JSEPSession
  var ice: ICEAgent
  var gatherer: CandidateGatherer
  var dtls: DTLSTransport
  /// Which transport ``ice`` is for, counted from one: a session whose sections were all rejected begins another.
  var transportNumber = 1
  /// Which association ``dtls`` is, counted from one.
  var associationNumber = 1
  /// What its certificate was promised to be.
  var remoteFingerprints: [DTLS.Fingerprint] = []
  var outbound: SRTPContext?
  var inbound: SRTPContext?
  /// Whether both contexts are there.
  var hasKeys = false
  var media: MediaTransport

  var interfaces: [LocalInterface] = []
  var concealment = Concealment()
  /// What was gathered: for the current credentials last, before it for those that may still be returned to.
  var gatherings: [Gathering] = []
  /// New local credentials are out, and the negotiation that pairs them with the peer's is not done.
  var isRestarting = false
  var hasStartedICE = false
  /// Whether the far side's credentials are those of a provisional answer, which another endpoint may still replace.
  var hasProvisionalPeer = false
  var negotiationWasNeeded = false
  /// Whether the next offer restarts ICE, though nobody is told that one is needed.
  var offersRestart = false
  /// Which parameters of each sender were asked for last, and not set since.
  var openTransactions: [Transceiver.ID: UInt64] = [:]
  var transactions: UInt64 = 0
  /// What tells the restart apart that the offer created last brings, once that is set.
  var restartCredentials: ICECredentials?
  /// How many candidates came since the last remote description.
  var trickledCandidates = 0
  /// The addresses whose networks local candidates were on: the place is the network's id, less one.
  var networks: [IPAddress] = []
  /// Whether descriptions or transceivers changed since the signalling state was last derived.
  var hasNegotiated = false
  var localCandidates: [ICECandidate] = []
  /// Remote candidates of this generation whose names have not been resolved.
  var unresolved: [ICECandidate] = []
  /// What others' names are known to stand for.
  var resolvedNames: [String: IPAddress] = [:]
  var traffic = TransportTraffic()
  var events = FIFO<SessionOutput>()
  /// The path for last words, once the session is closing.
  var closingPath: Path?
  /// When relays that have not been given back by then are left to lapse; nil until everything else is said.
  var releaseDeadline: Instant?
  var now: Instant

  /// W3C `signalingState`.
  public private(set) var signalingState = SignalingState.stable
  /// W3C `iceGatheringState`.
  public private(set) var iceGatheringState = ICEGatheringState.new
  /// W3C `connectionState`.
  public private(set) var connectionState = ConnectionState.new
  /// W3C `iceConnectionState`.
  public var iceConnectionState: ICEConnectionState { ice.connectionState }
  /// W3C `RTCDtlsTransport.state`.
  public var dtlsState: DTLSTransportState {
    configuration.protection == .none && ice.canSend ? .connected : dtls.state
  }

  /// - Parameter random: the session's own source; every machine inside draws from a stream of its own. When it cannot
  ///   be repeated, DTLS keys and nonces come from OpenSSL's own generator.
  public init(configuration: SessionConfiguration, random: RandomSource, at now: Instant) {
    self.configuration = configuration
    self.random = random
    self.now = now
    var identifiers = random.stream("identifiers")
    var descriptions = JSEPSession.Configuration(
      sessionID: identifiers.next() >> 2, audio: configuration.audio.capabilities,
      video: MediaCapabilities(codecs: []))
    descriptions.answersPassively = configuration.answersPassively
    jsep = JSEPSession(descriptions)
    media = MediaTransport(configuration: configuration, identifiers: identifiers, random: random)
    ice = ICEAgent(role: .controlling, settings: configuration.ice, random: random.stream("ice"), at: now)
    gatherer = CandidateGatherer(configuration: configuration, random: random)
    dtls = Self.association(1, configuration: configuration, random: random)
  }

  static func association(
    _ number: Int, configuration: SessionConfiguration, random: RandomSource
  ) -> DTLSTransport {
    var settings = configuration.dtls
    settings.logsKeys = true
    let stream = random.stream(number == 1 ? "dtls" : "dtls/\(number)")
    return DTLSTransport(
      certificate: configuration.certificate,
      entropy: random.isRepeatable ? .stream(stream) : .system, configuration: settings)
  }

  // MARK: SansIO

  public mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    guard enter(at: now) else {
      if isReleasingRelays { _ = gatherer.receive(datagram, on: path, at: self.now) }
      return
    }
    if let (inner, range) = gatherer.payload(of: datagram, on: path, at: self.now) {
      demultiplex(datagram.extracting(range), on: inner)
    } else if !gatherer.receive(datagram, on: path, at: self.now) {
      demultiplex(datagram, on: path)
    } else if TURNClient.carriesData(datagram) {
      // By a relay that was given up, or a channel or permission that nobody asked for.
      discard("relayed-to-nobody", on: path)
    }
    settle()
  }

  public mutating func advance(to now: Instant) {
    guard enter(at: now) else { return releaseRelays() }
    ice.advance(to: self.now)
    gatherer.advance(to: self.now)
    dtls.advance(to: self.now)
    settle()
  }

  /// The connection that was used as `path` failed or ended: what it carried is lost at once, without a timer.
  ///
  /// - Parameter isMalformed: whether the driver ended it because what arrived made no sense (``TURNStreamFramer``).
  /// - Parameter reason: what was wrong with it, for people, where that is known.
  package mutating func streamClosed(
    _ path: Path, isMalformed: Bool = false, reason: String? = nil, at now: Instant
  ) {
    let isOpen = enter(at: now)
    if isOpen, isMalformed { discard("malformed-stream", on: path) }
    gatherer.streamClosed(path, reason: reason, at: self.now)
    if isOpen { settle() }
  }

  /// The host that the server at the other end of a connection over TLS must prove to be (RFC 8656 section 3.1).
  package func serverName(on path: Path) -> String { gatherer.host(at: path) ?? "\(path.remote.address)" }

  public mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    while true {
      buffer.removeAll()
      if let path = gatherer.transmit(into: &buffer) { return path }
      guard let path = nextDatagram(into: &buffer) else {
        buffer.removeAll()
        guard connectionState == .closed, releaseDeadline == nil else { return nil }
        releaseDeadline = now + Self.releasePatience
        gatherer.close(at: now)
        continue
      }
      if !gatherer.sendThroughRelay(buffer.span.bytes, on: path, at: now) { return path }
    }
  }

  public mutating func nextEvent() -> SessionOutput? { events.popFirst() }

  public var wake: Wake {
    var earliest = gatherer.wake
    if connectionState == .closed {
      guard isReleasingRelays, let releaseDeadline else { return .never }
      return .earliest(earliest, .at(releaseDeadline, reason: SessionWakeReason.relay.rawValue))
    }
    if let deadline = ice.wake.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.ice.rawValue))
    }
    if let deadline = dtls.wake.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.dtls.rawValue))
    }
    return .earliest(earliest, media.wake)
  }

  // MARK: Steps

  /// Moves time forward; false when the session is closed.
  mutating func enter(at now: Instant) -> Bool {
    self.now = max(self.now, now)
    return connectionState != .closed
  }

  /// Follows what the machines inside have to say until they are silent, then derives the states from theirs.
  mutating func settle() {
    var moved = true
    while moved {
      moved = false
      while let event = gatherer.nextEvent() {
        handle(event)
        moved = true
      }
      while let event = ice.nextEvent() {
        handle(event)
        moved = true
      }
      while let event = dtls.nextEvent() {
        handle(event)
        moved = true
      }
    }
    leaveOldSockets()
    updateStates()
  }

  private mutating func updateStates() {
    if jsep.signalingState != signalingState {
      signalingState = jsep.signalingState
      events.append(.signalingStateChange(signalingState))
    }
    let next = aggregateState()
    if next != connectionState {
      connectionState = next
      events.append(.connectionStateChange(next))
    }
    // Reads descriptions, so it is not for every packet.
    guard hasNegotiated else { return }
    hasNegotiated = false
    let needed = signalingState == .stable && jsep.negotiationNeeded
    if needed, !negotiationWasNeeded { events.append(.negotiationNeeded) }
    negotiationWasNeeded = needed
  }

  /// The W3C's aggregation of the ICE and DTLS transport states (webrtc-pc section 4.4.3).
  private func aggregateState() -> ConnectionState {
    if connectionState == .closed { return .closed }
    let (ice, dtls) = (ice.connectionState, dtlsState)
    if ice == .failed || dtls == .failed { return .failed }
    if ice == .disconnected { return .disconnected }
    if ice == .new || ice == .closed, dtls == .new || dtls == .closed { return .new }
    if ice == .checking || ice == .new { return .connecting }
    return dtls == .connected || dtls == .closed ? .connected : .connecting
  }

  mutating func setGatheringState(_ state: ICEGatheringState) {
    guard state != iceGatheringState else { return }
    iceGatheringState = state
    events.append(.iceGatheringStateChange(state))
  }

  /// How long a closed session cares for its relays: three transmissions of each farewell, or a few stale nonces.
  private static let releasePatience = Interval.seconds(1)

  private var isReleasingRelays: Bool { releaseDeadline != nil && gatherer.isReleasing }

  private mutating func releaseRelays() {
    guard let releaseDeadline else { return }
    if now >= releaseDeadline { gatherer.abandon() } else { gatherer.advance(to: now) }
  }

  /// Ends everything. The drain that follows says BYE and close_notify, and gives relays back. The session is to be
  /// driven on until its ``wake`` is never, a second later at most; no event comes any more.
  public mutating func close(at now: Instant) {
    guard enter(at: now) else { return }
    closingPath = ice.sendingPath(at: self.now)
    media.end(saysGoodbye: hasKeys || configuration.protection == .none)
    dtls.close(at: self.now)
    ice.close(at: self.now)
    jsep.close()
    connectionState = .closed
    events.removeAll()
  }
}
