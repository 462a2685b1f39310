internal import CallCore
internal import DTLS
internal import Formats
internal import ICE
internal import PeerSession
internal import SDP

extension SessionEvent {
  /// Returns the event of the peer protocol, or nil if the protocol has none.
  func message(timestamp: Double) -> JSON? {
    guard let (name, members) = named else { return nil }
    return .object(
      [
        JSON.Member("event", .string(name)),
        JSON.Member("timestamp", .number((timestamp * 10).rounded() / 10)),
      ] + members)
  }

  private var named: (String, [JSON.Member])? {
    switch self {
    case .signalingStateChange(let state): Self.state("signaling", state.rawValue)
    case .iceGatheringStateChange(let state): Self.state("icegathering", state.rawValue)
    case .iceConnectionStateChange(let state): Self.state("iceconnection", state.rawValue)
    case .connectionStateChange(let state): Self.state("connection", state.rawValue)
    case .dtlsStateChange(let state): Self.state("dtls", state.rawValue)
    case .iceCandidate(let text, let mid, let index):
      (
        "icecandidate",
        [
          JSON.Member("candidate", text.map { .string($0) } ?? .null), JSON.Member("sdpMid", .string(mid)),
          JSON.Member("sdpMLineIndex", .integer(Int64(index))),
        ]
      )
    case .iceServerError(_, let url, let code, let reason):
      (
        "icecandidateerror",
        [
          JSON.Member("url", .string(url)), JSON.Member("errorCode", .integer(Int64(code))),
          JSON.Member("errorText", .string(reason)),
        ]
      )
    case .negotiationNeeded: ("negotiationneeded", [])
    case .track(let mid, let kind):
      ("track", [JSON.Member("mid", .string(mid)), JSON.Member("kind", .string(kind.rawValue))])
    case .selectedCandidatePairChange(let local, let remote):
      ("selectedcandidatepairchange", [JSON.Member("local", local.json), JSON.Member("remote", remote.json)])
    case .dataChannel, .dataChannelStateChange, .dataChannelMessage, .dataChannelBufferedAmountLow: dataChannelEvent
    case .iceCandidatesRemoved, .dtlsFailed, .removeTrack, .mute, .unmute, .ended, .sctpStateChange,
      .dataChannelError, .toneChange, .forwardingChange:
      nil
    }
  }

  private static func state(_ machine: String, _ value: String) -> (String, [JSON.Member]) {
    (machine + "statechange", [JSON.Member("state", .string(value))])
  }
}

extension CandidateSummary {
  fileprivate var json: JSON {
    var members = [
      JSON.Member("candidateType", .string(candidateType)),
      JSON.Member("address", .string(mdnsName ?? "\(endpoint.address)")),
      JSON.Member("port", .integer(Int64(endpoint.port))), JSON.Member("protocol", "udp"),
    ]
    if let relayProtocol { members.append(JSON.Member("relayProtocol", .string(relayProtocol))) }
    return .object(members)
  }
}
