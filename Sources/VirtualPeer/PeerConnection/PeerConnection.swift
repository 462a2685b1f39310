public import CallSession
public import ICE
public import SDP

/// Who a peer connection tells what happens.
public protocol PeerConnectionDelegate: AnyObject {
  /// Called from the run loop, never from within a call to the connection.
  func connection(_ connection: any PeerConnection, did event: SessionEvent)
}

/// A W3C-shaped peer connection on a virtual device: what an app has of the media stack, whoever wrote the stack.
public protocol PeerConnection: AnyObject {
  var delegate: (any PeerConnectionDelegate)? { get set }

  // MARK: State

  var signalingState: SignalingState { get }
  var connectionState: ConnectionState { get }
  var iceConnectionState: ICEConnectionState { get }
  var hasRemoteDescription: Bool { get }

  /// The statistics, or those of the last time that the stack gave any.
  func statistics() -> StatsReport

  // MARK: Negotiation

  /// Adds a track of the microphone, and with the first starts the device's audio unit (W3C `addTrack`).
  @discardableResult
  func addAudio() throws(SessionError) -> Transceiver.ID

  /// Adds a transceiver (W3C `addTransceiver`); one that receives plays what comes.
  @discardableResult
  func addAudioTransceiver(direction: MediaDirection) throws(SessionError) -> Transceiver.ID

  /// Ends a sender's track; its transceiver goes on to receive (W3C `removeTrack`).
  func removeAudio(_ sender: Transceiver.ID) throws(SessionError)

  /// Holds or resumes, once negotiated (W3C `direction`).
  func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError)

  /// Ends a transceiver for good (W3C `stop`).
  func stop(_ transceiver: Transceiver.ID) throws(SessionError)

  func createOffer() throws(SessionError) -> SessionDescriptionText
  func createAnswer() throws(SessionError) -> SessionDescriptionText
  func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError)
  func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError)

  /// Adds a remote candidate (`candidate:…`), or with nil says that there are no more.
  func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError)

  /// Makes the next offer restart ICE (W3C `restartIce`).
  func restartICE()

  /// Enables or disables a sender's track, or with nil every one; disabled, silence is sent (W3C `track.enabled`).
  func setAudioEnabled(_ enabled: Bool, of sender: Transceiver.ID?)

  /// Closes everything. No event follows.
  func close()

  /// The device's interfaces came, went or changed their addresses.
  func updateInterfaces()
}

extension PeerConnection {
  /// Enables or disables every track.
  public func setAudioEnabled(_ enabled: Bool) { setAudioEnabled(enabled, of: nil) }
}
