public import Vocabulary

/// What the system tells an app of its device.
public enum DeviceChange: Hashable, Sendable {
  /// The app entered another state. It is not told that it will be suspended.
  case appState(AppState)
  /// Something else has taken the audio session, which is inactive now.
  case audioInterruptionBegan
  /// The audio session is free again; the app may activate it. Not every interruption that begins is told to end.
  case audioInterruptionEnded(shouldResume: Bool)
  /// The camera gives no pictures, because the app is in the background.
  case cameraInterrupted
  /// The camera gives pictures again.
  case cameraInterruptionEnded
}
