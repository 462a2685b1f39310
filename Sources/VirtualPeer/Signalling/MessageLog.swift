internal import Vocabulary

/// The messages that passed a server, in order: raw messages and mutations take their fields from here.
struct MessageLog {
  /// The messages of one type: the first ones, and the newest.
  private struct Kind {
    var first: [SignallingMessage] = []
    var newest: SignallingMessage?
  }

  /// The number of messages of a type that can be named by their number.
  private static let limit = 256

  private var messages: [String: Kind] = [:]
  /// The first message of each type to each user, in the order in which they came.
  private(set) var firstToEach: [SignallingMessage] = []
  private var callIDs: [JSON] = []
  private var users: [String] = []
  private var candidates: [String: [String]] = [:]

  mutating func record(_ message: SignallingMessage, _ declaration: MessageDeclaration?) {
    for user in [message.from, message.to] {
      if let user, !users.contains(user) { users.append(user) }
    }
    guard let content = message.content else { return }
    var kind = messages[message.type, default: Kind()]
    if kind.first.count < Self.limit { kind.first.append(message) }
    kind.newest = message
    messages[message.type] = kind
    if !firstToEach.contains(where: { $0.type == message.type && $0.to == message.to }) { firstToEach.append(message) }
    if let id = declaration?.field(.callID).flatMap({ content[$0.name] }), callIDs.last != id {
      callIDs.removeAll { $0 == id }
      callIDs.append(id)
    }
    if let sender = message.from, let field = declaration?.field(.candidate)?.name,
      case .string(let candidate)? = content[field], !candidate.isEmpty
    {
      candidates[sender, default: []].append(candidate)
    }
  }

  /// Returns a message of a type: the newest, or the one of this number, counted from 1.
  func message(_ type: String, number: Int? = nil) -> SignallingMessage? {
    guard let kind = messages[type] else { return nil }
    guard let number else { return kind.newest }
    return kind.first.indices.contains(number - 1) ? kind.first[number - 1] : nil
  }

  /// Returns values from outside a message for its mutation: the id of the call before its own, a third user, and the
  /// candidates of its sender.
  func context(of message: SignallingMessage, _ declaration: MessageDeclaration?) -> MessageMutation.Context {
    let own = declaration?.field(.callID).flatMap { message.content?[$0.name] }
    let otherUser = users.last { $0 != message.from && $0 != message.to } ?? "nobody"
    return MessageMutation.Context(
      otherCall: callIDs.last { $0 != own } ?? .string("no-such-call"), otherUser: .string(otherUser),
      candidates: message.from.flatMap { candidates[$0] } ?? [])
  }
}
