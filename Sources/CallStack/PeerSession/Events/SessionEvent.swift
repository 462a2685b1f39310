public import CallCore
public import DTLS
public import ICE
public import SCTP
public import SDP

/// W3C `RTCPeerConnectionState`.
public enum ConnectionState: String, Sendable, CaseIterable {
  /// Nothing has begun.
  case new
  /// A transport connects.
  case connecting
  /// Every transport is connected.
  case connected
  /// A transport lost its connection and may get it back.
  case disconnected
  /// A transport failed.
  case failed
  /// The connection was closed.
  case closed
}

/// W3C `RTCIceGatheringState`.
public enum ICEGatheringState: String, Sendable, CaseIterable {
  /// No candidate was gathered yet.
  case new
  /// Candidates are gathered.
  case gathering
  /// All candidates are known.
  case complete
}

/// One side of the selected candidate pair.
public struct CandidateSummary: Hashable, Sendable {
  /// `host`, `srflx`, `prflx` or `relay`.
  public var candidateType: String
  /// The candidate's address and port; the address is unspecified when there is a ``mdnsName``.
  public var endpoint: Endpoint
  /// The name announced in place of a local candidate's address.
  public var mdnsName: String?
  /// The kind of network of a local candidate, as in W3C `RTCNetworkType`.
  public var networkType: String
  /// The protocol to the relay's server: `udp`, `tcp` or `tls`; nil for other types.
  public var relayProtocol: String?

  package init(candidateType: String, endpoint: Endpoint, networkType: String, relayProtocol: String? = nil) {
    self.candidateType = candidateType
    self.endpoint = endpoint
    self.networkType = networkType
    self.relayProtocol = relayProtocol
  }
}

/// An event for the application, one of those of W3C's peer connection and its transports.
public enum SessionEvent: Sendable {
  /// The signalling state changed (W3C `signalingstatechange`).
  case signalingStateChange(SignalingState)
  /// The gathering state changed (W3C `icegatheringstatechange`).
  case iceGatheringStateChange(ICEGatheringState)
  /// A local candidate to trickle (`candidate:…` text), or nil at the end of candidates.
  case iceCandidate(String?, mid: String, mLineIndex: Int)
  /// Announced candidates can no longer be used; only with ``ICEGatheringPolicy/continually`` (libwebrtc's
  /// `onIceCandidatesRemoved`).
  case iceCandidatesRemoved([String])
  /// A STUN or TURN server reported an error or did not answer (W3C `icecandidateerror`): `url` is the server's RFC
  /// 7064 or RFC 7065 URI, and `code` the STUN error code, 701 for no answer.
  case iceServerError(server: Endpoint, url: String, code: Int, reason: String)
  /// The ICE connection state changed (W3C `iceconnectionstatechange`).
  case iceConnectionStateChange(ICEConnectionState)
  /// ICE selected another candidate pair (W3C `selectedcandidatepairchange`).
  case selectedCandidatePairChange(local: CandidateSummary, remote: CandidateSummary)
  /// The DTLS transport's state changed (W3C `statechange` of `RTCDtlsTransport`).
  case dtlsStateChange(DTLSTransportState)
  /// The DTLS transport failed (W3C `RTCDtlsTransport.onerror`).
  case dtlsFailed(reason: String)
  /// The connection state changed (W3C `connectionstatechange`).
  case connectionStateChange(ConnectionState)
  /// An offer is needed (W3C `negotiationneeded`).
  case negotiationNeeded
  /// A remote track begins, or begins again (W3C `track`). It is muted until its first packet.
  case track(mid: String, kind: MediaKind)
  /// The remote side no longer sends its track (W3C `removetrack`).
  case removeTrack(mid: String)
  /// A remote track was muted: it was removed, or its source has sent a BYE (W3C `mute`).
  case mute(mid: String)
  /// The first packet of a muted remote track arrived (W3C `unmute`).
  case unmute(mid: String)
  /// The remote side stopped the transceiver, which ended its track (W3C `ended`).
  case ended(mid: String)
  /// The SCTP transport's state changed (W3C `statechange` of `RTCSctpTransport`).
  case sctpStateChange(SCTPTransportState)
  /// The peer has opened a data channel (W3C `datachannel`); its state follows.
  case dataChannel(DataChannelSnapshot)
  /// A data channel is open, closing or closed (W3C `open`, `closing`, `close`).
  case dataChannelStateChange(DataChannelID, DataChannelState)
  /// A message arrived (W3C `message`).
  case dataChannelMessage(DataChannelID, DataChannelMessage)
  /// The buffered amount has fallen to its threshold (W3C `bufferedamountlow`).
  case dataChannelBufferedAmountLow(DataChannelID)
  /// A data channel will be closed because of an error (W3C `error`).
  case dataChannelError(DataChannelID, reason: String)
  /// A DTMF tone or pause of a sender began; an empty text when all of them are over (W3C `tonechange`).
  case toneChange(String, sender: Transceiver.ID)
  /// The video that a sender of a server forwards was paused, because the way to the subscriber does not hold it, or goes on
  /// (``ForwardingPolicy``).
  case forwardingChange(isPaused: Bool, sender: Transceiver.ID)
}
