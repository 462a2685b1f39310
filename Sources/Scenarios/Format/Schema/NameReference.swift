import CallCore
import SimNet
import Vocabulary

/// The meanings of names in the profiles, the common vocabulary and the format's own lists: actions, states, machines,
/// values and their words, events, messages, codes, networks and invariants.
struct NameReference: Sendable {
  /// The names with their texts. The first line of a text is not indented, further lines are; the last has a line end.
  private let entries: [(name: String, text: String)]

  init(registry: ProfileRegistry) {
    var entries: [(String, String)] = []
    for vocabulary in registry.vocabularies { entries += Self.entries(vocabulary) }
    for machine in CommonVocabulary.machines { entries += Self.entries(machine, of: Self.everybody) }
    for machine in ProgramVocabulary.machines { entries += Self.entries(machine, of: Self.programs) }
    for action in CommonVocabulary.actions { entries += Self.entries(action, of: Self.everybody) }
    for value in CommonVocabulary.values { entries += Self.entries(value, of: Self.everybody) }
    for value in ProgramVocabulary.values { entries += Self.entries(value, of: Self.programs) }
    for value in PeerVocabulary.ofDataChannel("LABEL") { entries += Self.entries(value, of: "every data channel") }
    for event in CommonVocabulary.events { entries.append((event.name, "event of every peer: \(event.summary)\n")) }
    for kind in WireQuantity.Kind.allCases {
      let text = "value of the network itself: \(kind.summary); (from: PEER, to: PEER) narrows it down\n"
      entries.append(("wire.\(kind.rawValue)", text))
    }
    for value in NATValue.allCases {
      let text = "value of a network with a NAT, network/NAME.\(value.rawValue): \(value.summary)\n"
      entries.append((value.rawValue, text))
    }
    for invariant in Invariant.allCases {
      let habit = invariant.isDefault ? "on unless turned off" : "off unless turned on"
      entries.append((invariant.rawValue, "invariant, \(habit): \(invariant.summary)\n"))
    }
    entries += FixedInvariant.allCases.map { ($0.rawValue, "invariant, always on: \($0.summary)\n") }
    entries += BuiltInNetworks.summaries.map { name, summary in
      (name, "named network: \(summary)\n\(Self.indented(BuiltInNetworks.text(of: name)))")
    }
    entries += DropReason.allCases.map { ($0.rawValue, "reason why a packet did not arrive: \($0.summary)\n") }
    entries.append(("skip", "key of matrix: combinations that are left out, each with the variables that matter\n"))
    entries.append(("only", "key of matrix: the combinations that are kept, each with the variables that matter\n"))
    entries += SendEffect.keys.map { ($0.name, "argument of send: \($0.summary)\n") }
    entries.append((PeerConnectionEvents.checkFailed.name, Self.failedChecks))
    entries += NATKind.allCases.map { ($0.rawValue, "kind of NAT: \($0.summary)\n") }
    self.entries = entries
  }

  private static func indented(_ text: String) -> String {
    text.split(separator: "\n").map { "    \($0)\n" }.joined()
  }

  private static let failedChecks = """
    event of every peer in the trace: a connectivity check of ICE failed (RFC 8445 section 7.2.5), or consent to send
      expired (RFC 7675). Its reasons: timeout, error-response, non-symmetric (the answer came from elsewhere),
      consent-expired, relay-refused (the TURN server gave no permission)

    """

  private static let everybody = "every peer"
  private static let programs = "programs with protocol: none"

  var topics: [String] { entries.map(\.name) }

  /// Returns the texts of all meanings of a name.
  func texts(_ topic: String) -> [String] { entries.filter { $0.name == topic }.map(\.text) }

