import Foundation
import Testing
import VirtualPeer

@testable import ScenarioFormat

@Suite struct `The schema` {
  static let schema = ScenarioSchema.json(registry: FormatTest.registry)

  @Test(arguments: `Files that are right`.names) func `accepts what the decoder accepts`(_ name: String) throws {
    let bytes = FileManager.default.contents(atPath: FormatTest.folder + "Valid/\(name).yaml").map { Array($0) } ?? []
    var sources = SourceMap()
    var diagnostics: [Diagnostic] = []
    let root = YAMLReader.read(bytes, path: name, usedFrom: nil, into: &sources, diagnostics: &diagnostics)
    let node = try #require(root)
    #expect(SchemaChecker(root: Self.schema).problems(of: JSON(node)) == [])
  }

  @Test(arguments: ["unknown-keys", "units", "booleans", "version", "missing-keys", "expectation-kinds"])
  func `refuses what the decoder refuses for its shape`(_ name: String) throws {
    let bytes = FileManager.default.contents(atPath: FormatTest.folder + "Broken/\(name).yaml").map { Array($0) } ?? []
    var sources = SourceMap()
    var diagnostics: [Diagnostic] = []
    let node = try #require(
      YAMLReader.read(bytes, path: name, usedFrom: nil, into: &sources, diagnostics: &diagnostics))
    #expect(!SchemaChecker(root: Self.schema).problems(of: JSON(node)).isEmpty)
  }

  @Test(arguments: [
    "timeline: [{ at: 0s, after: 1s, of: x, do: alice.mute }]", "timeline: [{ at: 0s, do: alice.call }]",
    "timeline: [{ at: 0s, fault: link.flap, link: a, down: 1s }]",
    "timeline: [{ at: 0s, fault: link.down, link: a, code: 486 }]", "timeline: [{ at: 0s, do: alice.mute, for: 3s }]",
    "timeline: [{ after: 1s, do: alice.mute }]", "expect: [{ metric: alice.q.mos, stat: min }]",
    "expect: [{ ends: alice, code: no-such-code }]", "expect: [{ ends: alice, code: [declined, no-such-code] }]",
    "expect: [{ ends: alice, code: [] }]", "expect: [{ ends: alice, code: declined, share: {} }]",
    "timeline: [{ at: 0s, mark: a, id: b }]", "timeline: [{ at: 0s, mark: a, refused: true }]",
    "timeline: [{ at: 0s, mark: a, do: alice.mute }]", "run: 60",
  ])
  func `refuses entries that the decoder refuses`(_ text: String) throws {
    var sources = SourceMap()
    var diagnostics: [Diagnostic] = []
    let bytes = Array("callsim: 1\nid: t\npeers: { alice: { network: wifi } }\n\(text)\n".utf8)
    let node = try #require(
      YAMLReader.read(bytes, path: "t", usedFrom: nil, into: &sources, diagnostics: &diagnostics))
    #expect(!SchemaChecker(root: Self.schema).problems(of: JSON(node)).isEmpty)
  }

  @Test func `refuses a profile that nobody has`() throws {
    var sources = SourceMap()
    var diagnostics: [Diagnostic] = []
    let bytes = Array("callsim: 1\nid: t\npeers: { alice: { profile: nobody } }\n".utf8)
    let node = try #require(
      YAMLReader.read(bytes, path: "t", usedFrom: nil, into: &sources, diagnostics: &diagnostics))
    #expect(!SchemaChecker(root: Self.schema).problems(of: JSON(node)).isEmpty)
  }

  @Test func `is valid JSON in which every reference leads somewhere`() throws {
    let text = Self.schema.prettyText
    _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
    for match in text.matches(of: /"#\/definitions\/([^"]+)"/) {
      #expect(Self.schema["definitions"]?[String(match.1)] != nil)
    }
  }

  @Test func `describes every key`() {
    func check(_ json: JSON) {
      if case .object(let properties)? = json["properties"] {
        for property in properties { #expect(property.value["description"] != nil, "\(property.key)") }
      }
    }
    check(Self.schema)
    guard case .object(let definitions)? = Self.schema["definitions"] else { return #expect(Bool(false)) }
    for definition in definitions { check(definition.value) }
    #expect(definitions.count > 25)
  }

  @Test func `knows the actions of the profiles`() {
    #expect(
      Self.schema["definitions"]?["timeline-entry"]?["properties"]?["do"]?["pattern"]?.string?.contains("hangup")
        == true)
  }
}

/// The part of draft-07 that the schema uses.
private struct SchemaChecker {
  let root: JSON

  func problems(of value: JSON) -> [String] { problems(value, root, at: "$") }

