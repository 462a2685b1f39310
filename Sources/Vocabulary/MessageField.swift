public import Formats

/// One field of a signalling message.
public struct MessageField: Sendable {
  /// The type of a field.
  public enum FieldType: Hashable, Sendable {
    case string, integer, boolean, object, list
    /// A session description (RFC 8866) and a candidate attribute (RFC 8839), both as strings.
    case sdp, candidate

    /// Returns whether a value has this type.
    public func admits(_ value: JSON) -> Bool {
      switch (self, value) {
      case (.string, .string), (.sdp, .string), (.candidate, .string): true
      case (.integer, .integer), (.boolean, .bool), (.object, .object), (.list, .array): true
      default: false
      }
    }

    var word: String {
      switch self {
      case .string: "string"
      case .integer: "integer"
      case .boolean: "boolean"
      case .object: "object"
      case .list: "list"
      case .sdp: "session description"
      case .candidate: "candidate"
      }
    }

    /// Returns the value that a text represents; nil if it represents none.
    public func value(_ text: String) -> JSON? {
      switch self {
      case .string, .sdp, .candidate: .string(text)
      case .integer: Int64(text).map(JSON.integer)
      case .boolean: ["true": JSON.bool(true), "false": .bool(false)][text]
      case .object, .list: (try? JSON(parsing: text.utf8)).flatMap { admits($0) ? $0 : nil }
      }
    }
  }

  /// The purpose of the field, independent of its name.
  public enum Role: String, Sendable, CaseIterable {
    case callID = "call-id"
    case sender, addressee
    case description, candidate
    case credential
    /// A value that orders messages by age.
    case revision
    /// Content for the app alone.
    case payload

    var types: [FieldType] {
      switch self {
      case .callID, .sender, .addressee, .credential: [.string, .integer]
      case .description: [.sdp, .string]
      case .candidate: [.candidate, .string]
      case .revision: [.integer, .string]
      case .payload: [.string, .integer, .boolean, .object, .list]
      }
    }
  }

  /// The field's name. In ``MessageDeclaration/everyField`` it is the path of names from the message, joined by dots.
  public let name: String
  /// The field's type.
  public let type: FieldType
  /// The field's purpose, or nil.
  public let role: Role?
  /// The direction in which the message has the field.
  public let direction: MessageDeclaration.Direction
  /// Whether the field must be present.
  public let isRequired: Bool
  /// A description for the documentation.
  public let summary: String
  /// The fields of the object, or of each object in the list; empty if it may hold anything.
  public let members: [MessageField]

  /// Declares a field.
  public init(
    _ name: String, _ type: FieldType, as role: Role? = nil, going direction: MessageDeclaration.Direction = .both,
    required: Bool = true, _ summary: String = "", members: [MessageField] = []
  ) {
    self.name = name
    self.type = type
    self.role = role
    self.direction = direction
    isRequired = required
    self.summary = summary
    self.members = members
  }

  /// The field, and all its members by their paths and with the direction that they have in it.
  var withMembers: [MessageField] {
    [self]
      + members.flatMap(\.withMembers).map { member in
        MessageField(
          "\(name).\(member.name)", member.type, as: member.role,
          going: member.direction == .both ? direction : member.direction, required: member.isRequired, member.summary,
          members: member.members)
      }
  }

  /// A value of the type that says nothing: of an object its required members.
  package var plainValue: JSON {
    switch type {
    case .string, .sdp, .candidate: "x"
    case .integer: 1
    case .boolean: true
    case .object: plainObject
    case .list: members.isEmpty ? [] : [plainObject]
    }
  }

  private var plainObject: JSON {
    .object(members.filter(\.isRequired).map { JSON.Member($0.name, $0.plainValue) })
  }
}
