internal import CallCore
internal import CallSession
internal import DTLS
internal import ICE
internal import SDP
internal import Vocabulary

/// Writes a session's events into the trace under the names scenarios use.
struct ConnectionTrace {
  private let trace: Trace
  private let subject: TraceSubject
  private let keyLog: ((String) -> Void)?
  private var hasSentMedia = false
  private var states: [String: String] = [:]

  /// - Parameter subject: the connection's own, or its peer where that has a single connection.
  init(trace: Trace, subject: String, keyLog: ((String) -> Void)?) {
    self.trace = trace
    self.keyLog = keyLog
    self.subject = trace.subject(subject)
  }

  mutating func write(_ observation: SessionObservation) {
    switch observation {
    case .mediaSent(let ssrc, let byteCount, let prefix):
      if !hasSentMedia { trace.write(PeerConnectionEvents.firstMediaSent, subject) }
      hasSentMedia = true
      trace.write(PeerConnectionEvents.mediaSent, subject, ssrc, byteCount, prefix)
    case .mediaReceived(let ssrc, let byteCount):
      trace.write(PeerConnectionEvents.mediaReceived, subject, ssrc, byteCount)
    case .packetDiscarded(let what, let from):
      trace.write(PeerConnectionEvents.packetDiscarded, subject, "\(what)", from)
    case .iceRestart(let byPeer): trace.write(PeerConnectionEvents.restart, subject, byPeer ? "peer" : "self")
    case .checkFailed(let local, let remote, let reason):
      trace.write(PeerConnectionEvents.checkFailed, subject, local, remote, "\(reason)")
    case .consentExpired(let remote): trace.write(PeerConnectionEvents.consentExpired, subject, remote)
    case .remoteCandidateRefused(let candidate, let reason):
      trace.write(PeerConnectionEvents.candidateRefused, subject, candidate, reason.rawValue)
    case .turnAllocated(let server, let relayed, let lifetime):
      trace.write(PeerConnectionEvents.turnAllocated, subject, server, relayed, lifetime)
    case .remoteBye(let ssrc): trace.write(PeerConnectionEvents.bye, subject, ssrc)
    case .keyLog(let line): keyLog?(line)
    }
  }

  mutating func write(_ event: SessionEvent) {
    switch event {
    case .signalingStateChange(let state): change("signaling.state", to: state.rawValue)
    case .iceGatheringStateChange(let state): change("ice-gathering.state", to: state.rawValue)
    case .iceConnectionStateChange(let state): change("ice.state", to: state.rawValue)
    case .dtlsStateChange(let state): change("dtls.state", to: state.rawValue)
    case .connectionStateChange(let state): change("connection.state", to: state.rawValue)
    case .iceCandidate(let text, _, _):
      trace.write(PeerConnectionEvents.candidate, subject, text ?? "end-of-candidates")
    case .iceCandidatesRemoved(let candidates):
      for candidate in candidates { trace.write(PeerConnectionEvents.candidateRemoved, subject, candidate) }
    case .negotiationNeeded: trace.write(PeerConnectionEvents.negotiationNeeded, subject)
    case .track(let mid): trace.write(PeerConnectionEvents.track, subject, mid)
    case .removeTrack(let mid): trace.write(PeerConnectionEvents.trackRemoved, subject, mid)
    case .mute(let mid): trace.write(PeerConnectionEvents.trackMuted, subject, mid)
    case .unmute(let mid): trace.write(PeerConnectionEvents.trackUnmuted, subject, mid)
    case .ended(let mid): trace.write(PeerConnectionEvents.trackEnded, subject, mid)
    case .selectedCandidatePairChange(let local, let remote):
      select(local, side: "local")
      select("relayProtocol", local.relayProtocol ?? (local.candidateType == "relay" ? "unknown" : "none"))
      select(remote, side: "remote")
    case .iceServerError(let server, let url, let code, let reason):
      trace.write(PeerConnectionEvents.serverError, subject, server, code, reason, url)
    case .dtlsFailed(let reason): trace.write(PeerConnectionEvents.dtlsFailed, subject, reason)
    }
  }

  /// Writes the first states of the connection: the one before has left others.
  mutating func begin() {
    for machine in CommonVocabulary.machines {
      guard let initial = machine.states.first else { continue }
      change(machine.name, to: initial.name)
    }
  }

  /// Writes the states of a closed connection, of which no event tells the application (W3C `close`).
  mutating func close() {
    for machine in ["signaling.state", "ice.state", "connection.state"] { change(machine, to: "closed") }
    // There is no transport before a description was applied.
    if let state = states["dtls.state"], state != "new" { change("dtls.state", to: "closed") }
  }

  private mutating func change(_ machine: String, to state: String) {
    let from = states.updateValue(state, forKey: machine) ?? (machine == "signaling.state" ? "stable" : "new")
    guard state != from || state != "closed" else { return }
    trace.write(PeerConnectionEvents.state(machine), subject, state, from)
  }

  private func select(_ candidate: CandidateSummary, side: String) {
    let values = [
      ("candidateType", candidate.candidateType), ("address", "\(candidate.endpoint.address)"),
      ("protocol", "udp"), ("networkType", candidate.networkType),
    ]
    for (member, value) in values { select("\(side).\(member)", value) }
    trace.write(PeerConnectionEvents.selectedPort(side), subject, Int(candidate.endpoint.port))
  }

  private func select(_ member: String, _ word: String) {
    let event = PeerConnectionEvents.selected(member)
    guard let declaration = CommonVocabulary.value(event.name) else {
      preconditionFailure("value '\(event.name)' is not declared")
    }
    precondition(declaration.type.admits(word), "'\(word)' is no value of '\(event.name)': it is \(declaration.type)")
    trace.write(event, subject, word)
  }
}
