internal import CallCore
internal import DTLS
internal import ICE
internal import PeerSession
internal import SCTP
internal import SDP
internal import Vocabulary

/// Writes a session's events into the trace under the names scenarios use.
struct ConnectionTrace {
  private let trace: Trace
  private let subject: TraceSubject
  private let keyLog: ((String) -> Void)?
  private let mediaSent: TraceWriter<UInt32, Int, UInt64>
  private let mediaReceived: TraceWriter<UInt32, Int>
  private var hasSentMedia = false
  /// The DTMF digits of the remote side.
  private var digits = ""
  private var states: [String: String] = [:]

  /// - Parameter subject: The connection's trace subject, or its peer's where the peer has a single connection.
  init(trace: Trace, subject: String, keyLog: ((String) -> Void)?) {
    self.trace = trace
    self.keyLog = keyLog
    self.subject = trace.subject(subject)
    mediaSent = trace.writer(of: PeerConnectionEvents.mediaSent)
    mediaReceived = trace.writer(of: PeerConnectionEvents.mediaReceived)
  }

  mutating func write(_ observation: SessionObservation) {
    switch observation {
    case .mediaSent(let ssrc, let byteCount, let prefix):
      if !hasSentMedia { trace.write(PeerConnectionEvents.firstMediaSent, subject) }
      hasSentMedia = true
      trace.write(mediaSent, subject, ssrc, byteCount, prefix)
    case .mediaReceived(let ssrc, let byteCount):
      trace.write(mediaReceived, subject, ssrc, byteCount)
    case .mediaRecovered(let ssrc, let byteCount):
      trace.write(PeerConnectionEvents.mediaRecovered, subject, ssrc, byteCount)
    case .packetDiscarded(let what, let from):
      trace.write(PeerConnectionEvents.packetDiscarded, subject, "\(what)", from)
    case .digitReceived(let digit):
      digits.append(digit)
      trace.write(PeerConnectionEvents.digits, subject, digits, "\(digit)")
    case .iceRestart(let byPeer): trace.write(PeerConnectionEvents.restart, subject, byPeer ? "peer" : "self")
    case .checkFailed(let local, let remote, let reason):
      trace.write(PeerConnectionEvents.checkFailed, subject, local, remote, "\(reason)")
    case .consentExpired(let remote): trace.write(PeerConnectionEvents.consentExpired, subject, remote)
    case .remoteCandidateRefused(let candidate, let reason):
      trace.write(PeerConnectionEvents.candidateRefused, subject, candidate, reason.rawValue)
    case .turnAllocated(let server, let relayed, let lifetime):
      trace.write(PeerConnectionEvents.turnAllocated, subject, server, relayed, lifetime)
    case .remoteBye(let ssrc): trace.write(PeerConnectionEvents.bye, subject, ssrc)
    case .bandwidthEstimate(let reason, let before, let after):
      trace.write(
        PeerConnectionEvents.bandwidthEstimate, subject, Int(after.bitsPerSecond), Int(before.bitsPerSecond), reason)
    case .keyLog(let line): keyLog?(line)
    }
  }

