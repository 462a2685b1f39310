public import Formats

/// A way to make a message one that no honest peer sends, found from the declaration alone.
public enum MessageMutation: Hashable, Sendable {
  /// It belongs to another call, such as one that is over.
  case staleCallID
  /// Somebody else seems to have sent it.
  case wrongSender
  case wrongAddressee
  /// It is older than what was said before.
  case staleRevision
  /// Its type is one that nobody declared.
  case unknownType
  case missing(field: String)
  case wrongType(field: String)
  case damaged(field: String)
  case extraField

  /// What a mutation takes from elsewhere: ids of other calls and users.
  public struct Context: Sendable {
    public var otherCall: JSON
    public var otherUser: JSON

    public init(otherCall: JSON, otherUser: JSON) {
      self.otherCall = otherCall
      self.otherUser = otherUser
    }
  }
}

extension MessageDeclaration {
  /// Every mutation that this message takes on its way in a direction, in the order of the fields.
  public func mutations(going direction: Direction) -> [MessageMutation] {
    var all: [MessageMutation] = []
    let own = (fields ?? []).filter { $0.direction.includes(direction) }
    for field in own {
      switch field.role {
      case .callID: all.append(.staleCallID)
      case .sender: all.append(.wrongSender)
      case .addressee: all.append(.wrongAddressee)
      case .revision: all.append(.staleRevision)
      case .description, .candidate, .credential, .payload, nil: break
      }
      if field.isRequired { all.append(.missing(field: field.name)) }
      all += [.wrongType(field: field.name), .damaged(field: field.name)]
    }
    return all + [.unknownType, .extraField]
  }

  /// The message as the mutation makes it; nil when it has not what the mutation works on.
  public func mutate(
    _ message: MessageContent, by mutation: MessageMutation, _ context: MessageMutation.Context
  ) -> MessageContent? {
    var changed = message
    func set(_ role: MessageField.Role, _ value: JSON) {
      if let field = field(role), message[field.name] != nil { changed[field.name] = value }
    }
    switch mutation {
    case .staleCallID: set(.callID, context.otherCall)
    case .wrongSender: set(.sender, context.otherUser)
    case .wrongAddressee: set(.addressee, context.otherUser)
    case .staleRevision:
      switch field(.revision).flatMap({ message[$0.name] }) {
      case .integer(let number)?: set(.revision, .integer(number &- 1))
      case .string(let text)?: set(.revision, .string(text + "-stale"))
      default: break
      }
    case .unknownType: changed.type += "-unknown"
    case .missing(let name): changed[name] = nil
    case .wrongType(let name):
      guard let field = field(name), let value = message[name] else { return nil }
      let others: [JSON] = [.integer(1), .string("1"), .null]
      if let other = others.first(where: { !field.type.admits($0) && $0 != value }) { changed[name] = other }
    case .damaged(let name): changed.damage(name)
    case .extraField: changed["extra"] = true
    }
    return changed == message ? nil : changed
  }
}
