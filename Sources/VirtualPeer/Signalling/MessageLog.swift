internal import Vocabulary

/// The messages that passed a server, in order: raw messages and mutations take their fields from here.
struct MessageLog {
  /// The messages of one type: the first ones, and the newest.
  private struct Kind {
    var first: [SignallingMessage] = []
    var newest: SignallingMessage?
  }

  /// An end of peer connections: a user, or a server towards one user.
  private enum End: Hashable {
    case user(String)
    case server(to: String?)

    init(sending message: SignallingMessage) {
      self = message.from.map { .user($0) } ?? .server(to: message.to)
    }
  }

  /// The number of messages of a type that can be named by their number.
  private static let limit = 256

  private var messages: [String: Kind] = [:]
  /// The first message of each type to each user, in the order in which they came.
  private(set) var firstToEach: [SignallingMessage] = []
  /// The calls in the order in which their ids came up, with the users of their messages.
  private var calls: [(id: JSON, users: Set<String>)] = []
  private var users: [String] = []
  /// The candidates of each end, with the call that they are for.
  private var candidates: [End: [(call: JSON?, text: String)]] = [:]

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
    let call = declaration?.values(of: .callID, in: content).first
    if let call {
      let index = calls.firstIndex { $0.id == call } ?? calls.count
      if index == calls.count { calls.append((call, [])) }
      calls[index].users.formUnion([message.from, message.to].compactMap(\.self))
    }
    var known = candidates[End(sending: message), default: []]
    for case .string(let candidate) in declaration?.values(of: .candidate, in: content) ?? []
    // Some products repeat all candidates in each message.
    where !candidate.isEmpty && !known.contains(where: { $0.call == call && $0.text == candidate }) {
      known.append((call, candidate))
    }
    candidates[End(sending: message)] = known
  }

  /// Returns a message of a type: the newest, or the one of this number, counted from 1.
  func message(_ type: String, number: Int? = nil) -> SignallingMessage? {
    guard let kind = messages[type] else { return nil }
    guard let number else { return kind.newest }
    return kind.first.indices.contains(number - 1) ? kind.first[number - 1] : nil
  }

  /// Returns values from outside a message for its mutation: the id of an earlier call of one of its users, a third
  /// user, and the candidates of its sender for its call, and for the ICE generation of its description where they name
  /// theirs (RFC 8838 section 11.3).
  func context(of message: SignallingMessage, _ declaration: MessageDeclaration?) -> MessageMutation.Context {
    func value(of role: MessageField.Role) -> JSON? {
      message.content.flatMap { declaration?.values(of: role, in: $0).first }
    }
    let own = value(of: .callID)
    let otherUser = users.last { $0 != message.from && $0 != message.to } ?? "nobody"
    let users = Set([message.from, message.to].compactMap(\.self))
    let earlier = calls.prefix { $0.id != own }.last { !$0.users.isDisjoint(with: users) }
    let known = candidates[End(sending: message)] ?? []
    let description = value(of: .description)?.string
    return MessageMutation.Context(
      otherCall: earlier?.id, otherUser: .string(otherUser),
      candidates: known.filter { own == nil || $0.call == nil || $0.call == own }.map(\.text)
        .filter { Self.isOfGeneration($0, description: description) })
  }

  /// Returns whether a candidate may belong to a description, by their `ufrag`s (RFC 8839 section 5.4).
  private static func isOfGeneration(_ candidate: String, description: String?) -> Bool {
    let words = candidate.split(separator: " ")
    guard let description, let index = words.lastIndex(of: "ufrag"), words.indices.contains(index + 1) else {
      return true
    }
    let fragments = description.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("a=ice-ufrag:") }
    return fragments.isEmpty || fragments.contains { $0.dropFirst("a=ice-ufrag:".count) == words[index + 1] }
  }
}
