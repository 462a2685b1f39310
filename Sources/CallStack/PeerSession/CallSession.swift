public import CallCore
public import DTLS
public import ICE
internal import RTP
internal import SCTP
public import SDP
internal import SRTP
internal import Statistics
internal import TURN

/// The reason for a wake-up: the reason in ``CallSession/wake``.
package enum SessionWakeReason: UInt8, Sendable {
  case ice = 1, gathering, relay, dtls, rtcp, nack, pacer, feedback, video, bandwidth, data, lipSync
}

/// A whole peer connection as one sans-IO machine: JSEP, ICE with STUN and TURN, DTLS-SRTP, RTP, media, and SCTP with data
/// channels.
///
/// The simulator and the socket driver run it with the same pump. The stages are fixed. Receive: demultiplex (RFC
/// 7983), then ICE or TURN, DTLS, or SRTP unprotect, arrival time for feedback, reception statistics, jitter buffer,
/// decoder. Send: encoder, packetiser, queue, pacer, transport-wide number, history, SRTP protect.
public final class CallSession: SansIO {
  /// An output of the session.
  public typealias Event = SessionOutput

  var configuration: SessionConfiguration
  /// The number of the connection among those of its device, which names the tracks that it receives.
  package var number = 0
  let random: RandomSource
  let certificateEntry: StatsReport.Entry
  var jsep: JSEPSession
  var ice: ICEAgent
  var gatherer: CandidateGatherer
  var dtls: DTLSTransport
  /// The number of the transport that ``ice`` serves, from one: a session whose sections were all rejected starts
  /// another.
  var transportNumber = 1
  /// The number of the association that ``dtls`` runs, from one.
  var associationNumber = 1
  /// The fingerprints in the remote description; the peer's certificate must match one.
  var remoteFingerprints: [DTLS.Fingerprint] = []
  var outbound: SRTPContext?
  var inbound: SRTPContext?
  /// Whether both SRTP contexts exist.
  var hasKeys = false
  /// Whether the descriptions of both sides are without DTLS, as this side wants.
  var hasAgreedOnCleartext = false
  /// Whether RTP goes without SRTP.
  var isUnprotected: Bool { configuration.protection == .none || hasAgreedOnCleartext }
  var media: MediaTransport
  /// The data channels; nil until the application or a negotiation asks for them.
  var data: DataTransport?
  var pastData = PastDataTransports()