  private func problems(_ value: JSON, _ schema: JSON, at path: String) -> [String] {
    if case .string(let reference)? = schema["$ref"] {
      let name = reference.dropFirst("#/definitions/".count)
      return root["definitions"]?[String(name)].map { problems(value, $0, at: path) } ?? ["\(path): no \(reference)"]
    }
    var found: [String] = []
    if let type = schema["type"], !fits(value, type) {
      return ["\(path): \(value.description.prefix(40)) is no \(type)"]
    }
    if let constant = schema["const"], constant != value { found.append("\(path): is not \(constant)") }
    if case .array(let legal)? = schema["enum"], !legal.contains(value) { found.append("\(path): not in enum") }
    if case .string(let pattern)? = schema["pattern"], case .string(let text) = value,
      text.range(of: pattern, options: .regularExpression) == nil
    {
      found.append("\(path): \(text) does not match \(pattern)")
    }
    if case .integer(let number) = value {
      if case .integer(let minimum)? = schema["minimum"], number < minimum { found.append("\(path): too small") }
      if case .integer(let maximum)? = schema["maximum"], number > maximum { found.append("\(path): too large") }
    }
    return found + combined(value, schema, at: path) + members(value, schema, at: path)
  }

  private func combined(_ value: JSON, _ schema: JSON, at path: String) -> [String] {
    func list(_ name: String) -> [JSON]? {
      guard case .array(let schemas)? = schema[name] else { return nil }
      return schemas
    }
    var found = (list("allOf") ?? []).flatMap { problems(value, $0, at: path) }
    if let any = list("anyOf"), !any.contains(where: { problems(value, $0, at: path).isEmpty }) {
      found.append("\(path): fits none of anyOf")
    }
    if let condition = schema["if"], problems(value, condition, at: path).isEmpty, let then = schema["then"] {
      found += problems(value, then, at: path)
    }
    if let not = schema["not"], problems(value, not, at: path).isEmpty { found.append("\(path): fits 'not'") }
    if let one = list("oneOf"), one.count(where: { problems(value, $0, at: path).isEmpty }) != 1 {
      found.append("\(path): does not fit exactly one of oneOf")
    }
    return found
  }

  private func members(_ value: JSON, _ schema: JSON, at path: String) -> [String] {
    var found: [String] = []
    if case .object(let members) = value {
      if case .array(let required)? = schema["required"] {
        for case .string(let name) in required where value[name] == nil { found.append("\(path): no \(name)") }
      }
      if case .object(let dependencies)? = schema["dependencies"] {
        for dependency in dependencies where value[dependency.key] != nil {
          guard case .array(let needed) = dependency.value else { continue }
          for case .string(let name) in needed where value[name] == nil { found.append("\(path): no \(name)") }
        }
      }
      if let names = schema["propertyNames"] {
        for member in members { found += problems(.string(member.key), names, at: "\(path).\(member.key)") }
      }
      for member in members {
        if let property = schema["properties"]?[member.key] {
          found += problems(member.value, property, at: "\(path).\(member.key)")
        } else if schema["additionalProperties"] == .bool(false) {
          found.append("\(path): unknown \(member.key)")
        } else if let additional = schema["additionalProperties"] {
          found += problems(member.value, additional, at: "\(path).\(member.key)")
        }
      }
    }
    if case .array(let items) = value {
      if let item = schema["items"] {
        for (index, value) in items.enumerated() { found += problems(value, item, at: "\(path)[\(index)]") }
      }
      if case .integer(let least)? = schema["minItems"], items.count < least { found.append("\(path): too few") }
      if case .integer(let most)? = schema["maxItems"], items.count > most { found.append("\(path): too many") }
    }
    return found
  }

  private func fits(_ value: JSON, _ type: JSON) -> Bool {
    switch (type, value) {
    case (.array(let types), _): types.contains { fits(value, $0) }
    case (.string("object"), .object), (.string("array"), .array), (.string("string"), .string),
      (.string("boolean"), .bool), (.string("integer"), .integer), (.string("number"), .integer),
      (.string("number"), .number), (.string("null"), .null):
      true
    default: false
    }
  }
}

extension JSON {
  fileprivate init(_ node: YAMLNode) {
    switch node.content {
    case .mapping(let entries): self = .object(entries.map { Member($0.key, JSON($0.value)) })
    case .sequence(let items): self = .array(items.map { JSON($0) })
    case .scalar(let scalar):
      switch scalar.coreType {
      case .null: self = .null
      case .flag: self = .bool(scalar.flag == true)
      case .integer: self = scalar.integer.map { .integer(Int64($0)) } ?? .number(0)
      case .real: self = .number(Double(scalar.text) ?? 0)
      case .text: self = .string(scalar.text)
      }
    }
  }
}
