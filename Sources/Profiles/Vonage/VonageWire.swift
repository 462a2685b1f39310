internal import VirtualPeer
internal import Vocabulary

/// The messages between app and server: JSON objects, each with its type.
enum VonageWire {
  /// Reads a message; nil for a text that is none.
  static func message(_ text: String) -> MessageContent? {
    guard case .object(let members)? = try? JSON(parsing: text.utf8),
      let type = members.first(where: { $0.key == "type" })?.value.string
    else { return nil }
    return MessageContent(type, members.filter { $0.key != "type" })
  }

  static func text(_ message: MessageContent) -> String {
    JSON.object([JSON.Member("type", .string(message.type))] + message.fields).description
  }
}
