/// A mutation of the text of a frame, below its messages: no correct peer sends the result.
public enum FrameMutation: String, Hashable, Sendable, CaseIterable {
  /// The first half alone.
  case truncated
  /// No text.
  case empty
  /// The text twice.
  case doubled
  /// Lists nested a thousand times, in place of the body.
  case nested
  /// The text, followed by 64 KiB of spaces.
  case padded

  /// Returns the mutated text.
  public func mutate(_ text: String) -> String {
    switch self {
    case .truncated: String(text.prefix(text.count / 2))
    case .empty: ""
    case .doubled: text + text
    case .nested:
      // What precedes the body names the kind of frame.
      text.prefix { $0 != "[" && $0 != "{" } + String(repeating: "[", count: 1_000)
    case .padded: text + String(repeating: " ", count: 65_536)
    }
  }
}
