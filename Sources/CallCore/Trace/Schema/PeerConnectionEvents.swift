/// What happens to a peer connection, below the app.
package enum PeerConnectionEvents {
  package static let signalingState = state("signaling.state")
  package static let gatheringState = state("ice-gathering.state")
  package static let iceState = state("ice.state")
  package static let dtlsState = state("dtls.state")
  package static let connectionState = state("connection.state")
  /// A state of the W3C's.
  package static func state(_ machine: String) -> TraceEvent<String, String> {
    TraceEvent(machine, ("value", String.self), ("from", String.self))
  }

  /// An end of the nominated pair.
  package enum PairEnd: String, CaseIterable, Sendable { case local, remote }
  package static func selectedType(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).candidateType") }
  package static func selectedAddress(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).address") }
  package static func selectedProtocol(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).protocol") }
  package static func selectedNetworkType(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).networkType") }
  /// The last of an end to be written, whatever has changed.
  package static func selectedPort(_ end: PairEnd) -> TraceEvent<Int> {
    TraceEvent("selected.\(end).port", ("value", Int.self))
  }
  /// How the relay at the local end is reached.
  package static let selectedRelayProtocol = selected("relayProtocol")
  private static func selected(_ member: String) -> TraceEvent<String> {
    TraceEvent("selected.\(member)", ("value", String.self))
  }

  package static let negotiationNeeded = TraceEvent("negotiation-needed")
  package static let track = TraceEvent("track", ("mid", String.self))
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
  /// An RTP packet left. `prefix` is the first 8 bytes of its payload before protection; 0 where nobody knows them.
  package static let mediaSent = TraceEvent(
    "media.sent", ("ssrc", UInt32.self), ("bytes", Int.self), ("prefix", UInt64.self))
  /// An RTP packet came and was authenticated.
  package static let mediaReceived = TraceEvent("media.received", ("ssrc", UInt32.self), ("bytes", Int.self))
  /// RTCP BYE (RFC 3550 section 6.6) came.
  package static let bye = TraceEvent("rtcp.bye", ("ssrc", UInt32.self))
  /// Something malformed, forged or unexpected came.
  package static let packetDiscarded = TraceEvent("packet.discarded", ("what", String.self), ("from", Endpoint.self))
  /// What a session wanted to send could not leave the device.
  package static let packetUnsent = TraceEvent("packet.unsent", ("reason", String.self))
}
