/// The state of an app, as its system sees it (UIKit's `UIApplication.State`, and suspension), and its process.
public enum AppState: String, Sendable, CaseIterable, Comparable {
  /// In the foreground, with the user's attention.
  case active
  /// In the foreground, with something over it: a banner, Control Center, the app switcher.
  case inactive
  /// Not visible, and running.
  case background
  /// Not running: its timers stand still, and nobody reads its sockets.
  case suspended
  /// Not running: there is no process.
  case terminated

  private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// Whether one state is nearer to the user than another.
  public static func < (a: AppState, b: AppState) -> Bool { a.depth < b.depth }
}
