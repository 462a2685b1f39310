public import Formats

/// A mutation that turns a message into one that no correct peer sends, derived from the declaration alone.
public enum MessageMutation: Hashable, Sendable {
  /// The id of another call, such as an ended one.
  case staleCallID
  /// The id of another user as sender.
  case wrongSender
  case wrongAddressee
  /// A revision older than the last one.
  case staleRevision
  /// An undeclared type.
  case unknownType
  case missing(field: String)
  case wrongType(field: String)
  case damaged(field: String)
  case extraField
  case description(DescriptionMutation)
  case candidate(CandidateMutation)

  /// Values for mutations from outside the message: ids of other calls and users.
  public struct Context: Sendable {
    /// The id of another call; nil if there was none.
    public var otherCall: JSON?
    /// The id of another user.
    public var otherUser: JSON
    /// The candidates that the sender of the message has trickled.
    public var candidates: [String]

    /// Creates a context.
    public init(otherCall: JSON?, otherUser: JSON, candidates: [String] = []) {
      self.otherCall = otherCall
      self.otherUser = otherUser
      self.candidates = candidates
    }
  }
}

extension MessageDeclaration {
  /// Returns every mutation of this message in a direction, in the order of the fields.
  public func mutations(going direction: Direction) -> [MessageMutation] {
    var all: [MessageMutation] = []
    let own = (fields ?? []).filter { $0.direction.includes(direction) }
    for field in own {
      switch field.role {
      case .callID: all.append(.staleCallID)
      case .sender: all.append(.wrongSender)
      case .addressee: all.append(.wrongAddressee)
      case .revision: all.append(.staleRevision)
      case .description where field.type == .sdp: all += DescriptionMutation.allCases.map { .description($0) }
      case .candidate where field.type == .candidate: all += CandidateMutation.allCases.map { .candidate($0) }
      case .description, .candidate, .credential, .payload, nil: break
      }
      if field.isRequired { all.append(.missing(field: field.name)) }
      all += [.wrongType(field: field.name), .damaged(field: field.name)]
    }
    return all + [.unknownType, .extraField]
  }

  /// Returns the mutated message; nil if the message lacks the part to mutate.
  public func mutate(
    _ message: MessageContent, by mutation: MessageMutation, _ context: MessageMutation.Context
  ) -> MessageContent? {
    var changed = message
    func set(_ role: MessageField.Role, _ value: JSON) {
      if let field = field(role), message[field.name] != nil { changed[field.name] = value }
    }
    switch mutation {
    case .staleCallID: if let call = context.otherCall { set(.callID, call) }
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
    case .description(let mutation):
      if let name = field(.description)?.name, case .string(let sdp)? = message[name] {
        changed[name] = .string(mutation.mutate(sdp, candidates: context.candidates))
      }
    case .candidate(let mutation):
      if let name = field(.candidate)?.name, case .string(let text)? = message[name] {
        changed[name] = .string(mutation.mutate(text))
      }
    case .extraField: changed["extra"] = true
    }
    return changed == message ? nil : changed
  }
}
