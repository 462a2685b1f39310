public import CallCore
public import DTLS
public import ICE
internal import RTP
public import SDP
internal import SRTP

/// Why a session wants to be woken: the reason in its ``CallSession/wake``.
public enum SessionWakeReason: UInt8, Sendable {
  case ice = 1, gathering, relay, dtls, rtcp, nack
}

/// A whole peer connection as one sans-IO machine: JSEP, ICE with STUN and TURN, DTLS-SRTP, RTP and audio.
///
/// The simulator and the socket driver run it with the same pump. Stages are fixed. Receive: demultiplex (RFC 7983),
/// then ICE or TURN, DTLS, or SRTP unprotect, reception statistics, jitter buffer, decoder. Send: encoder, packetiser,
/// SRTP protect.
public struct CallSession: ~Copyable, SansIO {
  public typealias Event = SessionEvent

  let configuration: SessionConfiguration
  let random: RandomSource
  var jsep: JSEPSession
  var ice: ICEAgent
  var gatherer: CandidateGatherer
  var dtls: DTLSTransport
  var outbound: SRTPContext?
  var inbound: SRTPContext?
  /// Whether both contexts are there.
  var hasKeys = false
  var audio: AudioTransport

  var interfaces: [LocalInterface] = []
  var hasGathered = false
  /// New local credentials are out, and the negotiation that pairs them with the peer's is not done.
  var isRestarting = false
  var hasStartedICE = false
  var wantsRestart = false
  var negotiationWasNeeded = false
  /// Whether descriptions or transceivers changed since the signalling state was last derived.
  var hasNegotiated = false
  var localCandidates: [ICECandidate] = []
  var traffic = TransportTraffic()
  var events = FIFO<SessionEvent>()
  /// The path for last words, once the session is closing.
  var closingPath: Path?
  var isReleasingRelays = false
  var now: Instant

  public private(set) var signalingState = SignalingState.stable
  public private(set) var iceGatheringState = ICEGatheringState.new
  public private(set) var connectionState = ConnectionState.new
  public var iceConnectionState: ICEConnectionState { ice.connectionState }
  public var dtlsState: DTLSTransportState {
    configuration.protection == .none && ice.canSend ? .connected : dtls.state
  }

  /// - Parameter random: the session's own source; every machine inside draws from a stream of its own.
  public init(configuration: SessionConfiguration, random: RandomSource, at now: Instant) {
    self.configuration = configuration
    self.random = random
    self.now = now
    var identifiers = random.stream("identifiers")
    var descriptions = JSEPSession.Configuration(
      sessionID: identifiers.next() >> 2, audio: AudioTransport.capabilities(configuration.audio),
      video: MediaCapabilities(codecs: []))
    descriptions.answersPassively = configuration.answersPassively
    jsep = JSEPSession(descriptions)
    audio = AudioTransport(
      configuration: configuration, ssrc: UInt32(truncatingIfNeeded: identifiers.next()), random: random)
    ice = ICEAgent(role: .controlling, settings: configuration.ice, random: random.stream("ice"), at: now)
    gatherer = CandidateGatherer(configuration: configuration, random: random)
    var settings = configuration.dtls
    settings.logsKeys = true
    dtls = DTLSTransport(
      certificate: configuration.certificate, entropy: .stream(random.stream("dtls")), configuration: settings)
  }

  // MARK: SansIO

  public mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    guard enter(at: now) else { return }
    if let (inner, range) = gatherer.payload(of: datagram, on: path, at: self.now) {
      demultiplex(datagram.extracting(range), on: inner)
    } else if !gatherer.receive(datagram, on: path, at: self.now) {
      demultiplex(datagram, on: path)
    }
    settle()
  }

  public mutating func advance(to now: Instant) {
    guard enter(at: now) else { return }
    ice.advance(to: self.now)
    gatherer.advance(to: self.now)
    dtls.advance(to: self.now)
    settle()
  }

  public mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    while true {
      buffer.removeAll()
      if let path = gatherer.transmit(into: &buffer) { return path }
      guard let path = nextDatagram(into: &buffer) else {
        buffer.removeAll()
        guard connectionState == .closed, !isReleasingRelays else { return nil }
        isReleasingRelays = true
        gatherer.close(at: now)
        continue
      }
      if !gatherer.sendThroughRelay(buffer.span.bytes, on: path, at: now) { return path }
    }
  }

  public mutating func nextEvent() -> SessionEvent? { events.popFirst() }

  public var wake: Wake {
    guard connectionState != .closed else { return .never }
    var earliest = gatherer.wake
    if let deadline = ice.wake.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.ice.rawValue))
    }
    if let deadline = dtls.wake.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.dtls.rawValue))
    }
    return .earliest(earliest, audio.wake)
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

  /// Ends everything. The drain that follows says BYE and close_notify, and gives relays back.
  public mutating func close(at now: Instant) {
    guard enter(at: now) else { return }
    closingPath = ice.sendingPath
    audio.end(saysGoodbye: hasKeys || configuration.protection == .none)
    dtls.close(at: self.now)
    ice.close(at: self.now)
    jsep.close()
    connectionState = .closed
    events.removeAll()
  }
}
