/// What happens to a peer connection, below the app.
public enum PeerConnectionEvents {
  public static let signalingState = state("signaling.state")
  public static let gatheringState = state("ice-gathering.state")
  public static let iceState = state("ice.state")
  public static let dtlsState = state("dtls.state")
  public static let connectionState = state("connection.state")
  /// A state of the W3C's.
  public static func state(_ machine: String) -> TraceEvent<String, String> {
    TraceEvent(machine, ("value", String.self), ("from", String.self))
  }

  /// An end of the nominated pair.
  public enum PairEnd: String, CaseIterable, Sendable { case local, remote }
  public static func selectedType(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).candidateType") }
  public static func selectedAddress(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).address") }
  public static func selectedProtocol(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).protocol") }
  public static func selectedNetworkType(_ end: PairEnd) -> TraceEvent<String> { selected("\(end).networkType") }
  /// The last of an end to be written, whatever has changed.
  public static func selectedPort(_ end: PairEnd) -> TraceEvent<Int> {
    TraceEvent("selected.\(end).port", ("value", Int.self))
  }
  /// How the relay at the local end is reached.
  public static let selectedRelayProtocol = selected("relayProtocol")
  private static func selected(_ member: String) -> TraceEvent<String> {
    TraceEvent("selected.\(member)", ("value", String.self))
  }

  public static let negotiationNeeded = TraceEvent("negotiation-needed")
  public static let track = TraceEvent("track", ("mid", String.self))
  public static let trackRemoved = TraceEvent("track.removed", ("mid", String.self))
  public static let trackMuted = TraceEvent("track.muted", ("mid", String.self))
  public static let trackUnmuted = TraceEvent("track.unmuted", ("mid", String.self))
  public static let trackEnded = TraceEvent("track.ended", ("mid", String.self))

  /// A local candidate, or `end-of-candidates`.
  public static let candidate = TraceEvent("ice.candidate", ("candidate", String.self))
  public static let candidateRemoved = TraceEvent("ice.candidate-removed", ("candidate", String.self))
  /// A remote candidate that is not checked.
  public static let candidateRefused = TraceEvent(
    "ice.candidate-refused", ("candidate", String.self), ("reason", String.self))
  /// `by` is `self` or `peer`.
  public static let restart = TraceEvent("ice.restart", ("by", String.self))
  public static let checkFailed = TraceEvent(
    "ice.check-failed", ("local", Endpoint.self), ("remote", Endpoint.self), ("reason", String.self))
  /// `code` is the STUN error code, 701 for silence (W3C `icecandidateerror`).
  public static let serverError = TraceEvent(
    "ice.server-error", ("server", Endpoint.self), ("code", Int.self), ("reason", String.self), ("url", String.self))
  /// Consent to send has expired (RFC 7675).
  public static let consentExpired = TraceEvent("consent.expired", ("remote", Endpoint.self))
  public static let turnAllocated = TraceEvent(
    "turn.allocated", ("server", Endpoint.self), ("relayed", Endpoint.self), ("lifetime", Interval.self))
  public static let dtlsFailed = TraceEvent("dtls.failed", ("reason", String.self))

  public static let tlsEstablished = TraceEvent(
    "tls.established", ("remote", Endpoint.self), ("version", String.self), ("cipher", String.self))
  public static let tlsFailed = TraceEvent("tls.failed", ("remote", Endpoint.self), ("reason", String.self))

  public static let firstMediaSent = TraceEvent("media.first-sent")
  /// An RTP packet left. `prefix` is the first 8 bytes of its payload before protection; 0 where nobody knows them.
  public static let mediaSent = TraceEvent(
    "media.sent", ("ssrc", UInt32.self), ("bytes", Int.self), ("prefix", UInt64.self))
  /// An RTP packet came and was authenticated.
  public static let mediaReceived = TraceEvent("media.received", ("ssrc", UInt32.self), ("bytes", Int.self))
  /// RTCP BYE (RFC 3550 section 6.6) came.
  public static let bye = TraceEvent("rtcp.bye", ("ssrc", UInt32.self))
  /// Something malformed, forged or unexpected came.
  public static let packetDiscarded = TraceEvent("packet.discarded", ("what", String.self), ("from", Endpoint.self))
  /// What a session wanted to send could not leave the device.
  public static let packetUnsent = TraceEvent("packet.unsent", ("reason", String.self))
}
