public import Formats

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
  /// The fields and their members, each by its path in the message, such as `ice.candidates.candidate`.
  public let everyField: [MessageField]
  /// The meaning of the message for a call, or nil.
  public let role: Role?
  /// Whether the server passes a message that goes both ways on to another client; else each way has messages of its
  /// own.
  public let isRelayed: Bool

  /// Declares a message.
  public init(
    _ name: String, _ direction: Direction, _ summary: String, provenance: Provenance, fields: [MessageField]? = nil,
    as role: Role? = nil, isRelayed: Bool = true
  ) {
    self.name = name
    self.direction = direction
    self.summary = summary
    self.provenance = provenance
    self.fields = fields
    everyField = (fields ?? []).flatMap(\.withMembers)
    self.role = role
    self.isRelayed = isRelayed && direction == .both
  }

  /// Returns the field or member at that path, or else the first with that role.
  public func field(_ pathOrRole: String) -> MessageField? {
    everyField.first { $0.name == pathOrRole } ?? everyField.first { $0.role?.rawValue == pathOrRole }
  }

  /// Returns the first field or member with a role.
  public func field(_ role: MessageField.Role) -> MessageField? { everyField.first { $0.role == role } }

  /// Returns the values of a message in its first field or member with a role.
  public func values(of role: MessageField.Role, in message: MessageContent) -> [JSON] {
    field(role).map { message.values(at: $0.name) } ?? []
  }

  // MARK: Checks

  /// Returns the first difference between a message and this declaration, in words; nil if there is none.
  ///
  /// - Parameter direction: ``Direction/clientToServer`` or ``Direction/serverToClient``.
  public func problem(with message: MessageContent, going direction: Direction) -> String? {
    guard self.direction.includes(direction) else {
      return "it goes \(direction.words), and is declared to go \(self.direction.words)"
    }
    return fields.flatMap { Self.problem(with: message.fields, as: $0, in: "", going: direction) }
  }

  private static func problem(
    with members: [JSON.Member], as fields: [MessageField], in path: String, going direction: Direction
  ) -> String? {
    for field in fields where field.direction.includes(direction) {
      let name = path + field.name
      guard let value = members.first(where: { $0.key == field.name })?.value, value != .null else {
        if field.isRequired { return "the field '\(name)' is missing" }
        continue
      }
      if !field.type.admits(value) { return "the field '\(name)' is no \(field.type.word)" }
      guard !field.members.isEmpty else { continue }
      for element in value.array ?? [value] {
        guard case .object(let own) = element else { return "the field '\(name)' holds something that is no object" }
        if let problem = problem(with: own, as: field.members, in: name + ".", going: direction) { return problem }
      }
    }
    for member in members {
      guard let field = fields.first(where: { $0.name == member.key }) else {
        return "the field '\(path)\(member.key)' is not declared"
      }
      if !field.direction.includes(direction) {
        return "the field '\(path)\(field.name)' goes \(field.direction.words) only"
      }
    }
    return nil
  }

  /// The contradictions within the declaration.
  var misfits: [Misfit] { misfits(of: fields ?? [], in: "", going: direction) }

  /// - Parameter way: the direction of the message, or of the object that has the fields.
  private func misfits(of fields: [MessageField], in path: String, going way: Direction) -> [Misfit] {
    var all = ProfileVocabulary.repeated(fields.map(\.name)).map {
      Misfit(.field(path + $0, of: name), "it is declared twice", remedy: "leave one of the two out")
    }
    all += ProfileVocabulary.repeated(fields.compactMap(\.role?.rawValue)).map { role in
      let names = fields.filter { $0.role?.rawValue == role }.map { path + $0.name }.joined(separator: " and ")
      return Misfit(.message(name), "\(names) have one role, \(role)", remedy: "leave it to one of them")
    }
    for field in fields {
      all += misfits(of: field, in: path, going: way).map {
        Misfit(.field(path + field.name, of: name), $0.problem, remedy: $0.remedy)
      }
      let own = field.direction == .both ? way : field.direction
      all += misfits(of: field.members, in: "\(path)\(field.name).", going: own)
    }
    return all
  }

  private func misfits(
    of field: MessageField, in path: String, going way: Direction
  ) -> [(problem: String, remedy: String)] {
    var all: [(problem: String, remedy: String)] = []
    if let role = field.role, !role.types.contains(field.type) {
      let words = role.types.map { ".\($0)" }.joined(separator: " or ")
      all.append(("a \(field.type.word) cannot be its \(role.rawValue)", "give it the type \(words)"))
    }
    if field.role == .sender, !path.isEmpty {
      all.append(("the sender is within an object", "declare the sender beside the object"))
    }
    if !field.members.isEmpty, ![.object, .list].contains(field.type) {
      all.append(("a \(field.type.word) has no members", "give it the type .object or .list"))
    }
    if field.name.contains(".") {
      all.append(("its name has a dot, which joins the names of a path", "declare it as a member of an object"))
    }
    if way != .both, field.direction != .both, field.direction != way {
      let owner = path.isEmpty ? "message" : "object"
      all.append(("it goes \(field.direction.words), where the \(owner) does not", "leave its direction out"))
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
