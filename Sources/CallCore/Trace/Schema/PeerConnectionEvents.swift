/// Events of a peer connection, below the app.
package enum PeerConnectionEvents {
  package static let signalingState = state("signaling.state")
  package static let gatheringState = state("ice-gathering.state")
  package static let iceState = state("ice.state")
  package static let dtlsState = state("dtls.state")
  package static let connectionState = state("connection.state")
  /// Returns the event of a W3C state.
  package static func state(_ machine: String) -> TraceEvent<String, String> {
    TraceEvent(machine, ("value", String.self), ("from", String.self))
  }

  /// An end of the nominated pair.
  package enum PairEnd: String, CaseIterable, Sendable { case local, remote }
  package static func selectedType(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).candidateType") }
  package static func selectedAddress(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).address") }
  package static func selectedProtocol(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).protocol") }
  package static func selectedNetworkType(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).networkType") }
  /// Returns the port of an end, which is always written last of the end's values.
  package static func selectedPort(_ end: PairEnd) -> TraceEvent<Int> {
    TraceEvent("selected.\(end).port", ("value", Int.self))
  }
  /// The transport to the relay at the local end.
  package static let selectedRelayProtocol = selected("relayProtocol")
  private static func selected(_ member: String) -> TraceEvent<String> {
    TraceEvent("selected.\(member)", ("value", String.self))
  }

  package static let negotiationNeeded = TraceEvent("negotiation-needed")
  package static let track = TraceEvent("track", ("mid", String.self))
  package static let forwardingPaused = TraceEvent("forwarding.paused", ("isPaused", Bool.self))
  package static let trackRemoved = TraceEvent("track.removed", ("mid", String.self))
  package static let trackMuted = TraceEvent("track.muted", ("mid", String.self))
  package static let trackUnmuted = TraceEvent("track.unmuted", ("mid", String.self))
  package static let trackEnded = TraceEvent("track.ended", ("mid", String.self))

  /// A local candidate, or `end-of-candidates`.
  package static let candidate = TraceEvent("ice.candidate", ("candidate", String.self))
  package static let candidateRemoved = TraceEvent("ice.candidate-removed", ("candidate", String.self))
  /// A remote candidate that is not checked.
  package static let candidateRefused = TraceEvent(
    "ice.candidate-refused", ("candidate", String.self), ("reason", String.self))
  /// `by` is `self` or `peer`.
  package static let restart = TraceEvent("ice.restart", ("by", String.self))
  package static let checkFailed = TraceEvent(
    "ice.check-failed", ("local", Endpoint.self), ("remote", Endpoint.self), ("reason", String.self))
  /// `code` is the STUN error code, 701 for silence (W3C `icecandidateerror`).
  package static let serverError = TraceEvent(
    "ice.server-error", ("server", Endpoint.self), ("code", Int.self), ("reason", String.self), ("url", String.self))
  /// Consent to send has expired (RFC 7675).
  package static let consentExpired = TraceEvent("consent.expired", ("remote", Endpoint.self))
  package static let turnAllocated = TraceEvent(
    "turn.allocated", ("server", Endpoint.self), ("relayed", Endpoint.self), ("lifetime", Interval.self))
  package static let dtlsFailed = TraceEvent("dtls.failed", ("reason", String.self))

  package static let tlsEstablished = TraceEvent(
    "tls.established", ("remote", Endpoint.self), ("version", String.self), ("cipher", String.self))
  package static let tlsFailed = TraceEvent("tls.failed", ("remote", Endpoint.self), ("reason", String.self))

  package static let firstMediaSent = TraceEvent("media.first-sent")
  /// An RTP packet was sent. `prefix` is the first 8 bytes of its payload before protection; 0 if unknown.
  package static let mediaSent = TraceEvent(
    "media.sent", ("ssrc", UInt32.self), ("bytes", Int.self), ("prefix", UInt64.self))
  /// An RTP packet was received and authenticated.
  package static let mediaReceived = TraceEvent("media.received", ("ssrc", UInt32.self), ("bytes", Int.self))
  /// A lost RTP packet was recovered by forward error correction.
  package static let mediaRecovered = TraceEvent("media.recovered", ("ssrc", UInt32.self), ("bytes", Int.self))
  /// A DTMF tone or pause that the peer sends began; empty when all are over.
  package static let toneChange = TraceEvent("dtmf.tone-change", ("tone", String.self))
  /// The remote side began to send a DTMF digit: all of its digits on the connection, and the new one.
  package static let digits = TraceEvent("dtmf.digits", ("value", String.self), ("digit", String.self))
  /// The estimate of the bandwidth for sending changed; both rates are in bit/s, `reason` is the rule that changed it.
  package static let bandwidthEstimate = TraceEvent(
    "bandwidth.estimate", ("value", Int.self), ("from", Int.self), ("reason", String.self))
  /// An RTCP BYE (RFC 3550 section 6.6) was received.
  package static let bye = TraceEvent("rtcp.bye", ("ssrc", UInt32.self))
  /// A malformed, forged or unexpected packet was received.
  package static let packetDiscarded = TraceEvent("packet.discarded", ("what", String.self), ("from", Endpoint.self))
  /// The content of a discarded packet that came on a stream after its session had closed it.
  package static let lateData = "data on a closed connection"
  /// The content of a discarded packet that came before the keys of its connection.
  package static let mediaBeforeKeys: StaticString = "media-before-keys"
  /// A packet of a session could not leave the device.
  package static let packetUnsent = TraceEvent("packet.unsent", ("reason", String.self))
}