  private static func entries(_ vocabulary: ProfileVocabulary) -> [(String, String)] {
    let owner = vocabulary.profile
    var entries = vocabulary.machines.flatMap { Self.entries($0, of: owner) }
    entries += vocabulary.actions.flatMap { Self.entries($0, of: owner) }
    entries += vocabulary.messages.map { message in
      let fields = message.everyField.map { field in
        let role = field.role.map { " (\($0.rawValue))" } ?? ""
        let way = field.direction == message.direction ? "" : ", \(field.direction.rawValue)"
        let summary = field.summary.isEmpty ? "" : ": \(field.summary)"
        return "    \(field.name)\(role), \(field.type)\(way)\(field.isRequired ? "" : ", optional")\(summary)\n"
      }
      let text = "signalling message of \(owner), \(message.direction.rawValue): \(message.summary)\n"
      return (message.name, text + fields.joined())
    }
    entries += vocabulary.endCodes.map { ($0.name, "end code of \(owner)\(blame($0)): \($0.summary)\n") }
    entries += vocabulary.errorCodes.map { ($0.name, "error code of \(owner): \($0.summary)\n") }
    entries += vocabulary.unseenCodes.map { ($0.name, "code of \(owner) that no client sees: \($0.summary)\n") }
    entries += vocabulary.allValues.flatMap { Self.entries($0, of: owner) }
    entries += vocabulary.events.map { event in
      let whom = event.scope == .remote ? ", about each remote user" : ""
      return (event.name, "callback of \(owner)\(whom): \(event.summary)\n")
    }
    entries += vocabulary.settings.flatMap { Self.entries($0, "setting of \(owner) peers") }
    return entries
  }

  private static func blame(_ code: CodeDeclaration) -> String {
    code.blame.map { ", blaming \($0 == .other ? "the other side" : $0.rawValue)" } ?? ""
  }

  private static func entries(_ machine: StateMachine, of owner: String) -> [(String, String)] {
    var text = "state machine of \(owner): \(machine.states.map(\.name).joined(separator: ", "))\n"
    for transition in machine.transitions {
      text += "    \(transition.from) > \(transition.to)  on \(transition.event)\n"
    }
    return [(machine.name, text)]
      + machine.states.map { state in
        let role = state.role.map { " (\($0.rawValue))" } ?? ""
        let summary = state.summary.isEmpty ? "" : ": \(state.summary)"
        let into = machine.transitions.filter { $0.to == state.name }.map { "\($0.from) on \($0.event)" }
        let from = into.isEmpty ? "" : "    entered from \(into.joined(separator: ", "))\n"
        return (state.name, "state of \(machine.name) of \(owner)\(role)\(summary)\n\(from)")
      }
  }

  private static func entries(_ action: ActionDeclaration, of owner: String) -> [(String, String)] {
    let role = action.role.map { " (\($0.word))" } ?? ""
    var text = "action of \(owner)\(role): \(action.summary)\n"
    for parameter in action.parameters {
      text += "    \(parameter.name): \(parameter.summary)\(parameter.isRequired ? " (required)" : "")\n"
    }
    return [(action.name, text)]
      + action.parameters.flatMap { entries($0, "argument of the action \(action.name) of \(owner)") }
  }

  private static func entries(_ parameter: ParameterDeclaration, _ what: String) -> [(String, String)] {
    [(parameter.name, "\(what): \(parameter.summary)\n\(ScenarioReference.oneOf(parameter.type.choices))")]
      + parameter.type.choices.map { ($0, "word for \(parameter.name), \(what)\n") }
  }

  private static func entries(_ value: ValueDeclaration, of owner: String) -> [(String, String)] {
    let unit = value.unit.map { ", in \($0)" } ?? ""
    return [(value.name, "value of \(owner)\(unit): \(value.summary)\n\(ScenarioReference.oneOf(value.type.choices))")]
      + value.type.choices.map { ($0, "word for the value \(value.name) of \(owner)\n") }
  }
}

extension ValueType {
  /// The permitted words; empty when the type is not a choice.
  var choices: [String] {
    guard case .choice(let words) = self else { return [] }
    return words
  }
}
