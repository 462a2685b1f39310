import CallCore
public import VirtualPeer

/// The draft-07 JSON Schema of scenario files, made from the declarations the decoder uses.
public struct ScenarioSchema {
  /// The schema as a JSON document, for `callsim schema`.
  public static func json(registry: ProfileRegistry) -> JSON {
    var writer = SchemaWriter(registry: registry)
    let root = writer.object(DocumentDraft.type.shape)
    return JSON.object([
      "$schema": .string("http://json-schema.org/draft-07/schema#"),
      "$id": .string("callsim-scenario.v1.schema.json"),
      "title": .string("callsim scenario, format version 1"),
    ]).adding(root).adding(["definitions": .object(writer.definitions)])
  }
}

/// Writes shapes; a mapping is written once, under `definitions`.
private struct SchemaWriter {
  let registry: ProfileRegistry
  var definitions: [JSON.Member] = []

  init(registry: ProfileRegistry) { self.registry = registry }

  /// Any scalar or text may be a `${name}`, whose value is checked when it is put in.
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

  /// A mapping with declared keys. A timeline entry may also have the arguments of its effect.
  mutating func object(_ mapping: MappingShape) -> JSON {
    let isEntry = mapping.name == EntryDraft.type.name
    let extra = isEntry ? EntryDraft.effectKeys(registry) : []
    var properties: [JSON.Member] = []
    for key in mapping.keys + extra where !properties.contains(where: { $0.key == key.name }) {
      let summary = key.summary + (key.defaultText.map { " (default: \($0))" } ?? "")
      let schema = isEntry && key.name == "do" ? actions : schema(key.shape)
      // A $ref hides its neighbours in draft-07, so the summary goes around it.
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
    // A peer may have what it needs from the profile it uses; nothing else is filled in from elsewhere.
    let required = mapping.keys.filter(\.isRequired).map { JSON.string($0.name) }
    if !required.isEmpty { object = object.adding(["required": .array(required)]) }
    if isEntry {
      object = object.adding([
        "oneOf": Self.oneOfKeys(["do", "fault", "send", "clear"]),
        "anyOf": Self.oneOfKeys(["at", "after", "when", "every"]),
      ])
    }
    return object
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

  /// The members of another object, at the end of this one.
  func adding(_ other: JSON) -> JSON {
    guard case .object(let members) = self, case .object(let more) = other else { return self }
    return .object(members + more)
  }
}
