internal import VirtualPeer
internal import Vocabulary

/// The frames of a link (TCMP 2), and the bodies that they carry (RSP 2), as JSON texts.
enum TwilioWire {
  /// The frames that are no body.
  static let frames = ["hello", "welcome", "busy", "bad", "heartbeat", "bye", "rest", "restAnswer"]

  /// Reads the message in a frame; nil for a text that is none.
  static func message(_ text: String) -> MessageContent? {
    guard let frame = try? JSON(parsing: text.utf8), let type = frame["type"]?.string else { return nil }
    guard type == "msg" else { return MessageContent(typed: frame) }
    return frame["body"].flatMap(MessageContent.init(typed:))
  }

  /// Writes a message as a frame, a body inside `msg`.
  static func text(_ message: MessageContent) -> String {
    let body = message.typedJSON
    guard !frames.contains(message.type) else { return body.description }
    return JSON.object([JSON.Member("type", "msg"), JSON.Member("body", body)]).description
  }
}
