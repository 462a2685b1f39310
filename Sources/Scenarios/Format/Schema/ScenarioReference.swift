import CallCore
import SimNet
import Vocabulary

/// The texts of `callsim explain TOPIC`: codes, keys and their words, faults, and the vocabularies of profiles.
public struct ScenarioReference: Sendable {
  private let registry: ProfileRegistry
  private let names: NameReference
  private let mappings: [MappingShape]

  /// Creates the reference of the format and of these profiles.
  public init(registry: ProfileRegistry) {
    self.registry = registry
    names = NameReference(registry: registry)
    var found: [MappingShape] = []
    found.append(allWithin: .mapping(DocumentDraft.type.shape))
    found.append(allWithin: .mapping(ProfileFileDraft.type.shape))
    mappings = found
  }

  /// All topics, for suggestions.
  public var topics: [String] {
    DiagnosticCode.allCases.map(\.rawValue) + FaultKind.allCases.map(\.rawValue) + Self.lists
      + mappings.map { Self.topic($0) } + mappings.flatMap { $0.keys.map(\.name) }
      + registry.vocabularies.map(\.profile) + names.topics
  }

  /// Returns the text of a topic with all its meanings; nil for an unknown topic. A leading peer name, as predicates
  /// have it, is ignored.
  public func explain(_ topic: String) -> String? {
    if let other = Self.synonyms.first(where: { $0.word == topic })?.topic { return explain(other) }
    let profile = registry.vocabularies.first { $0.profile == topic }
    let uses = keys(topic) + words(topic) + faultParameters(topic) + names.texts(topic)
    let parts =
      [
        DiagnosticCode(rawValue: topic.uppercased()).map(Self.code), FaultKind(rawValue: topic).map(fault),
        list(topic), group(topic), profile.map(Self.profile),
      ].compactMap(\.self) + mappings.filter { Self.topic($0) == topic }.map(mapping)
      + (uses.isEmpty ? [] : ["\(topic)\n" + uses.map { "  \($0)" }.joined()])
    guard parts.isEmpty else { return parts.joined() }
    guard let dot = topic.firstIndex(of: "."), dot != topic.index(before: topic.endIndex) else { return nil }
    return explain(String(topic[topic.index(after: dot)...]))
  }

  private static let lists = [
    "fault", "actions", "values", "events", "codes", "settings", "profiles", "networks", "nats", "invariants",
    "anchors",
    "predicates", "expect", "drops", "media-both-ways", "timeouts", "diagnostics",
  ]

  /// Other names of topics.
  private static let synonyms: [(word: String, topic: String)] = [
    ("faults", "fault"), ("expectations", "expect"), ("metrics", "metric"), ("paths", "values"), ("anchor", "anchors"),
    ("predicate", "predicates"), ("invariant", "invariants"), ("timeout", "timeouts"), ("limit", "timeouts"),
    ("warnings", "diagnostics"), ("errors", "diagnostics"), ("end-codes", "codes"), ("event", "events"),
    ("drop-reasons", "drops"),
  ]

  /// The text of `callsim explain` without a topic.
  public var index: String {
    let example = registry.vocabularies.first.map { ", and then for example \($0.profile)" } ?? ""
    return Self.table(
      "\(ProgramName.current) explain TOPIC",
      [
        ("fault", "every fault, and then for example link.down"),
        ("actions", "what users do"), ("values", "what predicates read, and then for example ice.state or stats"),
        ("events", "what happens at peers"), ("expect", "the kinds of expectation, and then for example recovers"),
        ("predicates", "how conditions are written"), ("anchors", "what times are counted from"),
        ("networks", "the named networks, and then for example lte"), ("nats", "the NATs met in the field"),
        ("drops", "why packets do not arrive, and then for example nat-filter"),
        ("profiles", "the apps\(example)"), ("settings", "what profiles can be told"),
        ("codes", "how calls end"), ("invariants", "what holds in every scenario"),
        ("timeouts", "every limit on time that a file can set"), ("diagnostics", "the codes of errors and warnings"),
      ])
      + "Any key, word, state or code is a topic too: \(ProgramName.current) explain turn_transports, "
      + "\(ProgramName.current) explain E210.\n"
  }

  /// Lists the names that begin with the topic and a dot.
  private func group(_ topic: String) -> String? {
    var members: [String] = []
    for name in names.topics where name.hasPrefix(topic + ".") && !members.contains(name) { members.append(name) }
    guard !members.isEmpty else { return nil }
    return Self.table("names that begin with \(topic)", members.map { ($0, "") })
  }

  private static func topic(_ mapping: MappingShape) -> String { mapping.name.replacing(" ", with: "-") }

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

  /// Describes the key of this name in each mapping that has one.
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

