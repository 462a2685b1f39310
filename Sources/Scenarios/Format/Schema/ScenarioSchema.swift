import CallCore
public import Formats
internal import Vocabulary

/// The draft-07 JSON Schema of scenario files, generated from the declarations that the decoder uses.
public struct ScenarioSchema {
  /// Returns the schema as a JSON document, for `callsim schema`.
  ///
  /// - Parameter isShared: whether the schema is for the files of named networks and peers that scenarios use.
  public static func json(registry: ProfileRegistry, isShared: Bool = false) -> JSON {
    var writer = SchemaWriter(registry: registry)
    let root = writer.object(isShared ? ProfileFileDraft.type.shape : DocumentDraft.type.shape)
    let name = isShared ? "use" : "scenario"
    return JSON.object([
      "$schema": .string("http://json-schema.org/draft-07/schema#"),
      "$id": .string("callsim-\(name).v1.schema.json"),
      "title": .string("callsim \(isShared ? "file of named networks and peers" : "scenario"), format version 1"),
    ]).adding(root).adding(["definitions": .object(writer.definitions)])
  }
}

/// Writes shapes; a mapping is written once, under `definitions`.
private struct SchemaWriter {
  let registry: ProfileRegistry
  var definitions: [JSON.Member] = []

  init(registry: ProfileRegistry) { self.registry = registry }

  /// The pattern of `${name}`, which any scalar may contain; its value is checked after substitution.
  private static let variable = "\\$\\{[A-Za-z0-9_/-]+\\}"

  private static func orVariable(_ schema: JSON) -> JSON {
    .object(["anyOf": .array([schema, .object(["type": .string("string"), "pattern": .string(variable)])])])
  }

  mutating func schema(_ shape: Shape) -> JSON {
    switch shape {
    case .flag: return Self.orVariable(.object(["type": .string("boolean")]))
    case .integer(let range):
      return Self.orVariable(
        .object([
          "type": .string("integer"), "minimum": .integer(Int64(range.lowerBound)),
          "maximum": .integer(Int64(range.upperBound)),
        ]))
    case .real: return Self.orVariable(.object(["type": .string("number")]))
    case .quantity(let units):
      return pattern("^[-+]?[0-9]+(\\.[0-9]+)?(\(units.joined(separator: "|")))$|\(Self.variable)")
    case .text: return .object(["type": .string("string")])
    case .pattern(let pattern): return self.pattern("\(pattern)|\(Self.variable)")
    case .choice(let legal):
      return Self.orVariable(.object(["type": .string("string"), "enum": .array(legal.map { .string($0) })]))
    case .constant(let value): return .object(["const": .integer(Int64(value))])
    case .list(let member, let range):
      var list = JSON.object(["type": .string("array"), "items": schema(member)])
      if range.lowerBound > 0 { list = list.adding(["minItems": .integer(Int64(range.lowerBound))]) }
      return list.adding(["maxItems": .integer(Int64(range.upperBound))])
    case .distinct(let list): return schema(list).adding(["uniqueItems": .bool(true)])
    case .named(let member): return .object(["type": .string("object"), "additionalProperties": schema(member)])
    case .mapping(let mapping): return reference(to: mapping)
    case .either(let shapes):
      var distinct: [JSON] = []
      for shape in shapes {
        let schema = schema(shape)
        if !distinct.contains(schema) { distinct.append(schema) }
      }
      return distinct.count == 1 ? distinct[0] : .object(["anyOf": .array(distinct)])
    case .anyScalar:
      return .object(["type": .array(["string", "number", "boolean"].map { .string($0) })])
    }
  }

  private func pattern(_ pattern: String) -> JSON {
    .object(["type": .string("string"), "pattern": .string(pattern)])
  }

  private mutating func reference(to mapping: MappingShape) -> JSON {
    let name = mapping.name.replacing(" ", with: "-")
    if !definitions.contains(where: { $0.key == name }) {
      definitions.append(JSON.Member(name, .null))
      let index = definitions.count - 1
      definitions[index] = JSON.Member(name, object(mapping))
    }
    return .object(["$ref": .string("#/definitions/\(name)")])
  }

  /// Returns the schema of a mapping. A timeline entry may also have the arguments of its effect.
  mutating func object(_ mapping: MappingShape) -> JSON {
    let isEntry = mapping.name == EntryDraft.type.name
    let extra = isEntry ? EntryDraft.effectKeys(registry) : []
    var properties: [JSON.Member] = []
    for key in mapping.keys + extra where !properties.contains(where: { $0.key == key.name }) {
      let summary = key.summary + (key.defaultText.map { " (default: \($0))" } ?? "")
      let schema =
        if let words = closedWords(of: key.name, in: mapping.name) { words } else { self.schema(key.shape) }
      // A $ref hides its siblings in draft-07, so the description is outside of it.
      let described =
        schema["$ref"] == nil
        ? JSON.object(["description": .string(summary)]).adding(schema)
        : JSON.object(["description": .string(summary), "allOf": .array([schema])])
      properties.append(JSON.Member(key.name, described))
    }
    var object = JSON.object([
      "type": .string("object"), "description": .string(mapping.summary), "additionalProperties": .bool(false),
      "properties": .object(properties),
    ])
    // A peer may get required keys from the profile that it uses; other mappings have no such source.
    let required = mapping.keys.filter(\.isRequired).map { JSON.string($0.name) }
    if !required.isEmpty { object = object.adding(["required": .array(required)]) }
    if isEntry { object = object.adding(entryRules) }
    let bounds = ["lt", "lte", "gt", "gte", "eq"]
    if bounds.allSatisfy({ bound in mapping.keys.contains { $0.name == bound } }) {
      object = object.adding(["anyOf": Self.oneOfKeys(bounds)])
    }
    return object
  }