  var interfaces: [LocalInterface] = []
  var obfuscation = AddressObfuscation()
  /// The gatherings: the last one for the current credentials, before it those that a rollback may restore.
  var gatherings: [Gathering] = []
  /// Whether new local credentials were sent and the peer's are still missing.
  var isRestarting = false
  var hasStartedICE = false
  /// Whether the remote credentials come from a provisional answer, so that another endpoint may replace them.
  var hasProvisionalPeer = false
  var negotiationWasNeeded = false
  /// Whether the next offer restarts ICE, without a `negotiationneeded` event.
  var offersRestart = false
  /// The transaction of each sender's parameters that were requested and not set since.
  var openTransactions: [Transceiver.ID: UInt64] = [:]
  var transactions: UInt64 = 0
  /// The credentials of the restart in the last created offer; they take effect when that offer is set.
  var restartCredentials: ICECredentials?
  /// The number of candidates received since the last remote description.
  var trickledCandidates = 0
  /// The addresses of the networks of local candidates. The index is the network id minus one.
  var networks: [IPAddress] = []
  /// Whether descriptions or transceivers have changed since the signalling state was last derived.
  var hasNegotiated = false
  var localCandidates: [ICECandidate] = []
  /// The remote candidates of this generation with unresolved names.
  var unresolved: [ICECandidate] = []
  /// The resolved addresses of remote names.
  var resolvedNames: [String: IPAddress] = [:]
  var traffic = TransportTraffic()
  var events = FIFO<SessionOutput>()
  /// The path of the BYE and the close_notify of a closing session.
  var closingPath: Path?
  /// The time at which relays that were not released are left to expire; nil until all other messages are sent.
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
    isUnprotected && ice.canSend ? .connected : dtls.state
  }

  /// Makes a session.
  ///
  /// - Parameter random: the session's own source; every machine inside draws from its own stream. If the source is not
  ///   repeatable, DTLS keys and nonces come from OpenSSL's generator.
  public init(configuration: SessionConfiguration, random: RandomSource, at now: Instant) {
    self.configuration = configuration
    self.random = random
    self.now = now
    certificateEntry = Self.entry(of: configuration.certificate)
    var identifiers = random.stream("identifiers")
    var descriptions = JSEPSession.Configuration(
      sessionID: identifiers.next() >> 2, audio: configuration.audio.capabilities,
      video: configuration.video?.capabilities ?? MediaCapabilities(codecs: []))
    if configuration.forwards {
      (descriptions.audio, descriptions.video) = (descriptions.audio.forwardable, descriptions.video.forwardable)
    }
    descriptions.answersPassively = configuration.answersPassively
    descriptions.needsFingerprint = configuration.dtlsPolicy == .required
    if configuration.dataChannels, configuration.protection == .dtlsSRTP, configuration.dtlsPolicy != .off {
      descriptions.data = DataTransport.description
    }
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

  public func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    guard enter(at: now) else {
      if isReleasingRelays { _ = gatherer.receive(datagram, on: path, at: self.now) }
      return
    }
    if let (inner, range) = gatherer.payload(of: datagram, on: path, at: self.now) {
      demultiplex(datagram.extracting(range), on: inner)
    } else if !gatherer.receive(datagram, on: path, at: self.now) {
      demultiplex(datagram, on: path)
    } else if TURNClient.carriesData(datagram) {
      // From a relay that was released, or through a channel or permission that was not requested.
      discard("relayed-to-nobody", on: path)
    }
    settle()
  }

  public func advance(to now: Instant) {
    guard enter(at: now) else { return releaseRelays() }
    ice.advance(to: self.now)
    gatherer.advance(to: self.now)
    dtls.advance(to: self.now)
    media.advance(to: self.now, events: &events)
    data?.sctp.advance(to: self.now)
    settle()
  }

  /// Reports that the connection used as `path` failed or ended: its data is lost at once, without a timer.
  ///
  /// - Parameter isMalformed: whether the driver ended it because of malformed input (``TURNStreamFramer``).
  /// - Parameter reason: the cause, as text for people, where known.
  package func streamClosed(
    _ path: Path, isMalformed: Bool = false, reason: String? = nil, at now: Instant
  ) {
    let isOpen = enter(at: now)
    if isOpen, isMalformed { discard("malformed-stream", on: path) }
    gatherer.streamClosed(path, reason: reason, at: self.now)
    if isOpen { settle() }
  }

  /// Returns the host name that the server of a TLS connection must prove (RFC 8656 section 3.1).
  package func serverName(on path: Path) -> String { gatherer.host(at: path) ?? "\(path.remote.address)" }

  public func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
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

  public func nextEvent() -> SessionOutput? { events.popFirst() }

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
    if let deadline = data?.sctp.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.data.rawValue))
    }
    return .earliest(earliest, media.wake)
  }

  // MARK: Steps

  /// Moves time forward, and returns false if the session is closed.
  func enter(at now: Instant) -> Bool {
    self.now = max(self.now, now)
    return connectionState != .closed
  }

  /// Handles the events of the inner machines until there are no more, then derives the session's states.
  func settle() {
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
      if receiveData() { moved = true }
    }
    leaveOldSockets()
    updateStates()
  }

  private func updateStates() {
    if jsep.signalingState != signalingState {
      signalingState = jsep.signalingState
      events.append(.signalingStateChange(signalingState))
    }
    let next = aggregateState()
    if next != connectionState {
      connectionState = next
      events.append(.connectionStateChange(next))
    }
    // This reads the descriptions, which is too slow for every packet.
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

  func setGatheringState(_ state: ICEGatheringState) {
    guard state != iceGatheringState else { return }
    iceGatheringState = state
    events.append(.iceGatheringStateChange(state))
  }

  /// The time in which a closed session releases its relays: enough for three transmissions of each request, or a few
  /// stale nonces.
  private static let releasePatience = Interval.seconds(1)

  private var isReleasingRelays: Bool { releaseDeadline != nil && gatherer.isReleasing }

  private func releaseRelays() {
    guard let releaseDeadline else { return }
    if now >= releaseDeadline { gatherer.abandon() } else { gatherer.advance(to: now) }
  }

  /// Closes the session. The following drain sends BYE, ABORT and close_notify and releases relays. The caller must drive the
  /// session until its ``wake`` is never, at most a second later; no more events follow.
  public func close(at now: Instant) {
    guard enter(at: now) else { return }
    closingPath = ice.sendingPath(at: self.now)
    media.end(saysGoodbye: hasKeys || isUnprotected)
    closeDataTransport()
    dtls.close(at: self.now)
    ice.close(at: self.now)
    jsep.close()
    connectionState = .closed
    events.removeAll()
  }
}
