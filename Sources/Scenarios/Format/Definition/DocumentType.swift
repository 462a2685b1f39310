import CallCore
import Vocabulary

/// An undecoded scenario file. Parts that refer to names of the file stay nodes until those names are known.
struct DocumentDraft: Sendable {
  var version = 1
  var id = ""
  var title: String?
  var why: String?
  var tags: [String] = []
  var use: [Located<String>] = []
  var vars: [Named<YAMLScalar>] = []
  var definitions: YAMLNode?
  var matrix: YAMLNode?
  var compare: CompareDraft?
  var seeds = Seeds()
  var limits = Scenario.Limits()
  var duration: Located<Interval>?
  var invariants: [Scenario.InvariantChange] = []
  var media: Scenario.Media?
  var topology = TopologyDraft()
  var peers: [Named<PeerDraft>] = []
  var timeline: YAMLNode?
  var expectations: YAMLNode?
  var fuzz: YAMLNode?

  private typealias Key = MappingType<DocumentDraft>.Key

  static let type = MappingType("scenario", "a scenario file", DocumentDraft(), header + body)

  /// The keys that are decoded once for a file.
  static let headerType = MappingType("scenario", "a scenario file", DocumentDraft(), header)
  /// The keys that are decoded once for every cell.
  static let bodyType = MappingType("scenario", "a scenario file", DocumentDraft(), body)

  private static let header: [Key] = [
    .key("callsim", .formatVersion, \.version, required: true, "the major version of the format"),
    .key(
      "use", ValueFormat<String>.text.located.list().distinct(\.value), \.use,
      "files with networks and peers by name, relative to this file"),
    .key("vars", ValueFormat<YAMLScalar>.scalar.named, \.vars, "values for ${name} anywhere in the file"),
    .key(
      "matrix", Matrix.format.deferred, \.matrix,
      "variables with several values; the scenario runs once for each combination"),
    .key(
      "compare", CompareDraft.type.format, \.compare,
      "arms that differ in some settings, each run on the same channels: callsim compare"),
    .key("seeds", Seeds.format, \.seeds, "which seeds it runs with"),
  ]

  private static let body: [Key] = [
    .key(
      "id", .plainName, \.id, required: true,
      "stable and path-like: nat/handover"),
    .key("title", .text, \.title, "one line for people"),
    .key("why", .text, \.why, "the reason, echoed in failures"),
    .key(
      "tags", ValueFormat<String>.plainName.list().distinct(\.self), \.tags,
      "words that select it: run -t ci"),
    .key(
      "define", ValueFormat<Predicate>.predicate.named.deferred, \.definitions,
      "predicates by name, each after those it uses"),
    .key("limits", Scenario.Limits.type.format, \.limits, "when a run is given up"),
    .key(
      "run", ValueFormat<Interval>.duration(.positive).located, \.duration,
      default: "until the timeline is done and every expectation was put to the test",
      "how long a run lasts, exactly: it ends at this virtual time"),
    .key(
      "invariants", Scenario.InvariantChange.format.list().distinct(\.invariant.rawValue), \.invariants,
      "+name turns an invariant on, -name off"),
    .key(
      "media", .choice, \.media, default: "synthetic, or real when a microphone plays a file",
      "real: codecs encode and decode; synthetic: packets have the right sizes only"),
    .key(
      "topology", TopologyDraft.type.partialFormat, \.topology,
      "networks, links and servers, when named networks are not enough"),
    .key("peers", PeerDraft.type.partialFormat.named, \.peers, required: true, "the peers by name"),
    .key(
      "timeline", .node(.list(.mapping(EntryDraft.type.shape), 0...10_000)),
      \.timeline, "what happens"),
    .key(
      "expect",
      .node(
        .either([
          .choice([ExpectationReader.invariants]),
          .list(.either(ExpectationVariant.all.map { .mapping($0.shape) }), 0...10_000),
        ])),
      \.expectations, "what must be true; invariants, if nothing but the invariants is judged"),
    .key(
      "fuzz", Scenario.FuzzSettings.type.format.deferred, \.fuzz,
      "what \(ProgramName.current) fuzz and explore may do to it"),
  ]
}

extension ValueFormat where Value == String {
  fileprivate static var plainName: ValueFormat<String> {
    ValueFormat<Located<String>>.name.map { name, _, _ in
      name.value
    } back: {
      Located($0)
    }
  }
}

extension ValueFormat where Value == Int {
  /// Reads the version in `callsim: 1`.
  static var formatVersion: ValueFormat<Int> {
    ValueFormat(.constant(1)) { node, reading in
      guard let version = node.scalar?.integer else {
        reading.report(
          .unsupportedVersion, "expected the format version, found \(node.description)", at: node.span,
          hint: "write callsim: 1")
        return nil
      }
      guard version == 1 else {
        reading.report(
          .unsupportedVersion, "format version \(version) is not known to this callsim", at: node.span,
          hint: "write callsim: 1")
        return nil
      }
      return version
    } encode: {
      .plain("\($0)")
    }
  }
}

extension Seeds {
  static let type = MappingType(
    "seeds", "which seeds a scenario runs with", Seeds(),
    [
      .key("count", .count(1...1_000_000), \.count, default: "1", "how many, counted from 1"),
      .key("list", list, \.list, "these first, such as those that have failed"),
    ])

  /// Reads a mapping; for a bare number, a common mistake, it suggests one.
  static let format = type.format.decoded { node, reading in
    guard let number = node.scalar?.integer else { return type.format.decode(node, &reading) }
    let message = "expected a mapping (\(type.summary)), found \(node.description)"
    reading.report(.wrongNode, message, at: node.span, hint: "write { count: \(number) }")
    return nil
  }

