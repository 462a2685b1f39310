internal import Vocabulary

/// What a server says before the message that lets a client in or back in, for the time after it: that message may be
/// overtaken.
struct EarlyMessages {
  /// More than a server says while one message is late.
  private static let limit = 256
  private var kept: [MessageContent] = []

  var count: Int { kept.count }

  /// Keeps a message. Returns false when there are too many.
  mutating func keep(_ message: MessageContent) -> Bool {
    guard kept.count < Self.limit else { return false }
    kept.append(message)
    return true
  }

  /// Returns what was kept, in order, and forgets it.
  mutating func take() -> [MessageContent] {
    defer { kept = [] }
    return kept
  }
}