  /// Describes the keys that may have the word as their value.
  private func words(_ word: String) -> [String] {
    mappings.flatMap { mapping in
      mapping.keys.filter { $0.shape.choices.contains(word) }.map {
        "word for the key \($0.name) of \(mapping.name): \($0.summary)\n"
      }
    }
  }

  /// Describes the faults that take an argument of this name, or this word as an argument.
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

  private static func profile(_ vocabulary: ProfileVocabulary) -> String {
    table(
      "\(vocabulary.profile): a profile. \(vocabulary.summary)",
      [
        ("actions", (vocabulary.actions + CommonVocabulary.actions).map(\.name).joined(separator: ", ")),
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
        + Self.table(
          "values of every data channel, by its label",
          PeerVocabulary.ofDataChannel("LABEL").map { ($0.name, $0.summary) })
    case "codes":
      return profiles.map { profile in
        Self.table("end codes of \(profile.profile)", profile.endCodes.map { ($0.name, $0.summary) })
      }.joined()
    case "settings":
      return profiles.map { profile in
        Self.table("settings of \(profile.profile)", profile.settings.map { ($0.name, $0.summary) })
      }.joined()
    case "profiles": return Self.table("profiles", profiles.map { ($0.profile, $0.summary) })
    case "networks":
      return Self.table("named networks", BuiltInNetworks.summaries.map { ($0.name, $0.summary) }) + Self.ownership
    case "nats": return Self.table("kinds of NAT", NATKind.allCases.map { ($0.rawValue, $0.summary) })
    case "events":
      return Self.table("events of every peer", CommonVocabulary.events.map { ($0.name, $0.summary) })
        + profiles.filter { !$0.events.isEmpty }.map { profile in
          Self.table("callbacks of \(profile.profile)", profile.events.map { ($0.name, $0.summary) })
        }.joined()
        + "Each action of a user is one too: alice.user.ACTION. So are an error code that the app raises: "
        + "alice.code.CODE, a message that it sends or gets: alice.sent.MESSAGE, alice.received.MESSAGE, and a state "
        + "that is entered: bob.STATE.\n"
    case "media-both-ways": return Self.mediaBothWays
    case "timeouts":
      return Self.table("limits of a run", Scenario.Limits.type.shape.keys.map { ($0.name, Self.summary($0)) })
        + profiles.map { profile in
          let timed = profile.settings.filter { $0.type == .duration }
          return Self.table("settings of \(profile.profile)", timed.map { ($0.name, $0.summary) })
        }.joined()
    case "invariants":
      return Self.table(
        "invariants",
        Invariant.allCases.map { ($0.rawValue, $0.summary + ($0.isDefault ? "" : " (off by default)")) }
          + FixedInvariant.allCases.map { ($0.rawValue, $0.summary + " (always on)") })
    case "expect":
      return Self.table("kinds of expectation", ExpectationVariant.all.map { ($0.key, $0.shape.summary) })
    case "diagnostics":
      return Self.table("errors (E) and warnings (W)", DiagnosticCode.allCases.map { ($0.rawValue, $0.explanation) })
    case "drops":
      return Self.table("reasons why packets do not arrive", DropReason.allCases.map { ($0.rawValue, $0.summary) })
    case "anchors": return DiagnosticCode.unknownAnchor.explanation + "\n" + Self.anchors
    case "predicates": return Self.predicates
    default: return nil
    }
  }

  private static let ownership = """
    Each peer that names one gets its own instance, behind its own NAT; peers with the same 'lan' share one. The same holds
    for networks of a file of 'use'. A network of 'topology' is one network, behind one NAT, shared by all its peers.

    """

  private static let mediaBothWays = """
    media-both-ways: the condition of 'recovers' other than a predicate
      Every peer that had received media when the fault began receives packets of media, none of them 500 ms late.
      Silence counts as media: packets count, not their contents.

    """

  private static let anchors = """
      Entries, states and events come as often as they fire, are entered or happen, and 'after' fires each time; a
      predicate's first truth and a flag's come once, and so do times. A window opens when its first anchor comes
      first, and closes when its second comes next, which is no more within it.

    """

  private static let predicates = """
    predicates
      alice.call.state == connected           a value of a peer, compared; == != < <= > >=
      bob.call.state in [ringing, connected]  one of several; also: not in
      alice.audible                           a flag stands alone
      wire.media(from: bob) > 0               counted by the network: media, packets, bytes, cleartext
      network/home.nat.mappings < 9           the state of a NAT: nat.mappings, nat.free-ports, nat.drops
      up and not (quiet or late)              and, or, not, parentheses, and names from define
      wire.media(from: bob, to: alice) > 0    the part that reaches Alice
    A predicate on a value that was never set is unknown: neither true nor false. A condition that must hold throughout
    is not tested while it reads such a value.
    Times, rates, shares and sizes carry a unit. Inside { } a predicate with [ ] , or ': ' is quoted.

    """
}
