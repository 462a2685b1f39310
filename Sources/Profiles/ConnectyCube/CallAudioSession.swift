internal import VirtualPeer
internal import Vocabulary

/// The audio session of the SDK: an app initializes it before every call, and deinitializes it after.
public final class CallAudioSession {
  private let device: Device
  private let mode: AudioSession.Mode
  private let options: AudioSession.Options
  /// Whether it activates the audio session, which with CallKit the system does.
  private let activates: Bool
  /// The configuration before the call.
  private var former: AudioSession?

  init(_ device: Device, _ settings: ConnectyCubeSettings) {
    self.device = device
    mode = settings.audioMode
    options = settings.allowsAirPlay ? [.duckOthers, .allowAirPlay] : .duckOthers
    activates = settings.callKit == nil
  }

  /// Whether it is initialized.
  public var isInitialized: Bool { former != nil }

  /// Configures the device's audio session for calls, and activates it.
  public func initialize() {
    if former == nil { former = device.audioSession }
    device.configureAudioSession(category: .playAndRecord, mode: mode, options: options)
    if activates { device.setAudioSessionActive(true) }
  }

  /// Puts back what was there before.
  public func deinitialize() {
    guard let former else { return }
    self.former = nil
    device.setAudioSessionActive(false)
    device.configureAudioSession(category: former.category, mode: former.mode, options: former.options)
  }

  /// Takes the audio again after an interruption.
  public func resume() { if isInitialized, activates { device.resumeAudioSession() } }
}
