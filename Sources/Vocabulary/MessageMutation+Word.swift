extension MessageMutation {
  /// The words for mutations of one field, which scenarios name beside the word.
  public static let fieldWords = ["missing", "wrong-type", "damaged"]
  /// The words for all mutations of messages.
  public static let words =
    [
      "stale-call-id", "wrong-sender", "wrong-addressee", "stale-revision", "unknown-type", "extra-field",
    ] + fieldWords + DescriptionMutation.allCases.map(\.rawValue) + CandidateMutation.allCases.map(\.rawValue)

  /// The word in scenarios.
  public var word: String {
    switch self {
    case .staleCallID: "stale-call-id"
    case .wrongSender: "wrong-sender"
    case .wrongAddressee: "wrong-addressee"
    case .staleRevision: "stale-revision"
    case .unknownType: "unknown-type"
    case .extraField: "extra-field"
    case .missing: "missing"
    case .wrongType: "wrong-type"
    case .damaged: "damaged"
    case .description(let mutation): mutation.rawValue
    case .candidate(let mutation): mutation.rawValue
    }
  }

  /// The field that scenarios name beside the word; nil for a mutation that finds its field by its role.
  public var fieldName: String? {
    switch self {
    case .missing(let field), .wrongType(let field), .damaged(let field): field
    case .staleCallID, .wrongSender, .wrongAddressee, .staleRevision, .unknownType, .extraField, .description,
      .candidate:
      nil
    }
  }

  /// The role by which the mutation finds its field; nil for one of a named field, or of the whole message.
  public var role: MessageField.Role? {
    switch self {
    case .staleCallID: .callID
    case .wrongSender: .sender
    case .wrongAddressee: .addressee
    case .staleRevision: .revision
    case .description: .description
    case .candidate: .candidate
    case .missing, .wrongType, .damaged, .unknownType, .extraField: nil
    }
  }

  /// Returns the mutation with its field, if it has one, replaced: by the path of a field that was given by its role.
  public func naming(_ name: (String) -> String) -> MessageMutation {
    switch self {
    case .missing(let field): .missing(field: name(field))
    case .wrongType(let field): .wrongType(field: name(field))
    case .damaged(let field): .damaged(field: name(field))
    case .staleCallID, .wrongSender, .wrongAddressee, .staleRevision, .unknownType, .extraField, .description,
      .candidate:
      self
    }
  }

  /// The mutation of a word; nil if there is none, or if it needs a field and has none.
  public init?(word: String, field: String?) {
    switch (word, field) {
    case ("stale-call-id", _): self = .staleCallID
    case ("wrong-sender", _): self = .wrongSender
    case ("wrong-addressee", _): self = .wrongAddressee
    case ("stale-revision", _): self = .staleRevision
    case ("unknown-type", _): self = .unknownType
    case ("extra-field", _): self = .extraField
    case ("missing", let field?): self = .missing(field: field)
    case ("wrong-type", let field?): self = .wrongType(field: field)
    case ("damaged", let field?): self = .damaged(field: field)
    default:
      if let mutation = DescriptionMutation(rawValue: word) {
        self = .description(mutation)
      } else if let mutation = CandidateMutation(rawValue: word) {
        self = .candidate(mutation)
      } else {
        return nil
      }
    }
  }
}
