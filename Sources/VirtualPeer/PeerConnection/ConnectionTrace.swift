internal import CallCore
internal import CallSession
internal import DTLS
internal import ICE
internal import SDP

/// Writes a session's events into the trace under the names scenarios use.
struct ConnectionTrace {
  private let trace: Trace
  private let subject: TraceSubject
  private let keyLog: ((String) -> Void)?
  private let mediaSent: TraceKind
  private let mediaReceived: TraceKind
  private let discarded: TraceKind
  private let firstSent: TraceKind
  private var hasSentMedia = false
  private var states: [String: String] = [:]

  init(trace: Trace, peer: String, keyLog: ((String) -> Void)?) {
    self.trace = trace
    self.keyLog = keyLog
    subject = trace.subject(peer)
    firstSent = trace.declare("media.first-sent")
    mediaSent = trace.declare(
      "media.sent", TraceField("ssrc", .integer), TraceField("bytes", .integer), TraceField("prefix", .integer))
    mediaReceived = trace.declare("media.received", TraceField("ssrc", .integer), TraceField("bytes", .integer))
    discarded = trace.declare("packet.discarded", TraceField("what", .symbol), TraceField("from", .endpoint))
  }

  /// - Returns: whether the event is also for the delegate; per-packet events are not.
  mutating func write(_ event: SessionEvent) -> Bool {
    switch event {
    case .mediaSent(let ssrc, let byteCount, let prefix):
      if !hasSentMedia { trace.write(firstSent, subject) }
      hasSentMedia = true
      trace.write(mediaSent, subject, .integer(ssrc), .integer(byteCount), .integer(prefix))
      return false
    case .mediaReceived(let ssrc, let byteCount):
      trace.write(mediaReceived, subject, .integer(ssrc), .integer(byteCount))
      return false
    case .packetDiscarded(let what, let from):
      trace.write(discarded, subject, trace.value("\(what)"), trace.value(from))
      return false
    case .keyLog(let line):
      keyLog?(line)
      return false
    case .signalingStateChange(let state): change("signaling.state", to: state.rawValue)
    case .iceGatheringStateChange(let state): change("ice-gathering.state", to: state.rawValue)
    case .iceConnectionStateChange(let state): change("ice.state", to: state.rawValue)
    case .dtlsStateChange(let state): change("dtls.state", to: state.rawValue)
    case .connectionStateChange(let state): change("connection.state", to: state.rawValue)
    case .iceCandidate(let text, _, _): write("ice.candidate", [("candidate", text ?? "end-of-candidates")])
    case .iceCandidatesRemoved(let candidates):
      for candidate in candidates { write("ice.candidate-removed", [("candidate", candidate)]) }
    // Nobody in the simulator has a name by multicast.
    case .nameResolutionNeeded: return false
    case .negotiationNeeded: write("negotiation-needed", [])
    case .track(let mid): write("track", [("mid", mid)])
    case .removeTrack(let mid): write("track.removed", [("mid", mid)])
    case .mute(let mid): write("track.muted", [("mid", mid)])
    case .unmute(let mid): write("track.unmuted", [("mid", mid)])
    case .ended(let mid): write("track.ended", [("mid", mid)])
    case .selectedCandidatePairChange(let local, let remote):
      select(local, side: "local")
      set("selected.relayProtocol", local.relayProtocol ?? (local.candidateType == "relay" ? "unknown" : "none"))
      select(remote, side: "remote")
    case .iceRestart(let byPeer): write("ice.restart", [("by", byPeer ? "peer" : "self")])
    case .checkFailed(let local, let remote, let reason):
      let kind = trace.declare(
        "ice.check-failed", TraceField("local", .endpoint), TraceField("remote", .endpoint),
        TraceField("reason", .symbol))
      trace.write(kind, subject, trace.value(local), trace.value(remote), trace.value("\(reason)"))
    case .consentExpired(let remote):
      trace.write(trace.declare("consent.expired", TraceField("remote", .endpoint)), subject, trace.value(remote))
    case .remoteCandidateRefused(let candidate, let reason):
      let kind = trace.declare(
        "ice.candidate-refused", TraceField("candidate", .symbol), TraceField("reason", .symbol))
      trace.write(kind, subject, trace.value(candidate), trace.value(reason.rawValue))
    case .iceServerError(let server, let url, let code, let reason):
      let kind = trace.declare(
        "ice.server-error", TraceField("server", .endpoint), TraceField("code", .integer),
        TraceField("reason", .symbol), TraceField("url", .symbol))
      trace.write(kind, subject, trace.value(server), .integer(code), trace.value(reason), trace.value(url))
    case .turnAllocated(let server, let relayed, let lifetime):
      let kind = trace.declare(
        "turn.allocated", TraceField("server", .endpoint), TraceField("relayed", .endpoint),
        TraceField("lifetime", .interval))
      trace.write(kind, subject, trace.value(server), trace.value(relayed), .interval(lifetime))
    case .streamUnneeded, .socketNeeded, .socketUnneeded: return false
    case .dtlsFailed(let reason): write("dtls.failed", [("reason", reason)])
    case .remoteBye(let ssrc):
      trace.write(trace.declare("rtcp.bye", TraceField("ssrc", .integer)), subject, .integer(ssrc))
    }
    return true
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
    let kind = trace.declare(machine, TraceField("value", .symbol), TraceField("from", .symbol))
    let from = states.updateValue(state, forKey: machine) ?? (machine == "signaling.state" ? "stable" : "new")
    guard state != from || state != "closed" else { return }
    trace.write(kind, subject, trace.value(state), trace.value(from))
  }

  private func write(_ name: String, _ fields: [(name: String, value: String)]) {
    switch fields.first {
    case let field?:
      trace.write(trace.declare(name, TraceField(field.name, .symbol)), subject, trace.value(field.value))
    case nil: trace.write(trace.declare(name), subject)
    }
  }

  private func select(_ candidate: CandidateSummary, side: String) {
    let values = [
      ("candidateType", candidate.candidateType), ("address", "\(candidate.endpoint.address)"),
      ("protocol", "udp"), ("networkType", candidate.networkType),
    ]
    for (member, value) in values { set("selected.\(side).\(member)", value) }
    let port = trace.declare("selected.\(side).port", TraceField("value", .integer))
    trace.write(port, subject, .integer(candidate.endpoint.port))
  }

  private func set(_ name: String, _ word: String) {
    guard let declaration = CommonVocabulary.value(name) else { preconditionFailure("value '\(name)' is not declared") }
    precondition(declaration.type.admits(word), "'\(word)' is no value of '\(name)': it is \(declaration.type)")
    trace.write(trace.declare(name, TraceField("value", .symbol)), subject, trace.value(word))
  }
}
