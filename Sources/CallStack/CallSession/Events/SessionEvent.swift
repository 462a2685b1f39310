public import CallCore
public import DTLS
public import ICE
public import SDP

/// W3C `RTCPeerConnectionState`.
public enum ConnectionState: String, Sendable, CaseIterable {
  case new, connecting, connected, disconnected, failed, closed
}

/// W3C `RTCIceGatheringState`.
public enum ICEGatheringState: String, Sendable, CaseIterable { case new, gathering, complete }

/// One side of the selected candidate pair.
public struct CandidateSummary: Hashable, Sendable {
  /// `host`, `srflx`, `prflx` or `relay`.
  public var candidateType: String
  /// Without the address when there is a ``concealment``.
  public var endpoint: Endpoint
  /// The name that stands for the address of a local candidate.
  public var concealment: String?
  public var networkType: String
  /// How a relay is reached: `udp`, `tcp` or `tls`; nil for other types.
  public var relayProtocol: String?

  public init(candidateType: String, endpoint: Endpoint, networkType: String, relayProtocol: String? = nil) {
    self.candidateType = candidateType
    self.endpoint = endpoint
    self.networkType = networkType
    self.relayProtocol = relayProtocol
  }
}

/// What a session tells its application: what W3C's peer connection and its transports have events for.
public enum SessionEvent: Sendable {
  case signalingStateChange(SignalingState)
  case iceGatheringStateChange(ICEGatheringState)
  /// A local candidate to trickle (`candidate:…` text), or nil at the end of candidates.
  case iceCandidate(String?, mid: String, mLineIndex: Int)
  /// Candidates that were told are of no use any more; only with ``ICEGatheringPolicy/continually`` (libwebrtc's
  /// `onIceCandidatesRemoved`).
  case iceCandidatesRemoved([String])
  /// Something a TURN or STUN server said or failed to say (W3C `icecandidateerror`): `url` is the server's RFC 7064 or
  /// RFC 7065 URI, and `code` the STUN error code, 701 for silence.
  case iceServerError(server: Endpoint, url: String, code: Int, reason: String)
  case iceConnectionStateChange(ICEConnectionState)
  case selectedCandidatePairChange(local: CandidateSummary, remote: CandidateSummary)
  case dtlsStateChange(DTLSTransportState)
  /// Why the DTLS transport has failed (W3C `RTCDtlsTransport.onerror`).
  case dtlsFailed(reason: String)
  case connectionStateChange(ConnectionState)
  case negotiationNeeded
  /// A remote track begins, or begins again (W3C `track`). It is muted until its first packet.
  case track(mid: String)
  /// The far side no longer sends its track (W3C `removetrack`).
  case removeTrack(mid: String)
  /// Nothing comes of a remote track any more: it was removed, or its source has said goodbye (W3C `mute`).
  case mute(mid: String)
  /// The first packet of a muted remote track has come (W3C `unmute`).
  case unmute(mid: String)
  /// The far side stopped the transceiver: its track is over for good (W3C `ended`).
  case ended(mid: String)
}
