internal import VirtualPeer
internal import Vocabulary

/// The messages between app and server: JSON objects, each with its type.
enum VonageWire {
  /// Reads a message; nil for a text that is none.
  static func message(_ text: String) -> MessageContent? {
    (try? JSON(parsing: text.utf8)).flatMap(MessageContent.init(typed:))
  }

  static func text(_ message: MessageContent) -> String { message.typedJSON.description }
}
