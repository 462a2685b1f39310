public import CallCore
public import ICE

/// An occurrence inside a session for traces, key logs and judges; applications do not see it.
public enum SessionObservation: Sendable {
  /// One RTP packet was sent. `prefix` is the first 8 bytes of its payload before protection, so that an observer of
  /// the wire can prove that they never cross it in clear.
  case mediaSent(ssrc: UInt32, byteCount: Int, prefix: UInt64)
  /// One RTP packet was received and authenticated.
  case mediaReceived(ssrc: UInt32, byteCount: Int)
  /// A lost RTP packet was recovered by forward error correction.
  case mediaRecovered(ssrc: UInt32, byteCount: Int)
  /// An RTCP BYE for a source arrived (RFC 3550 section 6.6).
  case remoteBye(ssrc: UInt32)
  /// Something malformed, forged or unexpected arrived and was dropped; `what` is a fixed word.
  case packetDiscarded(what: StaticString, from: Endpoint)
  /// The remote side began to send a DTMF digit (RFC 4733).
  case digitReceived(Character)
  /// An ICE restart began on this side or the peer's.
  case iceRestart(byPeer: Bool)
  /// A connectivity check ended without success; `reason` is a fixed word such as `timeout`.
  case checkFailed(local: Endpoint, remote: Endpoint, reason: StaticString)
  /// Consent to send to an address expired (RFC 7675).
  case consentExpired(remote: Endpoint)
  /// A signalled candidate (`candidate:…` text) cannot be used; nothing is sent to it.
  case remoteCandidateRefused(String, reason: ICECandidateRefusal)
  /// A TURN server granted an allocation (RFC 8656 section 7).
  case turnAllocated(server: Endpoint, relayed: Endpoint, lifetime: Interval)
  /// The estimate of the bandwidth for sending changed, for a reason that is a fixed word; both rates are in bit/s.
  case bandwidthEstimate(reason: String, before: DataRate, after: DataRate)
  /// An NSS key log line, so that captures can be decrypted.
  case keyLog(String)
}
