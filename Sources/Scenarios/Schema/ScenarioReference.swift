import CallCore
import VirtualPeer

/// What `callsim explain <topic>` says: codes, keys and their words, faults, and what the profiles declare.
public struct ScenarioReference: Sendable {
  private let registry: ProfileRegistry
  private let names: NameReference
  private let mappings: [MappingShape]

  public init(registry: ProfileRegistry) {
    self.registry = registry
    names = NameReference(registry: registry)
    var found: [MappingShape] = []
    Self.collect(.mapping(DocumentDraft.type.shape), into: &found)
    Self.collect(.mapping(ProfileFileDraft.type.shape), into: &found)
    mappings = found
  }

  /// Every topic there is, for "did you mean".
  public var topics: [String] {
    DiagnosticCode.allCases.map(\.rawValue) + FaultKind.allCases.map(\.rawValue) + Self.lists
      + mappings.map { Self.topic($0) } + mappings.flatMap { $0.keys.map(\.name) }
      + registry.vocabularies.map(\.profile) + names.topics
  }

  /// Lines of text, or nil for a topic that does not exist. Many words have several meanings: all are told. A leading
  /// peer name, as predicates have it, is not part of the topic.
  public func explain(_ topic: String) -> String? {
    let profile = registry.vocabularies.first { $0.profile == topic }
    let uses = keys(topic) + words(topic) + faultParameters(topic) + names.texts(topic)
    let parts =
      [
        DiagnosticCode(rawValue: topic.uppercased()).map(Self.code), FaultKind(rawValue: topic).map(fault),
        list(topic), profile.map(Self.profile),
      ].compactMap(\.self) + mappings.filter { Self.topic($0) == topic }.map(mapping)
      + (uses.isEmpty ? [] : ["\(topic)\n" + uses.map { "  \($0)" }.joined()])
    guard parts.isEmpty else { return parts.joined() }
    guard let dot = topic.firstIndex(of: "."), dot != topic.index(before: topic.endIndex) else { return nil }
    return explain(String(topic[topic.index(after: dot)...]))
  }

  private static let lists = [
    "fault", "actions", "values", "codes", "settings", "profiles", "networks", "invariants", "anchors", "predicates",
    "expect", "diagnostics",
  ]

  private static func topic(_ mapping: MappingShape) -> String { mapping.name.replacing(" ", with: "-") }

  private static func collect(_ shape: Shape, into found: inout [MappingShape]) {
    switch shape {
    case .mapping(let mapping):
      guard !found.contains(where: { $0.name == mapping.name }) else { return }
      found.append(mapping)
      for key in mapping.keys { collect(key.shape, into: &found) }
    case .list(let member, _), .named(let member): collect(member, into: &found)
    case .either(let shapes): for shape in shapes { collect(shape, into: &found) }
    default: break
    }
  }

  // MARK: - Text

  private static func table(_ title: String, _ rows: [(String, String)]) -> String {
    let width = min(32, rows.map(\.0.count).max() ?? 0)
    return title + "\n"
      + rows.map { name, summary in
        let padding = String(repeating: " ", count: max(0, width - name.count))
        return ("  " + name + (summary.isEmpty ? "" : padding + "  " + summary)) + "\n"
      }.joined()
  }

  private func mapping(_ mapping: MappingShape) -> String {
    Self.table(
      "\(mapping.name): \(mapping.summary)",
      mapping.keys.map { ($0.name, Self.summary($0)) })
  }

  private static func code(_ code: DiagnosticCode) -> String {
    "\(code.rawValue) (\(code.severity.rawValue))\n\(code.explanation)\n"
  }

  /// What the key of this name is, in each mapping that has one.
  private func keys(_ name: String) -> [String] {
    mappings.flatMap { mapping in
      mapping.keys.filter { $0.name == name }.map { key in
        "key of \(mapping.name): \(Self.summary(key))\n" + Self.oneOf(key.shape.choices)
      }
    }
  }

  static func oneOf(_ words: [String]) -> String {
    words.isEmpty ? "" : "    one of: \(words.joined(separator: ", "))\n"
  }

  private static func summary(_ key: MappingShape.Key) -> String {
    key.summary + (key.isRequired ? " (required)" : key.defaultText.map { " (default: \($0))" } ?? "")
  }

