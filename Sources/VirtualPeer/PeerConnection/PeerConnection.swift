public import CallSession
public import ICE
public import SDP
public import Statistics

/// Who a peer connection tells what happens.
public protocol PeerConnectionDelegate: AnyObject {
  /// Called from the run loop, never from within a call to the connection. Cases may be added to the event: a switch over
  /// it in another package needs a default.
  func connection(_ connection: any PeerConnection, did event: SessionEvent)
}

/// W3C's `RTCPeerConnection` on a virtual device: what an app has of the media stack, whoever wrote the stack.
///
/// Transceivers are values of a moment, and what changes one takes its id. Errors are those that webrtc-pc has for the
/// method, by ``SessionError/name``; what a stack does not have it refuses with `notSupported`.
public protocol PeerConnection: AnyObject {
  var delegate: (any PeerConnectionDelegate)? { get set }

  // MARK: State

  var signalingState: SignalingState { get }
  var connectionState: ConnectionState { get }
  var iceConnectionState: ICEConnectionState { get }
  var iceGatheringState: ICEGatheringState { get }
  /// With the candidates found so far.
  var localDescription: SessionDescriptionText? { get }
  var hasRemoteDescription: Bool { get }

  /// `getStats`: the statistics, or those of the last time that the stack gave any.
  func statistics() -> StatsReport

  // MARK: Configuration

  /// `setConfiguration`: takes effect at the next gathering, which the next offer brings with an ICE restart.
  func setConfiguration(_ configuration: ICEConfiguration) throws(SessionError)

  // MARK: Tracks

  /// `getTransceivers`: all that are not stopped, in the order of their making.
  var transceivers: [RTPTransceiver] { get }

  /// `addTrack`: sends a track, on a transceiver that has never sent or on a new one. With the first the device's audio
  /// unit starts.
  @discardableResult
  func addTrack(_ track: MediaStreamTrack) throws(SessionError) -> Transceiver.ID

  /// `addTransceiver` of a track.
  @discardableResult
  func addTransceiver(_ track: MediaStreamTrack, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID

  /// `addTransceiver` of a kind: one that has nothing to send yet. One that receives plays what comes.
  @discardableResult
  func addTransceiver(_ kind: MediaKind, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID

  /// `removeTrack`: ends what a sender sends; its transceiver goes on to receive.
  func removeTrack(_ sender: Transceiver.ID) throws(SessionError)

  /// `RTCRtpSender.replaceTrack`: sends another track, or nothing, without negotiation.
  func replaceTrack(_ track: MediaStreamTrack?, of sender: Transceiver.ID) throws(SessionError)

  /// `RTCRtpSender.getParameters`
  func parameters(of sender: Transceiver.ID) throws(SessionError) -> SendParameters

  /// `RTCRtpSender.setParameters`, with what ``parameters(of:)`` gave last.
  func setParameters(_ parameters: SendParameters, of sender: Transceiver.ID) throws(SessionError)

  /// `MediaStreamTrack.enabled` of a sender's track, or with nil of every one there is and that comes: disabled, silence
  /// is sent.
  func setTrackEnabled(_ enabled: Bool, of sender: Transceiver.ID?)

  /// `RTCRtpTransceiver.direction`: holds or resumes, once negotiated.
  func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError)

  /// `RTCRtpTransceiver.setCodecPreferences`: offers and answers these alone, the most wanted first; none for all.
  func setCodecPreferences(_ codecs: [CodecCapability], of transceiver: Transceiver.ID) throws(SessionError)

  /// `RTCRtpSender.getCapabilities`: the codecs that can be preferred.
  func codecs(for kind: MediaKind) -> [CodecCapability]

  /// `RTCRtpTransceiver.stop`: ends it for good.
  func stop(_ transceiver: Transceiver.ID) throws(SessionError)

  // MARK: Negotiation

  func createOffer() throws(SessionError) -> SessionDescriptionText
  func createAnswer() throws(SessionError) -> SessionDescriptionText
  func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError)
  func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError)

  /// `addIceCandidate`: adds a remote candidate (`candidate:…`), or with nil says that there are no more.
  func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError)

  /// `restartIce`: makes the next offer restart ICE.
  func restartICE()

  /// Closes everything. No event follows.
  func close()

  /// The device's interfaces came, went or changed their addresses.
  func updateInterfaces()
}

extension PeerConnection {
  /// Sends the microphone.
  @discardableResult
  public func addTrack() throws(SessionError) -> Transceiver.ID { try addTrack(.microphone) }

  @discardableResult
  public func addTransceiver(_ track: MediaStreamTrack) throws(SessionError) -> Transceiver.ID {
    try addTransceiver(track, TransceiverInit())
  }

  @discardableResult
  public func addTransceiver(_ kind: MediaKind) throws(SessionError) -> Transceiver.ID {
    try addTransceiver(kind, TransceiverInit())
  }

  /// Enables or disables every track.
  public func setTrackEnabled(_ enabled: Bool) { setTrackEnabled(enabled, of: nil) }
}
