internal import CallCore
public import VirtualPeer
internal import Vocabulary

/// The SDK of Twilio Video on one device, as an app for iOS uses it: it connects to rooms, and tells their delegates.
///
/// ``TwilioApp`` is written on it, and an app of your own may be. It declares the product's vocabulary
/// (`ProfileVocabulary.app`): states, callbacks, codes and what is published reach the trace from here. What the app
/// shows of its own microphone and camera, `mic.on` and `camera.on`, is the app's to set.
public final class TwilioVideoSDK {
  let environment: PeerEnvironment
  let callbacks: TwilioCallbacks
  let settings: TwilioSettings
  private(set) var room: TwilioRoom?
  private var roomCount = 0
  /// The camera that the app made last.
  weak var camera: TwilioCameraSource?

  /// Creates the SDK of a device; it does nothing before ``start()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    callbacks = TwilioCallbacks(environment)
    settings = TwilioSettings(environment)
  }

  /// Writes that there is no room yet. The app calls it when it starts.
  public func start() {
    let trace = environment.trace
    trace.set("room.sid", "none")
    trace.set("signalling.state", TwilioLink.State.early.rawValue)
    for name in ["mic", "camera"] {
      trace.set("\(name).sent", false)
      trace.set("\(name).published", false)
      trace.set("\(name).sid", "none")
    }
    for name in ["published", "sent", "received"] { trace.set("data-track.\(name)", 0) }
    _ = TwilioRoster(trace, callbacks)
  }

  /// Returns the access token that the app's own server gives it now, for one room.
  public func accessToken(for room: String) -> String {
    TwilioToken.text(
      settings.token, identity: settings.identity, room: room, validFor: settings.tokenTime,
      at: environment.clock.unixSeconds())
  }

  /// Connects to a room.
  ///
  /// - Throws: if the app is in a room already; this SDK has one at a time.
  public func connect(
    options: TwilioConnectOptions, delegate: (any TwilioRoomDelegate)?
  ) throws(ActionError) -> TwilioRoom {
    if let room, !room.isOver { throw ActionError("in a room already") }
    roomCount += 1
    let room = TwilioRoom(options, self, delegate, number: roomCount)
    self.room = room
    room.connect(options)
    return room
  }

  // MARK: The device

  /// The network of the device has changed.
  public func networkChanged() { room?.networkChanged() }

  /// The device or the app's state has changed.
  public func deviceChanged(_ change: DeviceChange) {
    switch change {
    case .audioInterruptionEnded(shouldResume: true), .appState(.active): room?.resumeAudio()
    case .cameraInterrupted: if let camera { camera.delegate?.cameraSourceWasInterrupted(source: camera) }
    case .cameraInterruptionEnded: if let camera { camera.delegate?.cameraSourceInterruptionEnded(source: camera) }
    case .appState(.background): room?.leftForeground()
    case .appState, .audioInterruptionBegan, .audioInterruptionEnded: break
    }
  }

  /// Leaves the room, and calls no delegate any more.
  public func shutDown() {
    callbacks.shutDown()
    if let room, !room.isOver { room.disconnect() }
    room?.unpublishAll()
    room = nil
  }
}

/// What an app says when it connects to a room.
public struct TwilioConnectOptions {
  let token: String
  /// The name of the room.
  public var roomName = ""
  /// The tracks of sound to publish from the beginning.
  public var audioTracks: [TwilioLocalAudioTrack] = []
  /// The tracks of pictures to publish from the beginning.
  public var videoTracks: [TwilioLocalVideoTrack] = []

  /// Creates options with an access token; the closure sets the rest.
  public init(token: String, _ build: (inout TwilioConnectOptions) -> Void = { _ in }) {
    self.token = token
    build(&self)
  }
}

/// An error that a callback brings, by the product's number.
public struct TwilioError: Error, Hashable, Sendable {
  /// The code, as ``TwilioApp/vocabulary`` declares it.
  public let code: String
}

/// What the SDK tells an app of a room. Each callback is an event of its own, later than what caused it.
public protocol TwilioRoomDelegate: AnyObject {
  /// The participant is in the room.
  func roomDidConnect(room: TwilioRoom)
  /// The attempt to connect failed.
  func roomDidFailToConnect(room: TwilioRoom, error: TwilioError)
  /// Signalling or media is lost.
  func roomIsReconnecting(room: TwilioRoom, error: TwilioError)
  /// Both are back.
  func roomDidReconnect(room: TwilioRoom)
  /// The participant is out of the room; without an error if the app has left.
  func roomDidDisconnect(room: TwilioRoom, error: TwilioError?)
  /// Another participant came.
  func participantDidConnect(room: TwilioRoom, participant: TwilioRemoteParticipant)
  /// Another participant is gone.
  func participantDidDisconnect(room: TwilioRoom, participant: TwilioRemoteParticipant)
}

extension TwilioRoomDelegate {
  /// Does nothing.
  public func roomDidConnect(room: TwilioRoom) {}
  /// Does nothing.
  public func roomDidFailToConnect(room: TwilioRoom, error: TwilioError) {}
  /// Does nothing.
  public func roomIsReconnecting(room: TwilioRoom, error: TwilioError) {}
  /// Does nothing.
  public func roomDidReconnect(room: TwilioRoom) {}
  /// Does nothing.
  public func roomDidDisconnect(room: TwilioRoom, error: TwilioError?) {}
  /// Does nothing.
  public func participantDidConnect(room: TwilioRoom, participant: TwilioRemoteParticipant) {}
  /// Does nothing.
  public func participantDidDisconnect(room: TwilioRoom, participant: TwilioRemoteParticipant) {}
}
