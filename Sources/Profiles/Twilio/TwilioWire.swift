internal import VirtualPeer
internal import Vocabulary

/// The frames of a link (TCMP 2), and the bodies that they carry (RSP 2), as JSON texts.
enum TwilioWire {
  /// The frames that are no body.
  static let frames = ["hello", "welcome", "busy", "bad", "heartbeat", "bye", "rest"]

  /// Reads the message in a frame; nil for a text that is none.
  static func message(_ text: String) -> MessageContent? {
    guard let frame = try? JSON(parsing: text.utf8), let type = frame["type"]?.string else { return nil }
    guard type == "msg" else { return content(of: frame) }
    return frame["body"].flatMap(content)
  }

  private static func content(of json: JSON) -> MessageContent? {
    guard case .object(let members) = json, let type = json["type"]?.string else { return nil }
    return MessageContent(type, members.filter { $0.key != "type" })
  }

  /// Writes a message as a frame, a body inside `msg`.
  static func text(_ message: MessageContent) -> String {
    let body = JSON.object([JSON.Member("type", .string(message.type))] + message.fields)
    guard !frames.contains(message.type) else { return body.description }
    return JSON.object([JSON.Member("type", "msg"), JSON.Member("body", body)]).description
  }
}
