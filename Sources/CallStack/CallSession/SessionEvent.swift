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

/// What a session tells its owner, in order.
public enum SessionEvent: Sendable {
  case signalingStateChange(SignalingState)
  case iceGatheringStateChange(ICEGatheringState)
  /// A local candidate to trickle (`candidate:…` text), or nil at the end of candidates.
  case iceCandidate(String?, mid: String, mLineIndex: Int)
  /// A remote candidate has a name instead of an address: the driver asks for it, and says what it found with
  /// ``CallSession/nameResolved(_:to:at:)``.
  case nameResolutionNeeded(String)
  case iceConnectionStateChange(ICEConnectionState)
  case dtlsStateChange(DTLSTransportState)
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
  case selectedCandidatePairChange(local: CandidateSummary, remote: CandidateSummary)
  /// An ICE restart began on this side or the peer's.
  case iceRestart(byPeer: Bool)
  /// A connectivity check ended without success; `reason` is a fixed word such as `timeout` or `role-conflict`.
  case checkFailed(local: Endpoint, remote: Endpoint, reason: StaticString)
  case consentExpired(remote: Endpoint)
  /// Candidates that were told are of no use any more; only with ``ICEGatheringPolicy/continually`` (libwebrtc's
  /// `onIceCandidatesRemoved`).
  case iceCandidatesRemoved([String])
  /// A signalled candidate (`candidate:…` text) is of no use, and nothing is sent there.
  case remoteCandidateRefused(String, reason: ICECandidateRefusal)
  /// Something a TURN or STUN server said or failed to say (W3C `icecandidateerror`): `url` is the server's RFC 7064 or
  /// RFC 7065 URI, and `code` the STUN error code, 701 for silence.
  case iceServerError(server: Endpoint, url: String, code: Int, reason: String)
  /// The session needs the connection that it used as this path no more: the driver closes it, once what it was given
  /// to send has gone.
  case streamUnneeded(Path)
  /// An ICE restart gathers on sockets of its own, or a TURN server remembers another client at the port of this one
  /// (437, RFC 8656 section 7.4): the driver opens another at the same address, and says where with
  /// ``CallSession/supply(_:for:at:)``. It lives until ``socketUnneeded(_:)``, or until that address is gone.
  case socketNeeded(Endpoint)
  /// Nothing is sent any more from a socket that was opened for ``socketNeeded(_:)``: the driver closes it.
  case socketUnneeded(Endpoint)
  case turnAllocated(server: Endpoint, relayed: Endpoint, lifetime: Interval)
  case dtlsFailed(reason: String)
  /// An NSS key log line, so that captures can be decrypted.
  case keyLog(String)
  /// One RTP packet left. `prefix` is the first 8 bytes of its payload before protection, so that an observer of the
  /// wire can prove that they never cross it in clear.
  case mediaSent(ssrc: UInt32, byteCount: Int, prefix: UInt64)
  /// One RTP packet arrived and was authenticated.
  case mediaReceived(ssrc: UInt32, byteCount: Int)
  /// Something malformed, forged or unexpected arrived and was dropped; `what` is a fixed word.
  case packetDiscarded(what: StaticString, from: Endpoint)
  case remoteBye(ssrc: UInt32)
}

/// A caller's mistake, or a description that cannot be used.
public enum SessionError: Error, Hashable, Sendable {
  /// The W3C `InvalidStateError`: not allowed in the current signalling state.
  case invalidState(String)
  /// The description does not parse or contradicts itself; the text says where.
  case invalidDescription(String)
  case noCommonCodec
  case invalidCandidate(String)
  /// The W3C `InvalidAccessError`: there is no such transceiver.
  case invalidAccess(String)
  /// The W3C `NotSupportedError`.
  case notSupported(String)
}

extension SessionError: CustomStringConvertible {
  /// What is wrong, for people.
  public var description: String {
    switch self {
    case .invalidState(let state): "not allowed in this state: \(state)"
    case .noCommonCodec: "the two sides have no codec in common"
    case .notSupported(let what): "not supported: \(what)"
    case .invalidDescription(let reason), .invalidCandidate(let reason), .invalidAccess(let reason): reason
    }
  }
}

/// W3C `RTCSessionDescription`.
public struct SessionDescriptionText: Hashable, Sendable {
  public enum Kind: String, Sendable { case offer, answer, pranswer, rollback }

  public var kind: Kind
  public var sdp: String

  public init(_ kind: Kind, sdp: String) {
    self.kind = kind
    self.sdp = sdp
  }

  /// Whether no section is accepted, as when there is no codec in common (RFC 9429 section 5.3.1): nothing will ever
  /// flow.
  public var rejectsEverything: Bool {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return false }
    return parsed.media.allSatisfy(\.isRejected)
  }

  /// Why an offer's audio has to be rejected whatever its codecs are; nil when it has not.
  public var obstacle: String? {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return nil }
    let audio = parsed.media.indices.filter { parsed.media[$0].type == "audio" && !parsed.media[$0].isRejected }
    guard let first = audio.first else { return "the offer has no audio section that could be accepted" }
    // RFC 9429 section 5.3.1: without multiplexing of RTCP a section is rejected.
    return audio.contains(where: parsed.multiplexesRTCP) ? nil : "\(JSEPError.missingRTCPMux(mLineIndex: first))"
  }
}
