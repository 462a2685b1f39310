package import Vocabulary

/// What the frames of one server say, by the declaration of its profile.
package struct SignallingCodec {
  package let messages: [MessageDeclaration]
  let frame: (String) -> SignallingFrame
  private let text: (MessageContent, String?) -> String
  /// What the profile calls the sender, where a message does not say.
  private let usualSender: String?

  package init(_ server: any CallServer.Type, messages: [MessageDeclaration]) {
    self.messages = messages
    frame = { server.frame(of: $0) }
    text = { server.text(of: $0, in: $1) }
    usualSender = messages.lazy.compactMap { $0.field(.sender)?.name }.first
  }

  func declaration(of type: String) -> MessageDeclaration? { messages.first { $0.name == type } }

  /// The field that has the sender of messages of a type.
  func senderField(of type: String) -> String? { declaration(of: type)?.field(.sender)?.name ?? usualSender }

  /// A frame as faults see it; `sender` is known otherwise.
  func message(_ text: String, from sender: String?, to receiver: String?) -> SignallingMessage {
    switch frame(text) {
    case .transport(let word, let introduced):
      return SignallingMessage(type: word, from: sender ?? introduced, to: receiver, text: text)
    case .message(let content):
      let said = senderField(of: content.type).flatMap { content[$0]?.string }
      return SignallingMessage(
        type: content.type, from: sender ?? said, to: receiver, text: text, content: content)
    }
  }

  /// The message's field by its name or by its role; nil when it has none.
  func field(_ nameOrRole: String, of message: SignallingMessage) -> String? {
    guard let content = message.content else { return nil }
    let name = declaration(of: message.type)?.field(nameOrRole)?.name ?? nameOrRole
    return content[name] == nil ? nil : name
  }

  /// The message with its content changed, in the same frame.
  func rewrite(_ message: SignallingMessage, _ change: (inout MessageContent) -> Void) -> SignallingMessage {
    guard var content = message.content else { return message }
    change(&content)
    var changed = message
    changed.content = content
    changed.text = text(content, message.text)
    return changed
  }

  /// What a message of the profile's own app or server has that is not declared; nil when everything is.
  func problem(with content: MessageContent, going direction: MessageDeclaration.Direction) -> String? {
    guard !messages.isEmpty else { return nil }
    guard let declaration = declaration(of: content.type) else { return "no message of that type is declared" }
    return declaration.problem(with: content, going: direction)
  }
}
