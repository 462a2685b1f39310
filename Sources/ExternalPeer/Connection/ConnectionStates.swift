internal import DTLS
internal import Formats
internal import ICE
internal import PeerSession
internal import SDP

/// The states of a program's peer connection, as far as the program has reported them.
///
/// A successful call changes the signalling state at once. The program's event for the same change may come before or
/// after that; the change is reported once.
struct ConnectionStates {
  private(set) var signaling = SignalingState.stable
  private(set) var connection = ConnectionState.new
  private(set) var ice = ICEConnectionState.new
  private(set) var gathering = ICEGatheringState.new
  private var dtls = DTLSTransportState.new

  mutating func enter(signaling state: SignalingState) -> SessionEvent? {
    guard state != signaling else { return nil }
    signaling = state
    return .signalingStateChange(state)
  }

  /// Applies an event of the program and returns the change; nil if the event changes nothing or is unknown.
  mutating func take(_ event: JSON) -> SessionEvent? {
    let state = event["state"]?.string ?? ""
    switch event["event"]?.string {
    case "signalingstatechange":
      return SignalingState(rawValue: state).flatMap { enter(signaling: $0) }
    case "iceconnectionstatechange":
      return Self.change(&ice, to: ICEConnectionState(rawValue: state), SessionEvent.iceConnectionStateChange)
    case "connectionstatechange":
      return Self.change(&connection, to: ConnectionState(rawValue: state), SessionEvent.connectionStateChange)
    case "icegatheringstatechange":
      return Self.change(&gathering, to: ICEGatheringState(rawValue: state), SessionEvent.iceGatheringStateChange)
    case "dtlsstatechange":
      return Self.change(&dtls, to: DTLSTransportState(rawValue: state), SessionEvent.dtlsStateChange)
    case "icecandidate":
      let text = event["candidate"]?.string.flatMap { $0.isEmpty ? nil : $0 }
      return .iceCandidate(
        text, mid: event["sdpMid"]?.string ?? "0", mLineIndex: Int(clamping: event["sdpMLineIndex"]?.integer ?? 0))
    case "negotiationneeded": return .negotiationNeeded
    case "track":
      return .track(mid: event["mid"]?.string ?? "0", kind: event["kind"]?.string.flatMap(MediaKind.init) ?? .audio)
    default: return nil
    }
  }

  /// Marks the connection as closed: the program reports no further states.
  mutating func close() { (signaling, connection, ice) = (.closed, .closed, .closed) }

  private static func change<State: Equatable>(
    _ state: inout State, to new: State?, _ event: (State) -> SessionEvent
  ) -> SessionEvent? {
    guard let new, new != state else { return nil }
    state = new
    return event(new)
  }
}

extension SignalingState {
  /// Returns the state after a description was applied (webrtc-pc section 4.4.1.5).
  func after(_ kind: SessionDescriptionText.Kind, isLocal: Bool) -> SignalingState {
    switch kind {
    case .offer: isLocal ? .haveLocalOffer : .haveRemoteOffer
    case .pranswer: isLocal ? .haveLocalPranswer : .haveRemotePranswer
    case .answer, .rollback: .stable
    }
  }

  /// Returns whether a local description of the kind may be set (webrtc-pc section 4.4.1.5); false for a rollback. Not
  /// every stack supports rollback, so the program decides.
  func allowsLocal(_ kind: SessionDescriptionText.Kind) -> Bool {
    DescriptionType(rawValue: kind.rawValue).flatMap { next(.local, $0) } != nil
  }
}

/// Detects ICE restarts: the username fragment of the local description changes (RFC 8839 section 4.4.1.1.1).
struct RestartDetector {
  private var local: String?
  private var remoteOfferIsPending = false

  mutating func note(_ remote: SessionDescriptionText) { remoteOfferIsPending = remote.kind == .offer }

  /// - Returns: whether the peer requested the restart; nil if there was none.
  mutating func applied(_ description: SessionDescriptionText, isLocal: Bool) -> Bool? {
    guard description.kind != .rollback, let fragment = Self.fragment(of: description.sdp) else { return nil }
    let before = local
    local = fragment
    guard let before, before != fragment else { return nil }
    return remoteOfferIsPending && description.kind != .offer
  }

  private static func fragment(of sdp: String) -> String? {
    sdp.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=ice-ufrag:") }.map { String($0.dropFirst(12)) }
  }
}
