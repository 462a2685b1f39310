/// The events of a peer connection, by the names of W3C's event handlers (webrtc-pc, mediacapture-streams).
public enum ConnectionEventName: String, Sendable, CaseIterable {
  case signalingStateChange = "signalingstatechange"
  case iceGatheringStateChange = "icegatheringstatechange"
  case iceCandidate = "icecandidate"
  /// libwebrtc's `onIceCandidatesRemoved`, which W3C does not have.
  case iceCandidatesRemoved = "icecandidatesremoved"
  case iceCandidateError = "icecandidateerror"
  case iceConnectionStateChange = "iceconnectionstatechange"
  case selectedCandidatePairChange = "selectedcandidatepairchange"
  /// Of `RTCDtlsTransport` and `RTCSctpTransport`; ``error`` is of the former and of `RTCDataChannel`.
  case stateChange = "statechange"
  case error
  case connectionStateChange = "connectionstatechange"
  case negotiationNeeded = "negotiationneeded"
  case track
  case removeTrack = "removetrack"
  case mute, unmute, ended
  case dataChannel = "datachannel"
  /// Of `RTCDataChannel`, as the following ones are.
  case open, message, closing, close
  case bufferedAmountLow = "bufferedamountlow"
  /// Of `RTCDTMFSender`.
  case toneChange = "tonechange"
}