  /// Returns the schema of keys whose words the registered profiles declare.
  private func closedWords(of key: String, in mapping: String) -> JSON? {
    switch (mapping, key) {
    case (EntryDraft.type.name, "do"): actions
    case (ServerDraft.type.name, "kind"): Self.orVariable(Self.words(Topology.Server.Kind.words(in: registry)))
    case ("peer", "profile"), (ServerDraft.type.name, "profile"):
      Self.orVariable(Self.words(registry.vocabularies.map(\.profile)))
    case ("ends", "code"):
      Self.oneOrMany(Self.orVariable(Self.words(registry.vocabularies.flatMap(\.endCodes).map(\.name))))
    default: nil
    }
  }

  private static func words(_ words: [String]) -> JSON {
    .object(["type": .string("string"), "enum": .array(words.map { .string($0) })])
  }

  private static func oneOrMany(_ one: JSON) -> JSON {
    let many = JSON.object([
      "type": .string("array"), "items": one, "minItems": .integer(1), "uniqueItems": .bool(true),
    ])
    return .object(["anyOf": .array([one, many])])
  }

  /// The rules of an entry: one trigger, one effect, and the declared arguments of a fault or an action.
  private var entryRules: JSON {
    let triggers = ["at", "every", "when"].map { JSON.object(["required": .array([.string($0)])]) }
    let after = JSON.object([
      "required": .array([.string("after"), .string("of")]),
      "not": .object(["required": .array([.string("when")])]),
    ])
    let oneTrigger = JSON.object(["oneOf": .array(triggers + [after])])
    let faults: [JSON] = FaultKind.allCases.map { rule(of: $0) }
    let markOrID = JSON.object(["not": .object(["required": .array([.string("mark"), .string("id")])])])
    return JSON.object([
      "oneOf": Self.oneOfKeys(TimelineReader.effects), "allOf": .array([oneTrigger, markOrID] + faults + actionRules),
      "dependencies": JSON.object(["for": .array([.string("fault")]), "refused": .array([.string("do")])]),
    ])
  }

  /// Returns the rule that an entry with this fault has its required arguments and only declared keys.
  private func rule(of fault: FaultKind) -> JSON {
    let declaration = fault.declaration
    let extras: [MappingShape.Key] =
      switch declaration.extras {
      case .none: []
      case .impairments: Topology.Impairments.type.shape.keys
      case .nat: NATDraft.behaviorType.shape.keys
      }
    let names = EntryDraft.type.keyNames + declaration.parameters.map(\.name) + extras.map(\.name)
    let required = declaration.parameters.filter(\.isRequired).map { JSON.string($0.name) }
    let isThis = JSON.object([
      "properties": JSON.object(["fault": JSON.object(["const": .string(fault.rawValue)])]),
      "required": .array([.string("fault")]),
    ])
    let legal = JSON.array(Self.distinct(names).map { .string($0) })
    let then = JSON.object(["required": .array(required), "propertyNames": JSON.object(["enum": legal])])
    return JSON.object(["if": isThis, "then": then])
  }

  /// The rules that an entry with an action has the arguments which all profiles require for that action.
  private var actionRules: [JSON] {
    let declared = registry.vocabularies.flatMap(\.actions) + CommonVocabulary.actions
    return Self.distinct(declared.map(\.name)).compactMap { name in
      let all = declared.filter { $0.name == name }
      let needed = (all.first?.parameters.filter(\.isRequired).map(\.name) ?? []).filter { parameter in
        all.allSatisfy { $0.parameters.contains { $0.name == parameter && $0.isRequired } }
      }
      guard !needed.isEmpty else { return nil }
      let isThis = JSON.object([
        "properties": JSON.object(["do": JSON.object(["pattern": .string("^[^ .]+\\.\(name)$")])]),
        "required": .array([.string("do")]),
      ])
      return JSON.object(["if": isThis, "then": JSON.object(["required": .array(needed.map { .string($0) })])])
    }
  }

  private static func distinct(_ names: [String]) -> [String] {
    var seen: [String] = []
    for name in names where !seen.contains(name) { seen.append(name) }
    return seen
  }

  private var actions: JSON {
    var names: [String] = []
    for action in registry.vocabularies.flatMap(\.actions) + CommonVocabulary.actions where !names.contains(action.name)
    {
      names.append(action.name)
    }
    return pattern("^[^ .]+\\.(\(names.joined(separator: "|")))$|\(Self.variable)")
  }

  private static func oneOfKeys(_ names: [String]) -> JSON {
    .array(names.map { .object(["required": .array([.string($0)])]) })
  }
}

extension JSON {
  static func object(_ members: KeyValuePairs<String, JSON>) -> JSON {
    .object(members.map { Member($0.key, $0.value) })
  }

  /// Returns the object with the members of another one at its end.
  func adding(_ other: JSON) -> JSON {
    guard case .object(let members) = self, case .object(let more) = other else { return self }
    return .object(members + more)
  }
}
