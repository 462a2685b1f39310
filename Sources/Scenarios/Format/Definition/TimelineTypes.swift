import CallCore
import Vocabulary

/// A timeline entry in a file, with the keys of all triggers and effects.
struct EntryDraft: Sendable {
  var id: Located<String>?
  var at: Located<Interval>?
  var after: Located<Interval>?
  var of: Anchor?
  var when: Predicate?
  var every: Located<Interval>?
  var until: Anchor?
  var times: Located<Int>?
  var action: Located<String>?
  var fault: Located<String>?
  var duration: Located<Interval>?
  var message: Located<String>?
  var clear: Located<String>?
  var mark: Located<String>?
  var refusal: Located<TimelineEntry.Refusal>?
  var isControl = false
  var why: String?

  static let type = MappingType(
    "timeline entry", "one trigger (at, after, when, every) and one effect (do, fault, send, clear, mark)",
    EntryDraft(),
    [
      .key("id", ValueFormat<Located<String>>.identifier, \.id, "the name other entries, windows and expectations use"),
      .key("at", ValueFormat<Interval>.duration().located, \.at, "trigger: at this virtual time"),
      .key(
        "after", ValueFormat<Interval>.duration().located, \.after,
        "trigger: so long after 'of', or after 'when' became true"),
      .key("of", .anchor, \.of, "the anchor 'after' and 'every' count from"),
      .key("when", .predicate, \.when, "trigger: when this becomes true"),
      .key(
        "every", ValueFormat<Interval>.duration().checked(periodProblem).located, \.every, "trigger: again and again"),
      .key("until", .anchor, \.until, "'every' stops here"),
      .key(
        "times", ValueFormat<Int>.count(1...1_000_000).located, \.times,
        "how often 'when' (once without it) or 'every' fires; the run waits for all, or for 'until'"),
      .key(
        "do", ValueFormat<String>.text(shape: .pattern("^[^ .]+\\.[^ ]+$")).located, \.action,
        "effect: a user action, as peer.action"),
      .key(
        "fault", ValueFormat<String>.text(shape: .choice(FaultKind.allCases.map(\.rawValue))).located, \.fault,
        "effect: a fault"),
      .key("for", ValueFormat<Interval>.duration(.positive).located, \.duration, "the fault clears itself after this"),
      .key(
        "send", ValueFormat<String>.text.located, \.message,
        "effect: a raw signalling message of this type arrives, in the name of a puppet or of any peer"),
      .key("clear", ValueFormat<String>.text.located, \.clear, "effect: ends the fault of the entry with this id"),
      .key(
        "mark", ValueFormat<Located<String>>.name, \.mark, "effect: none; the entry names a time, and this is its id"),
      .key(
        "refused", TimelineEntry.Refusal.format.located, \.refusal, default: "false",
        "the app is expected to refuse the action of 'do': true for any reason, or the reason in the app's words"),
      .key(
        "control", .flag, \.isControl, default: "false",
        "the fault changes nothing here, and the run is there to be compared with others"),
      .key("why", .text, \.why, "the reason, echoed in failures"),
    ])

  private static let periodProblem: @Sendable (Interval) -> String? = { period in
    period >= .milliseconds(1) ? nil : "again and again is once in a millisecond at most"
  }

  /// Returns the argument keys of effects for the schema: parameters of faults and of the registered actions.
  static func effectKeys(_ registry: ProfileRegistry) -> [MappingShape.Key] {
    var keys: [(name: String, shapes: [Shape], summaries: [String])] = []
    func add(_ name: String, _ shape: Shape, _ summary: String) {
      guard let index = keys.firstIndex(where: { $0.name == name }) else {
        return keys.append((name, [shape], [summary]))
      }
      keys[index].shapes.append(shape)
      if !keys[index].summaries.contains(summary) { keys[index].summaries.append(summary) }
    }
    for kind in FaultKind.allCases {
      for parameter in kind.declaration.parameters { add(parameter.name, parameter.kind.shape, parameter.summary) }
    }
    let actions = registry.vocabularies.flatMap(\.actions) + CommonVocabulary.actions
    for parameter in actions.flatMap(\.parameters) {
      add(parameter.name, ValueFormat<Value>.declared(parameter.type).shape, parameter.summary)
    }
    for key in Topology.Impairments.type.shape.keys + NATDraft.behaviorType.shape.keys where key.name != "why" {
      add(key.name, key.shape, key.summary)
    }
    for key in SendEffect.keys { add(key.name, key.shape, key.summary) }
    return keys.map { key in
      MappingShape.Key(
        name: key.name, shape: key.shapes.count == 1 ? key.shapes[0] : .either(key.shapes), isRequired: false,
        summary: key.summaries.joined(separator: "; or ").prefixed("argument: "), defaultText: nil)
    }
  }
}

