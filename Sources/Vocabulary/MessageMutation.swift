internal import CallCore
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
    for field in everyField where field.direction.includes(direction) {
      all += field.mutationsOfRole
      if field.isRequired { all.append(.missing(field: field.name)) }
      all += [.wrongType(field: field.name), .damaged(field: field.name)]
    }
    // Several objects may have a description or a revision each: one mutation changes all.
    return all.inOrderOfAppearance + [.unknownType, .extraField]
  }

  /// Returns whether a mutation can change a message of this declaration.
  public func admits(_ mutation: MessageMutation) -> Bool {
    if let name = mutation.fieldName { return field(name) != nil }
    return mutation == .unknownType || mutation == .extraField
      || everyField.contains { $0.mutationsOfRole.contains(mutation) }
  }

  /// Returns the mutated message; nil if the message lacks the part to mutate.
  public func mutate(
    _ message: MessageContent, by mutation: MessageMutation, _ context: MessageMutation.Context
  ) -> MessageContent? {
    var changed = message
    func change(_ role: MessageField.Role, _ mutate: (JSON) -> JSON) {
      for field in everyField where field.role == role { changed.replace(at: field.name, with: mutate) }
    }
    switch mutation {
    case .staleCallID: if let call = context.otherCall { change(.callID) { _ in call } }
    case .wrongSender: change(.sender) { _ in context.otherUser }
    case .wrongAddressee: change(.addressee) { _ in context.otherUser }
    case .staleRevision:
      change(.revision) { value in
        switch value {
        case .integer(let number): .integer(number &- 1)
        case .string(let text): .string(text + "-stale")
        case .null, .bool, .number, .array, .object: value
        }
      }
    case .unknownType: changed.type += "-unknown"
    case .missing(let name): changed.replace(at: name) { _ in nil }
    case .wrongType(let name):
      guard let field = field(name) else { return nil }
      let others: [JSON] = [.integer(1), .string("1"), .null]
      changed.replace(at: name) { value in others.first { !field.type.admits($0) && $0 != value } ?? value }
    case .damaged(let name): changed.damage(name)
    case .description(let mutation):
      change(.description) { value in
        value.string.map { .string(mutation.mutate($0, candidates: context.candidates)) } ?? value
      }
    case .candidate(let mutation):
      change(.candidate) { value in value.string.map { .string(mutation.mutate($0)) } ?? value }
    case .extraField: changed["extra"] = true
    }
    return changed == message ? nil : changed
  }
}

extension MessageField {
  /// The mutations that find the field by its role.
  fileprivate var mutationsOfRole: [MessageMutation] {
    switch role {
    case .callID: [.staleCallID]
    case .sender: [.wrongSender]
    case .addressee: [.wrongAddressee]
    case .revision: [.staleRevision]
    case .description where type == .sdp: DescriptionMutation.allCases.map { .description($0) }
    case .candidate where type == .candidate: CandidateMutation.allCases.map { .candidate($0) }
    case .description, .candidate, .credential, .payload, nil: []
    }
  }
}