  /// The keys that may have the word as their value.
  private func words(_ word: String) -> [String] {
    mappings.flatMap { mapping in
      mapping.keys.filter { $0.shape.choices.contains(word) }.map {
        "word for the key \($0.name) of \(mapping.name): \($0.summary)\n"
      }
    }
  }

  /// The faults that take an argument of this name, or this word for one.
  private func faultParameters(_ name: String) -> [String] {
    FaultKind.allCases.flatMap { fault in
      fault.declaration.parameters.compactMap { parameter in
        if parameter.name == name {
          return "argument of the fault \(fault.rawValue): \(parameter.summary)\n" + Self.oneOf(parameter.choices)
        }
        return parameter.choices.contains(name)
          ? "word for \(parameter.name) of the fault \(fault.rawValue): \(parameter.summary)\n" : nil
      }
    }
  }

  private static func profile(_ vocabulary: Vocabulary) -> String {
    table(
      "\(vocabulary.profile): a profile. \(vocabulary.summary)",
      [
        ("actions", vocabulary.actions.map(\.name).joined(separator: ", ")),
        ("machines", vocabulary.machines.map(\.name).joined(separator: ", ")),
        ("end codes", vocabulary.endCodes.map(\.name).joined(separator: ", ")),
        ("settings", vocabulary.settings.map(\.name).joined(separator: ", ")),
      ])
  }

  private func fault(_ kind: FaultKind) -> String {
    let declaration = kind.declaration
    var rows = declaration.parameters.map { ($0.name, $0.summary + ($0.isRequired ? " (required)" : "")) }
    switch declaration.extras {
    case .none: break
    case .impairments: rows += Topology.Impairments.type.shape.keys.map { ($0.name, $0.summary) }
    case .nat: rows += NATDraft.behaviorType.shape.keys.map { ($0.name, $0.summary) }
    }
    let end = declaration.lasts ? "It lasts until cleared, or for the time in 'for'." : "It is over at once."
    return Self.table("\(kind.rawValue): \(declaration.summary). \(end)", rows)
  }

  private func list(_ topic: String) -> String? {
    let profiles = registry.vocabularies
    switch topic {
    case "fault": return Self.table("faults", FaultKind.allCases.map { ($0.rawValue, $0.declaration.summary) })
    case "actions":
      return profiles.map { profile in
        Self.table("actions of \(profile.profile)", profile.actions.map { ($0.name, $0.summary) })
      }.joined() + Self.table("actions of every peer", CommonVocabulary.actions.map { ($0.name, $0.summary) })
    case "values":
      return profiles.map { profile in
        let vocabulary = PeerVocabulary(profile: profile)
        return Self.table("values of \(profile.profile)", vocabulary.values.map { ($0.name, $0.summary) })
      }.joined()
    case "codes":
      return profiles.map { profile in
        Self.table("end codes of \(profile.profile)", profile.endCodes.map { ($0.name, $0.summary) })
      }.joined()
    case "settings":
      return profiles.map { profile in
        Self.table("settings of \(profile.profile)", profile.settings.map { ($0.name, $0.summary) })
      }.joined()
    case "profiles": return Self.table("profiles", profiles.map { ($0.profile, $0.summary) })
    case "networks": return Self.table("named networks", BuiltInNetworks.summaries.map { ($0.name, $0.summary) })
    case "invariants":
      return Self.table(
        "invariants", Invariant.allCases.map { ($0.rawValue, $0.summary + ($0.isDefault ? "" : " (off by default)")) })
    case "expect":
      return Self.table("kinds of expectation", ExpectationVariant.all.map { ($0.key, $0.shape.summary) })
    case "diagnostics":
      return Self.table("errors (E) and warnings (W)", DiagnosticCode.allCases.map { ($0.rawValue, $0.explanation) })
    case "anchors": return DiagnosticCode.unknownAnchor.explanation + "\n"
    case "predicates": return Self.predicates
    default: return nil
    }
  }

  private static let predicates = """
    predicates
      alice.call.state == connected           a value of a peer, compared; == != < <= > >=
      bob.call.state in [ringing, connected]  one of several; also: not in
      alice.audible                           a flag stands alone
      wire.media(from: bob) > 0               what the network itself sees: media, packets, bytes, cleartext
      up and not (quiet or late)              and, or, not, parentheses, and names from define
    Times, rates, shares and sizes carry a unit. Inside { } a predicate with [ ] , or ': ' is quoted.

    """
}
