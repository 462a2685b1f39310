import Formats

/// A signalling message type, by the name that faults and puppets use, with its fields.
public struct MessageDeclaration: Sendable {
  /// The direction in which a message goes.
  public enum Direction: String, Sendable {
    case clientToServer, serverToClient, both

    /// Returns whether messages of this direction may go in another.
    public func includes(_ other: Direction) -> Bool { self == .both || self == other }
  }

  /// The meaning of a message for a call, for invariants.
  public enum Role: String, Sendable, CaseIterable {
    /// Ends the call, for whichever side sends it.
    case end
    /// Refuses the call; only the called side may send it.
    case refusal
  }

  /// The message's type.
  public let name: String
  /// The direction of the message.
  public let direction: Direction
  /// A description for the documentation.
  public let summary: String
  /// The source of the fact.
  public let provenance: Provenance
  /// The fields; nil if the profile does not declare them and any fields are valid.
  public let fields: [MessageField]?
  /// The meaning of the message for a call, or nil.
  public let role: Role?

  /// Declares a message.
  public init(
    _ name: String, _ direction: Direction, _ summary: String, provenance: Provenance, fields: [MessageField]? = nil,
    as role: Role? = nil
  ) {
    self.name = name
    self.direction = direction
    self.summary = summary
    self.provenance = provenance
    self.fields = fields
    self.role = role
  }

  /// Returns the field of that name, or else the field with that role.
  public func field(_ nameOrRole: String) -> MessageField? {
    fields?.first { $0.name == nameOrRole } ?? fields?.first { $0.role?.rawValue == nameOrRole }
  }

  /// Returns the field with a role.
  public func field(_ role: MessageField.Role) -> MessageField? { fields?.first { $0.role == role } }

  // MARK: Checks

  /// Returns the first difference between a message and this declaration, in words; nil if there is none.
  ///
  /// - Parameter direction: ``Direction/clientToServer`` or ``Direction/serverToClient``.
  public func problem(with message: MessageContent, going direction: Direction) -> String? {
    guard self.direction.includes(direction) else {
      return "it goes \(direction.words), and is declared to go \(self.direction.words)"
    }
    guard let fields else { return nil }
    for field in fields where field.direction.includes(direction) {
      guard let value = message[field.name], value != .null else {
        if field.isRequired { return "the field '\(field.name)' is missing" }
        continue
      }
      if !field.type.admits(value) { return "the field '\(field.name)' is no \(field.type.word)" }
    }
    for member in message.fields {
      guard let field = fields.first(where: { $0.name == member.key }) else {
        return "the field '\(member.key)' is not declared"
      }
      if !field.direction.includes(direction) {
        return "the field '\(field.name)' goes \(field.direction.words) only"
      }
    }
    return nil
  }

  /// The contradictions within the declaration.
  var misfits: [Misfit] {
    let fields = fields ?? []
    var all = ProfileVocabulary.repeated(fields.map(\.name)).map {
      Misfit(.field($0, of: name), "it is declared twice", remedy: "leave one of the two out")
    }
    all += ProfileVocabulary.repeated(fields.compactMap(\.role?.rawValue)).map { role in
      let names = fields.filter { $0.role?.rawValue == role }.map(\.name).joined(separator: " and ")
      return Misfit(.message(name), "\(names) have one role, \(role)", remedy: "leave it to one of them")
    }
    for field in fields {
      if let role = field.role, !role.types.contains(field.type) {
        let words = role.types.map { ".\($0)" }.joined(separator: " or ")
        let problem = "a \(field.type.word) cannot be its \(role.rawValue)"
        all.append(Misfit(.field(field.name, of: name), problem, remedy: "give it the type \(words)"))
      }
      if direction != .both, field.direction != .both, field.direction != direction {
        let problem = "it goes \(field.direction.words), where the message does not"
        all.append(Misfit(.field(field.name, of: name), problem, remedy: "leave its direction out"))
      }
    }
    return all
  }
}

extension MessageDeclaration.Direction {
  var words: String {
    switch self {
    case .clientToServer: "to the server"
    case .serverToClient: "to clients"
    case .both: "both ways"
    }
  }
}
