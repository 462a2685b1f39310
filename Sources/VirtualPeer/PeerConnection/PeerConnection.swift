public import CallCore
public import ICE
public import PeerSession
public import SCTP
public import SDP
public import Statistics

/// Receives the events of a peer connection.
public protocol PeerConnectionDelegate: AnyObject {
  /// Handles an event. Called from the run loop, never from within a call to the connection. Cases may be added to the
  /// event: a switch over it in another package needs a default.
  func connection(_ connection: any PeerConnection, did event: SessionEvent)
}

/// W3C's `RTCPeerConnection` on a virtual device: the app's interface to any media stack.
///
/// Transceivers are snapshots; a method that changes one takes its id. Errors are those that webrtc-pc defines for the
/// method, by ``SessionError/name``; a stack refuses an unsupported feature with `notSupported`.
public protocol PeerConnection: AnyObject {
  /// The receiver of the connection's events.
  var delegate: (any PeerConnectionDelegate)? { get set }

  // MARK: State

  /// The signalling state (W3C `signalingState`).
  var signalingState: SignalingState { get }
  /// The combined state of ICE and DTLS (W3C `connectionState`).
  var connectionState: ConnectionState { get }
  /// The state of ICE (W3C `iceConnectionState`).
  var iceConnectionState: ICEConnectionState { get }
  /// The state of candidate gathering (W3C `iceGatheringState`).
  var iceGatheringState: ICEGatheringState { get }
  /// The local description with the candidates found so far.
  var localDescription: SessionDescriptionText? { get }
  /// Whether a remote description has been applied.
  var hasRemoteDescription: Bool { get }

  /// Returns the statistics (`getStats`), or the last ones that the stack supplied.
  func statistics() -> StatsReport

  // MARK: Configuration

  /// Sets the ICE configuration (`setConfiguration`). It takes effect at the next gathering: the next offer restarts
  /// ICE.
  func setConfiguration(_ configuration: ICEConfiguration) throws(SessionError)

  // MARK: Tracks

  /// The transceivers that are not stopped, in order of creation (`getTransceivers`).
  var transceivers: [RTPTransceiver] { get }

  /// Sends a track on a transceiver that has never sent, or on a new one (`addTrack`). The first track starts the
  /// device's audio unit.
  @discardableResult
  func addTrack(_ track: MediaStreamTrack) throws(SessionError) -> Transceiver.ID