extension TimelineEntry.Refusal {
  /// Reads a flag, or the reason.
  static let format: ValueFormat<TimelineEntry.Refusal> = {
    let flag = ValueFormat<Bool>.flag
    let text = ValueFormat<String>.text
    return ValueFormat(.either([flag.shape, text.shape])) { node, reading in
      if let isRefused = node.scalar?.flag { return isRefused ? .anyReason : TimelineEntry.Refusal.none }
      guard let reason = text.decode(node, &reading) else { return nil }
      guard !reason.isEmpty else {
        reading.report(.wrongType, "no app refuses for an empty reason", at: node.span, hint: "write refused: true")
        return nil
      }
      if node.scalar?.isPlain == true, let hint = ValueFormat<Bool>.hint(for: reason) {
        let message = "expected true, false or the reason of the app, found \(node.description)"
        reading.report(.wrongType, message, at: node.span, hint: hint)
        return nil
      }
      return .reason(reason)
    } encode: { refusal in
      switch refusal {
      case .none: flag.encode(false)
      case .anyReason: flag.encode(true)
      case .reason(let reason):
        ValueFormat<Bool>.hint(for: reason) == nil ? text.encode(reason) : YAMLNode(quoting: reason)
      }
    }
  }()
}

extension String {
  fileprivate func prefixed(_ prefix: String) -> String { prefix + self }
}

/// The arguments of `send`.
enum SendEffect {
  static let keys: [MappingShape.Key] = [
    MappingShape.Key(
      name: "from", shape: .text, isRequired: true, summary: "in whose name: a puppet, or a peer as a modified client",
      defaultText: nil),
    MappingShape.Key(name: "to", shape: .text, isRequired: true, summary: "the peer it is sent to", defaultText: nil),
    MappingShape.Key(
      name: "server", shape: .text, isRequired: false, summary: "the server by way of which, where there are several",
      defaultText: nil),
    MappingShape.Key(
      name: "like", shape: .text, isRequired: false,
      summary: "fields that are not given are those of the newest message of this type", defaultText: nil),
    MappingShape.Key(
      name: "number", shape: .integer(1...256), isRequired: false,
      summary: "of the messages that 'like' names, this one, counted from 1", defaultText: nil),
    MappingShape.Key(
      name: "fields", shape: .named(ValueFormat<Value>.anyOrList.shape), isRequired: false,
      summary: "fields of the message",
      defaultText: nil),
  ]
}

extension FaultParameter.Kind {
  var shape: Shape { format.shape }

  /// The decoder of an argument; names are checked against the cell.
  var format: ValueFormat<Value> {
    switch self {
    case .value(let type): .declared(type)
    case .list(let type):
      ValueFormat<Value>.declared(type).oneOrMany().distinct(\.description).value { .list($0) }
    case .count(let range): ValueFormat<Int>.count(range).value { .count($0) }
    case .counts(let range):
      ValueFormat<Int>.count(range).oneOrMany().distinct(\.description).value { .list($0.map { .count($0) }) }
    case .link: ValueFormat<Located<String>>.link.value { .text($0.value) }
    case .network: ValueFormat<Located<String>>.network.value { .text($0.value) }
    case .server: ValueFormat<Located<String>>.server.value { .text($0.value) }
    case .message: ValueFormat<Value>.message
    case .field: ValueFormat<Value>.messageField
    }
  }
}

extension ValueFormat where Value == ScenarioFormat.Value {
  /// Reads a signalling message type of any peer of the scenario.
  static var message: ValueFormat<ScenarioFormat.Value> {
    ValueFormat<ScenarioFormat.Value>(.text) { node, reading in
      guard let text = ValueFormat<String>.text.decode(node, &reading) else { return nil }
      let span = node.span
      let legal = reading.messageNames
      guard legal.contains(text) else {
        reading.reportUnknown(.unknownMessage, "message type", text, among: legal, at: span)
        return nil
      }
      return .text(text)
    } encode: {
      $0.node
    }
  }
}

extension ValueFormat where Value == ScenarioFormat.Value {
  /// Reads a field of a signalling message of any peer of the scenario, by its path or role.
  static var messageField: ValueFormat<ScenarioFormat.Value> {
    ValueFormat<ScenarioFormat.Value>(.text) { node, reading in
      guard let text = ValueFormat<String>.text.decode(node, &reading) else { return nil }
      let fields = reading.messages.flatMap(\.everyField)
      let legal = (fields.map(\.name) + fields.compactMap(\.role?.rawValue)).inOrderOfAppearance
      guard legal.contains(text) else {
        reading.reportUnknown(.unknownMessage, "message field", text, among: legal, at: node.span)
        return nil
      }
      return .text(text)
    } encode: {
      $0.node
    }
  }
}

extension Reading {
  var messages: [MessageDeclaration] { scope.peers.flatMap { $0.vocabulary.profile?.messages ?? [] } }

  var messageNames: [String] {
    messages.map(\.name).inOrderOfAppearance
  }
}