  private static let list = ValueFormat<Int>.count(0...Int.max).list(atLeast: 1).distinct { "\($0)" }
}

extension Scenario.Limits {
  static let type = MappingType(
    "limits", "when a run is given up", Scenario.Limits(),
    [
      .key("virtual", .duration(.positive), \.virtual, default: "10min", "virtual time at which the run ends"),
      .key("wall", .duration(.positive), \.wall, default: "2min", "machine time after which it is given up"),
      .key(
        "lag", .duration(.positive), \.lag, default: "250ms",
        "how late a run in real time may be; beyond it nothing is concluded"),
      .key("start", .duration(.positive), \.start, default: "30s", "how long a program may take to be ready"),
    ])
}

extension Scenario.InvariantChange {
  private struct Draft: Sendable {
    var change = Located("")
    var why: String?
  }

  private static let type = MappingType(
    "invariant change", "+name or -name, and why", Draft(),
    [
      .key("invariant", word.located, \.change, required: true, "+name turns it on, -name off"),
      .key("why", .text, \.why, "the reason; required to turn one off"),
    ])

  private static let word = ValueFormat<String>.text(
    shape: .choice(Invariant.allCases.flatMap { ["+" + $0.rawValue, "-" + $0.rawValue] }))

  static let format = ValueFormat<Scenario.InvariantChange>.either(
    scalar: word.map { text, span, reading in
      make(text, why: nil, span, &reading)
    } back: {
      $0.word
    },
    mapping: type.format.map { draft, _, reading in
      make(draft.change.value, why: draft.why, draft.change.span, &reading)
    } back: {
      Draft(change: Located($0.word), why: $0.why)
    }, isScalar: { $0.why == nil })

  private var word: String { (isOn ? "+" : "-") + invariant.rawValue }

  private static func make(
    _ text: String, why: String?, _ span: SourceSpan, _ reading: inout Reading
  ) -> Scenario.InvariantChange? {
    let name = String(text.dropFirst())
    let legal = Invariant.allCases.map(\.rawValue)
    if let fixed = FixedInvariant(rawValue: name) ?? FixedInvariant(rawValue: text) {
      let message = "'\(fixed.rawValue)' holds in every scenario and cannot be turned on or off"
      reading.report(.fixedInvariant, message, at: span, hint: "leave it out")
      return nil
    }
    guard text.hasPrefix("+") || text.hasPrefix("-"), let invariant = Invariant(rawValue: name) else {
      let bare = text.hasPrefix("+") || text.hasPrefix("-") ? name : text
      if Invariant(rawValue: bare) != nil {
        reading.report(
          .unknownInvariant, "say whether '\(bare)' is turned on or off", at: span, hint: "write +\(bare) or -\(bare)")
      } else {
        reading.reportUnknown(.unknownInvariant, "invariant", bare, among: legal, at: span, explain: "invariants")
      }
      return nil
    }
    let isOn = text.hasPrefix("+")
    if !isOn, why == nil {
      let hint = "write { invariant: -\(name), why: … }"
      reading.report(.needsWhy, "'\(name)' is turned off without a reason", at: span, hint: hint)
    }
    if isOn, invariant.isDefault {
      let message = "'+\(name)' changes nothing: \(name) is on in every scenario that does not turn it off"
      reading.report(.ineffective, message, at: span, hint: "leave it out")
    }
    return Scenario.InvariantChange(invariant: invariant, isOn: isOn, why: why, span: span)
  }
}

/// A file that `use` names: named networks and peers, shared by many scenarios.
struct ProfileFileDraft: Sendable {
  var version = 1
  var title: String?
  var use: [Located<String>] = []
  var networks: [Named<NetworkDraft>] = []
  var peers: [Named<PeerDraft>] = []

  /// Returns whether a file is shared: it has no key of scenarios only, and has `networks` or `peers`, possibly
  /// misspelt.
  static func describes(_ root: YAMLNode) -> Bool {
    guard let keys = root.entries?.map(\.key), keys.contains("callsim") else { return false }
    let own = type.keyNames
    let all = own + DocumentDraft.type.keyNames.filter { !own.contains($0) }
    let meant = keys.compactMap { all.contains($0) ? $0 : Suggestion.nearest(to: $0, among: all) }
    return meant.allSatisfy(own.contains) && meant.contains { $0 == "networks" || $0 == "peers" }
  }

  static let type = MappingType(
    "profile file", "networks and peers by name", ProfileFileDraft(),
    [
      .key("callsim", .formatVersion, \.version, required: true, "the major version of the format"),
      .key("title", .text, \.title, "one line for people"),
      .key(
        "use", ValueFormat<String>.text.located.list().distinct(\.value), \.use, "further files, relative to this one"),
      .key(
        "networks", NetworkDraft.type.format.orVariable(NetworkDraft()).named, \.networks,
        "named networks; each peer that names one has one of its own"),
      .key("peers", PeerDraft.type.format.orVariable(PeerDraft()).named, \.peers, "named peers"),
    ])
}

extension ValueFormat {
  /// Decodes a node with `${name}` to `placeholder`, since it is decoded again when the values of a cell are known.
  func orVariable(_ placeholder: Value) -> ValueFormat<Value> {
    decoded { node, reading in node.hasVariable ? placeholder : decode(node, &reading) }
  }
}

extension YAMLNode {
  /// Whether the node contains `${name}`.
  var hasVariable: Bool {
    switch content {
    case .scalar(let scalar): scalar.text.contains("${")
    case .sequence(let items): items.contains(where: \.hasVariable)
    case .mapping(let entries): entries.contains { $0.value.hasVariable }
    }
  }
}
