/// The state of an app, as its system sees it (UIKit's `UIApplication.State`, and suspension).
public enum AppState: String, Sendable, CaseIterable, Comparable {
  /// In the foreground, with the user's attention.
  case active
  /// In the foreground, with something over it: a banner, Control Center, the app switcher.
  case inactive
  /// Not visible, and running.
  case background
  /// Not running: its timers stand still, and nobody reads its sockets.
  case suspended

  private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// Whether one state is nearer to the user than another.
  public static func < (a: AppState, b: AppState) -> Bool { a.depth < b.depth }
}

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
