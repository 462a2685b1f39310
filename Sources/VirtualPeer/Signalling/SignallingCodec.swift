package import Vocabulary

/// Decodes and encodes the frames of one server, by the declarations of its profile.
package struct SignallingCodec {
  package let messages: [MessageDeclaration]
  let frame: (String) -> SignallingFrame
  private let text: (MessageContent, String?) -> String
  /// The profile's usual sender field, for messages that declare none.
  private let usualSender: String?

  package init(_ server: any CallServer.Type, messages: [MessageDeclaration]) {
    self.messages = messages
    frame = { server.frame(of: $0) }
    text = { server.text(of: $0, in: $1) }
    usualSender = messages.lazy.compactMap { $0.field(.sender)?.name }.first
  }

  func declaration(of type: String) -> MessageDeclaration? { messages.first { $0.name == type } }

  /// Returns the field with the sender of messages of a type.
  func senderField(of type: String) -> String? { declaration(of: type)?.field(.sender)?.name ?? usualSender }

  /// Decodes a frame for the faults; `sender` is the connection's user, if known.
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

  /// Returns what a receiver reads of a message: a wire may order its fields, or have no form for some.
  func onWire(_ message: MessageContent) -> MessageContent { content(of: text(message, nil)) ?? message }

  /// Decodes a frame; nil if it is not a message.
  func content(of text: String) -> MessageContent? {
    if case .message(let content) = frame(text) { content } else { nil }
  }

  /// Returns the path of a message's field, given its path or its role; nil if the message has no such field.
  func field(_ pathOrRole: String, of message: SignallingMessage) -> String? {
    let path = declaration(of: message.type)?.field(pathOrRole)?.name ?? pathOrRole
    return message.content.map { $0.values(at: path).isEmpty } ?? true ? nil : path
  }

  /// Returns the values of a message in its first field with a role.
  func values(of role: MessageField.Role, in content: MessageContent) -> [JSON] {
    declaration(of: content.type)?.values(of: role, in: content) ?? []
  }

  /// Returns the value of a message for a field of another type of message: that of the same role, or else name.
  func value(for field: MessageField, in message: SignallingMessage) -> JSON? {
    let own = declaration(of: message.type)
    let role = field.role == .payload ? nil : field.role
    let path = role.flatMap { own?.field($0)?.name } ?? field.name
    return message.content?.values(at: path).first
  }

  /// Returns the message with changed content, in the same frame.
  func rewrite(_ message: SignallingMessage, _ change: (inout MessageContent) -> Void) -> SignallingMessage {
    guard var content = message.content else { return message }
    change(&content)
    var changed = message
    changed.content = content
    changed.text = text(content, message.text)
    return changed
  }

  /// Returns the first undeclared part of a message from the profile's app or server; nil if everything is declared.
  func problem(with content: MessageContent, going direction: MessageDeclaration.Direction) -> String? {
    guard !messages.isEmpty else { return nil }
    guard let declaration = declaration(of: content.type) else { return "no message of that type is declared" }
    return declaration.problem(with: content, going: direction)
  }
}
