public import Formats

/// One field of a signalling message.
public struct MessageField: Sendable {
  public enum FieldType: Hashable, Sendable {
    case string, integer, boolean, object, list
    /// A session description (RFC 8866), and a candidate attribute (RFC 8839): strings.
    case sdp, candidate

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

    /// The value that a text stands for; nil when it stands for none.
    public func value(_ text: String) -> JSON? {
      switch self {
      case .string, .sdp, .candidate: .string(text)
      case .integer: Int64(text).map(JSON.integer)
      case .boolean: ["true": JSON.bool(true), "false": .bool(false)][text]
      case .object, .list: (try? JSON(parsing: text.utf8)).flatMap { admits($0) ? $0 : nil }
      }
    }
  }

  /// What the field is for, whatever the product calls it.
  public enum Role: String, Sendable, CaseIterable {
    case callID = "call-id"
    case sender, addressee
    case description, candidate
    case credential
    /// What tells newer from older messages.
    case revision
    /// What the app alone understands.
    case payload

    var types: [FieldType] {
      switch self {
      case .callID, .sender, .addressee, .credential: [.string, .integer]
      case .description: [.sdp, .string, .object]
      case .candidate: [.candidate, .string, .object]
      case .revision: [.integer, .string]
      case .payload: [.string, .integer, .boolean, .object, .list]
      }
    }
  }

  public let name: String
  public let type: FieldType
  public let role: Role?
  /// The way on which the message has it.
  public let direction: MessageDeclaration.Direction
  public let isRequired: Bool
  public let summary: String

  public init(
    _ name: String, _ type: FieldType, as role: Role? = nil, going direction: MessageDeclaration.Direction = .both,
    required: Bool = true, _ summary: String = ""
  ) {
    self.name = name
    self.type = type
    self.role = role
    self.direction = direction
    isRequired = required
    self.summary = summary
  }
}