  mutating func write(_ event: SessionEvent) {
    switch event {
    case .signalingStateChange(let state): change(PeerConnectionEvents.signalingState, to: state.rawValue)
    case .iceGatheringStateChange(let state): change(PeerConnectionEvents.gatheringState, to: state.rawValue)
    case .iceConnectionStateChange(let state): change(PeerConnectionEvents.iceState, to: state.rawValue)
    case .dtlsStateChange(let state): change(PeerConnectionEvents.dtlsState, to: state.rawValue)
    case .connectionStateChange(let state): change(PeerConnectionEvents.connectionState, to: state.rawValue)
    case .iceCandidate(let text, _, _):
      trace.write(PeerConnectionEvents.candidate, subject, text ?? "end-of-candidates")
    case .iceCandidatesRemoved(let candidates):
      for candidate in candidates { trace.write(PeerConnectionEvents.candidateRemoved, subject, candidate) }
    case .negotiationNeeded: trace.write(PeerConnectionEvents.negotiationNeeded, subject)
    case .track(let mid, _): trace.write(PeerConnectionEvents.track, subject, mid)
    case .removeTrack(let mid): trace.write(PeerConnectionEvents.trackRemoved, subject, mid)
    case .mute(let mid): trace.write(PeerConnectionEvents.trackMuted, subject, mid)
    case .unmute(let mid): trace.write(PeerConnectionEvents.trackUnmuted, subject, mid)
    case .ended(let mid): trace.write(PeerConnectionEvents.trackEnded, subject, mid)
    case .forwardingChange(let isPaused, _): trace.write(PeerConnectionEvents.forwardingPaused, subject, isPaused)
    case .toneChange(let tone, _): trace.write(PeerConnectionEvents.toneChange, subject, tone)
    case .selectedCandidatePairChange(let local, let remote):
      select(local, .local)
      set(
        PeerConnectionEvents.selectedRelayProtocol,
        local.relayProtocol ?? (local.candidateType == "relay" ? "unknown" : "none"))
      select(remote, .remote)
    case .iceServerError(let server, let url, let code, let reason):
      trace.write(PeerConnectionEvents.serverError, subject, server, code, reason, url)
    case .dtlsFailed(let reason): trace.write(PeerConnectionEvents.dtlsFailed, subject, reason)
    case .sctpStateChange(let state): trace.write(DataChannelEvents.transportState, subject, state.rawValue)
    case .dataChannel(let channel):
      trace.write(DataChannelEvents.announced, subject, channel.channel.rawValue, channel.label)
    case .dataChannelStateChange(let channel, let state):
      trace.write(DataChannelEvents.state, subject, channel.rawValue, state.rawValue)
    case .dataChannelMessage(let channel, let message):
      trace.write(DataChannelEvents.messageReceived, subject, channel.rawValue, message.byteCount)
    case .dataChannelBufferedAmountLow(let channel):
      trace.write(DataChannelEvents.bufferedAmountLow, subject, channel.rawValue)
    case .dataChannelError(let channel, let reason):
      trace.write(DataChannelEvents.failed, subject, channel.rawValue, reason)
    }
  }

  /// Writes the initial states of the connection: an earlier connection of the subject left its own.
  mutating func begin() {
    for machine in CommonVocabulary.machines {
      guard let initial = machine.states.first else { continue }
      change(PeerConnectionEvents.state(machine.name), to: initial.name)
    }
  }

  /// Writes the states of a closed connection, for which no event is fired (W3C `close`).
  mutating func close() {
    for machine in [
      PeerConnectionEvents.signalingState, PeerConnectionEvents.iceState, PeerConnectionEvents.connectionState,
    ] {
      change(machine, to: "closed")
    }
    // There is no transport before a description was applied.
    let dtls = PeerConnectionEvents.dtlsState
    if let state = states[dtls.name], state != "new" { change(dtls, to: "closed") }
  }

  private mutating func change(_ machine: TraceEvent<String, String>, to state: String) {
    let isSignaling = machine.name == PeerConnectionEvents.signalingState.name
    let from = states.updateValue(state, forKey: machine.name) ?? (isSignaling ? "stable" : "new")
    guard state != from || state != "closed" else { return }
    trace.write(machine, subject, state, from)
  }

  private func select(_ candidate: CandidateSummary, _ end: PeerConnectionEvents.PairEnd) {
    set(PeerConnectionEvents.selectedType(end), candidate.candidateType)
    set(PeerConnectionEvents.selectedAddress(end), "\(candidate.endpoint.address)")
    set(PeerConnectionEvents.selectedProtocol(end), "udp")
    set(PeerConnectionEvents.selectedNetworkType(end), candidate.networkType)
    trace.write(PeerConnectionEvents.selectedPort(end), subject, Int(candidate.endpoint.port))
  }

  private func set(_ event: TraceEvent<String>, _ word: String) {
    guard let declaration = CommonVocabulary.value(event.name) else {
      preconditionFailure("value '\(event.name)' is not declared")
    }
    precondition(declaration.type.admits(word), "'\(word)' is no value of '\(event.name)': it is \(declaration.type)")
    trace.write(event, subject, word)
  }
}
