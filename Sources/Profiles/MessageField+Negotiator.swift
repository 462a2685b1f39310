internal import Vocabulary

/// The fields of messages between two ``Negotiator``s.
extension MessageField {
  /// Returns the field of a description.
  static func description(required: Bool) -> MessageField {
    MessageField(
      "description", .object, required: required,
      members: [
        MessageField("type", .string, "`offer` or `answer`"), MessageField("sdp", .sdp, as: .description),
        MessageField("revision", .integer, as: .revision, "that of the exchange"),
      ])
  }

  /// The field of all candidates so far.
  static let ice = MessageField(
    "ice", .object, required: false,
    members: [
      MessageField(
        "candidates", .list,
        members: [MessageField("candidate", .candidate, as: .candidate), MessageField("mid", .string)]),
      MessageField("revision", .integer, as: .revision, "the number of candidates"),
    ])
}
