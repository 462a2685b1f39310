internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer

/// The participant on this device, in one room. It outlives the room, and then publishes nothing.
public final class TwilioLocalParticipant {
  private weak var room: TwilioRoom?
  /// Who is told what became of publications.
  public weak var delegate: (any TwilioLocalParticipantDelegate)?

  init(_ room: TwilioRoom) { self.room = room }

  /// Publishes a track of sound.
  ///
  /// - Returns: false if the room is over, or has the track.
  @discardableResult
  public func publishAudioTrack(_ track: TwilioLocalAudioTrack) -> Bool { room?.publish(track) ?? false }

  /// Publishes a track of pictures.
  ///
  /// - Returns: false if the room is over, or has the track.
  @discardableResult
  public func publishVideoTrack(_ track: TwilioLocalVideoTrack) -> Bool { room?.publish(track) ?? false }

  /// Gives a publication up.
  ///
  /// - Returns: false if the room is over, or has not the track.
  @discardableResult
  public func unpublishAudioTrack(_ track: TwilioLocalAudioTrack) -> Bool { room?.unpublish(track) ?? false }

  /// Gives a publication up.
  ///
  /// - Returns: false if the room is over, or has not the track.
  @discardableResult
  public func unpublishVideoTrack(_ track: TwilioLocalVideoTrack) -> Bool { room?.unpublish(track) ?? false }
}

/// What the SDK tells an app of its own publications.
public protocol TwilioLocalParticipantDelegate: AnyObject {
  /// The server has given a track a sid.
  func localParticipantDidPublish(participant: TwilioLocalParticipant, track: TwilioLocalTrack)
  /// The server has refused a track, which the room has no more.
  func localParticipantDidFailToPublish(
    participant: TwilioLocalParticipant, track: TwilioLocalTrack, error: TwilioError)
}

extension TwilioLocalParticipantDelegate {
  /// Does nothing.
  public func localParticipantDidPublish(participant: TwilioLocalParticipant, track: TwilioLocalTrack) {}
  /// Does nothing.
  public func localParticipantDidFailToPublish(
    participant: TwilioLocalParticipant, track: TwilioLocalTrack, error: TwilioError
  ) {}
}

/// A local track: what a participant may publish, in one room at a time.
public class TwilioLocalTrack {
  let kind: MediaKind
  /// The name that others know it by.
  public let name: String
  /// Whether it has sound or pictures; a disabled one stays published, with silence or black.
  public var isEnabled: Bool { didSet { if isEnabled != oldValue { changed() } } }
  weak var room: TwilioRoom?
  /// Whether a room has it: it is published, or about to be.
  public var isInRoom: Bool { room != nil }
  /// Whether there is anything to send.
  var isSending: Bool { isEnabled }

  init(_ kind: MediaKind, _ name: String, isEnabled: Bool) {
    self.kind = kind
    self.name = name
    self.isEnabled = isEnabled
  }

  func changed() { room?.changed(self) }
}

/// A track of the microphone.
public final class TwilioLocalAudioTrack: TwilioLocalTrack {
  /// Creates a track of the microphone; nil if the user does not permit recording.
  public init?(_ sdk: TwilioVideoSDK, enabled: Bool = true, name: String) {
    guard sdk.environment.device.settings.mayRecord else { return nil }
    super.init(.audio, name, isEnabled: enabled)
  }
}

/// A track of the camera.
public final class TwilioLocalVideoTrack: TwilioLocalTrack {
  private let source: TwilioCameraSource
  override var isSending: Bool { isEnabled && source.isCapturing }

  /// Creates a track of a camera; nil if the device has no video.
  public init?(source: TwilioCameraSource, enabled: Bool = true, name: String) {
    guard source.sdk.environment.device.settings.hasVideo else { return nil }
    self.source = source
    super.init(.video, name, isEnabled: enabled)
    source.track = self
  }
}

/// What the SDK tells an app of its camera.
public protocol TwilioCameraSourceDelegate: AnyObject {
  /// The system gives no pictures for the time being.
  func cameraSourceWasInterrupted(source: TwilioCameraSource)
  /// The system gives pictures again.
  func cameraSourceInterruptionEnded(source: TwilioCameraSource)
}

/// Why a camera captures nothing.
public enum TwilioCaptureError: Error, Hashable, Sendable {
  /// The device has no camera.
  case noDevice
}

/// The camera of the device as the source of a track.
public final class TwilioCameraSource {
  let sdk: TwilioVideoSDK
  /// The track that was made last of it.
  weak var track: TwilioLocalVideoTrack?
  /// Who is told of interruptions.
  public weak var delegate: (any TwilioCameraSourceDelegate)?
  /// Whether it gives pictures, or would without an interruption.
  public private(set) var isCapturing = false {
    didSet { if isCapturing != oldValue { track?.changed() } }
  }
  /// Whether the system gives no pictures for the time being.
  public var isInterrupted: Bool { sdk.environment.device.cameraInterruption != nil }

  /// Creates a source that does not capture yet.
  public init(_ sdk: TwilioVideoSDK, delegate: (any TwilioCameraSourceDelegate)? = nil) {
    self.sdk = sdk
    self.delegate = delegate
    sdk.camera = self
  }

  /// Captures; the completion comes later, with an error if there is nothing to capture.
  public func startCapture(completion: @escaping (TwilioCaptureError?) -> Void = { _ in }) {
    let device = sdk.environment.device.settings
    isCapturing = device.hasVideo && device.camera != nil
    let error = isCapturing ? nil : TwilioCaptureError.noDevice
    sdk.callbacks.completion { completion(error) }
  }

  /// Captures no more.
  public func stopCapture() { isCapturing = false }
}
