import CallCore
import VirtualPeer

/// What `callsim explain <topic>` says about the format: codes, keys, faults, and what the profiles declare.
public struct ScenarioReference: Sendable {
  private let registry: ProfileRegistry
  private let mappings: [MappingShape]

  public init(registry: ProfileRegistry) {
    self.registry = registry
    var found: [MappingShape] = []
    Self.collect(.mapping(DocumentDraft.type.shape), into: &found)
    Self.collect(.mapping(ProfileFileDraft.type.shape), into: &found)
    mappings = found
  }

  /// Every topic there is, for "did you mean".
  public var topics: [String] {
    DiagnosticCode.allCases.map(\.rawValue) + FaultKind.allCases.map(\.rawValue) + Self.lists
      + mappings.map { Self.topic($0) }
  }

  /// Lines of text, or nil for a topic that does not exist.
  public func explain(_ topic: String) -> String? {
    if let code = DiagnosticCode(rawValue: topic.uppercased()) {
      return "\(code.rawValue) (\(code.severity.rawValue))\n\(code.explanation)\n"
    }
    if let kind = FaultKind(rawValue: topic) { return fault(kind) }
    if let list = list(topic) { return list }
    return mappings.first { Self.topic($0) == topic }.map(mapping)
  }

  private static let lists = [
    "fault", "actions", "values", "codes", "settings", "profiles", "networks", "invariants", "anchors", "predicates",
    "expect",
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
      mapping.keys.map { key in
        let more = key.isRequired ? " (required)" : key.defaultText.map { " (default: \($0))" } ?? ""
        return (key.name, key.summary + more)
      })
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