  /// Adds a transceiver for a track (`addTransceiver`).
  @discardableResult
  func addTransceiver(_ track: MediaStreamTrack, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID

  /// Adds a transceiver for a kind, without a track to send yet (`addTransceiver`). If it receives, the audio is
  /// played.
  @discardableResult
  func addTransceiver(_ kind: MediaKind, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID

  /// Stops a sender's track (`removeTrack`); its transceiver continues to receive.
  func removeTrack(_ sender: Transceiver.ID) throws(SessionError)

  /// Sends another track, or none, without negotiation (`RTCRtpSender.replaceTrack`).
  func replaceTrack(_ track: MediaStreamTrack?, of sender: Transceiver.ID) throws(SessionError)

  /// Returns a sender's parameters (`RTCRtpSender.getParameters`).
  func parameters(of sender: Transceiver.ID) throws(SessionError) -> SendParameters

  /// Sets parameters that ``parameters(of:)`` returned last (`RTCRtpSender.setParameters`).
  func setParameters(_ parameters: SendParameters, of sender: Transceiver.ID) throws(SessionError)

  /// Enables a sender's track, or with nil all present and future tracks (`MediaStreamTrack.enabled`). A disabled track
  /// sends silence.
  func setTrackEnabled(_ enabled: Bool, of sender: Transceiver.ID?)

  /// Enables the received audio tracks (`MediaStreamTrack.enabled` of `RTCRtpReceiver.track`). Disabled ones are played as
  /// silence; nobody else notices.
  ///
  /// - Throws: `notSupported` where a program plays the sound.
  func setReceivedAudioEnabled(_ enabled: Bool) throws(SessionError)

  /// Gives the decoded sound of the received tracks to a sink, 10 ms in each buffer, or with nil to none. It comes before
  /// ``setReceivedAudioEnabled(_:)`` silences it. The sink must not call the connection.
  ///
  /// - Throws: `notSupported` with synthetic media, which have no samples, and where a program plays the sound.
  func setAudioSink(_ sink: ((AudioBuffer) -> Void)?) throws(SessionError)

  /// Records the connection from now on: the pictures that it shows, and the mix of the sound that it sends and plays.
  ///
  /// - Parameters:
  ///   - limit: The bytes of pictures and sound at which the recording fails; nil for none.
  ///   - onFailure: Called once if the recording fails, with the reason.
  /// - Throws: `notSupported` with synthetic media and where a program plays the sound, `invalidState` while another
  ///   recording is in progress and for a format with a problem.
  func startRecording(
    _ format: RecordingFormat, limit: Int?, onFailure: @escaping (String) -> Void
  ) throws(SessionError) -> CallRecording

  /// Sets what a server does with a video that it forwards, where the way to the subscriber does not hold it. No part of
  /// W3C.
  func setForwardingPolicy(_ policy: ForwardingPolicy, of sender: Transceiver.ID) throws(SessionError)

  /// Calls a function with the level of each packet of audio that a transceiver of a server receives, as the sender says
  /// it (RFC 6464). The function must not call the connection. No part of W3C.
  func observeAudioLevels(_ observer: @escaping (Transceiver.ID, AudioLevelIndication) -> Void) throws(SessionError)

  /// Replaces the DTMF tones that a sender has not begun (`RTCDTMFSender.insertDTMF`): digits, letters `A` to `D`, `*`,
  /// `#`, and a comma for a pause of two seconds.
  ///
  /// - Throws: `invalidState` when the sender cannot send digits, `invalidCharacter` for another character.
  func insertDTMF(
    _ tones: String, duration: Interval, interToneGap: Interval, of sender: Transceiver.ID
  ) throws(SessionError)

  /// Returns the tones of a sender that have not begun (`RTCDTMFSender.toneBuffer`).
  func toneBuffer(of sender: Transceiver.ID) -> String

  /// Sets the direction, to hold or resume once negotiated (`RTCRtpTransceiver.direction`).
  func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError)

  /// Restricts offers and answers to these codecs, in order of preference; empty permits all
  /// (`RTCRtpTransceiver.setCodecPreferences`).
  func setCodecPreferences(_ codecs: [CodecCapability], of transceiver: Transceiver.ID) throws(SessionError)

  /// Returns the codecs that can be preferred (`RTCRtpSender.getCapabilities`).
  func codecs(for kind: MediaKind) -> [CodecCapability]

  /// Stops a transceiver permanently (`RTCRtpTransceiver.stop`).
  func stop(_ transceiver: Transceiver.ID) throws(SessionError)

  // MARK: Data channels

  /// The channels that are not closed, in order of creation.
  var dataChannels: [DataChannelSnapshot] { get }

  /// Creates a channel (`createDataChannel`). The first one needs a negotiation.
  func createDataChannel(_ label: String, _ settings: DataChannelInit) throws(SessionError) -> DataChannelID

  /// Sends a message on an open channel (`RTCDataChannel.send`).
  func send(_ message: DataChannelMessage, on channel: DataChannelID) throws(SessionError)

  /// Sets the buffered amount at which an event is reported (`RTCDataChannel.bufferedAmountLowThreshold`).
  func setBufferedAmountLowThreshold(_ threshold: Int, of channel: DataChannelID)

  /// Closes a channel after everything was sent (`RTCDataChannel.close`).
  func closeDataChannel(_ channel: DataChannelID)

  // MARK: Negotiation

  /// Creates an offer of the current transceivers, without applying it (`createOffer`).
  func createOffer() throws(SessionError) -> SessionDescriptionText
  /// Creates an answer to the remote offer, without applying it (`createAnswer`).
  func createAnswer() throws(SessionError) -> SessionDescriptionText
  /// Applies a local description, which starts gathering, or rolls one back (`setLocalDescription`).
  func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError)
  /// Applies a remote description (`setRemoteDescription`).
  func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError)

  /// Adds a remote candidate (`candidate:…`), or with nil the end of candidates (`addIceCandidate`).
  func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError)

  /// Makes the next offer restart ICE (`restartIce`).
  func restartICE()

  /// Closes the connection. No event follows.
  func close()

  /// Handles a change of the device's interfaces or their addresses.
  func updateInterfaces()
}

extension PeerConnection {
  /// Sends the microphone's track.
  @discardableResult
  public func addTrack() throws(SessionError) -> Transceiver.ID { try addTrack(.microphone) }

  /// Adds a transceiver for a track, with the default settings.
  @discardableResult
  public func addTransceiver(_ track: MediaStreamTrack) throws(SessionError) -> Transceiver.ID {
    try addTransceiver(track, TransceiverInit())
  }

  /// Adds a transceiver for a kind, with the default settings.
  @discardableResult
  public func addTransceiver(_ kind: MediaKind) throws(SessionError) -> Transceiver.ID {
    try addTransceiver(kind, TransceiverInit())
  }

  /// Creates a channel with the default settings: reliable and ordered.
  public func createDataChannel(_ label: String) throws(SessionError) -> DataChannelID {
    try createDataChannel(label, DataChannelInit())
  }

  /// Replaces the DTMF tones of a sender, with W3C's default duration and gap.
  public func insertDTMF(_ tones: String, of sender: Transceiver.ID) throws(SessionError) {
    try insertDTMF(tones, duration: .milliseconds(100), interToneGap: .milliseconds(70), of: sender)
  }

  /// Throws `notSupported`, as a connection does that forwards nothing.
  public func setForwardingPolicy(_ policy: ForwardingPolicy, of sender: Transceiver.ID) throws(SessionError) {
    throw .notSupported("forwarding")
  }

  /// Throws `notSupported`, as a connection does that forwards nothing.
  public func observeAudioLevels(
    _ observer: @escaping (Transceiver.ID, AudioLevelIndication) -> Void
  ) throws(SessionError) {
    throw .notSupported("forwarding")
  }

  /// Throws `notSupported`, as a connection does whose sound this process does not have.
  public func setAudioSink(_ sink: ((AudioBuffer) -> Void)?) throws(SessionError) {
    throw .notSupported("a sink for audio")
  }

  /// Throws `notSupported`, as a connection does whose sound this process does not have.
  public func startRecording(
    _ format: RecordingFormat, limit: Int?, onFailure: @escaping (String) -> Void
  ) throws(SessionError) -> CallRecording {
    throw .notSupported("recording")
  }

  /// Enables or disables every track.
  public func setTrackEnabled(_ enabled: Bool) { setTrackEnabled(enabled, of: nil) }
}
