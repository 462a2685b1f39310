internal import VirtualPeer

/// What `callsim explain <name>` says about a single action, state, machine, value, event, message or code: everything
/// the profiles and the common vocabulary call so.
public struct NameReference: Sendable {
  private let entries: [(name: String, text: String)]

  public init(registry: ProfileRegistry) {
    var entries: [(String, String)] = []
    for vocabulary in registry.vocabularies { entries += Self.entries(vocabulary) }
    for machine in CommonVocabulary.machines { entries += Self.entries(machine, of: "every peer") }
    for action in CommonVocabulary.actions { entries.append(Self.entry(action, of: "every peer")) }
    for value in CommonVocabulary.values { entries.append((value.name, Self.text(value, of: "every peer"))) }
    for event in CommonVocabulary.events { entries.append((event.name, "event of every peer: \(event.summary)\n")) }
    for invariant in Invariant.allCases {
      let habit = invariant.isDefault ? "on unless turned off" : "off unless turned on"
      entries.append((invariant.rawValue, "invariant, \(habit): \(invariant.summary)\n"))
    }
    self.entries = entries
  }

  public var topics: [String] { entries.map(\.name) }

  /// Everything of that name, or nil. A leading peer name, as predicates have it, is not part of it.
  public func explain(_ topic: String) -> String? {
    let found = entries.filter { $0.name == topic }
    guard found.isEmpty else { return found.map { "\($0.name)\n  \($0.text)" }.joined() }
    guard let dot = topic.firstIndex(of: ".") else { return nil }
    let rest = topic[topic.index(after: dot)...]
    return rest.isEmpty ? nil : explain(String(rest))
  }

  private static func entries(_ vocabulary: Vocabulary) -> [(String, String)] {
    let owner = vocabulary.profile
    var entries = vocabulary.machines.flatMap { Self.entries($0, of: owner) }
    entries += vocabulary.actions.map { entry($0, of: owner) }
    entries += vocabulary.messages.map {
      ($0.name, "signalling message of \(owner), \($0.direction.rawValue): \($0.summary)\n")
    }
    entries += vocabulary.endCodes.map { ($0.name, "end code of \(owner): \($0.summary)\n") }
    entries += vocabulary.errorCodes.map { ($0.name, "error code of \(owner): \($0.summary)\n") }
    entries += vocabulary.values.map { ($0.name, text($0, of: owner)) }
    entries += vocabulary.settings.map { ($0.name, "setting of \(owner) peers: \($0.summary)\n") }
    return entries
  }

  private static func entries(_ machine: StateMachine, of owner: String) -> [(String, String)] {
    var text = "state machine of \(owner): \(machine.states.map(\.name).joined(separator: ", "))\n"
    for transition in machine.transitions {
      text += "    \(transition.from) > \(transition.to)  on \(transition.event)\n"
    }
    return [(machine.name, text)]
      + machine.states.map { state in
        let end = state.isTerminal ? ", terminal" : ""
        let summary = state.summary.isEmpty ? "" : ": \(state.summary)"
        let into = machine.transitions.filter { $0.to == state.name }.map { "\($0.from) on \($0.event)" }
        let from = into.isEmpty ? "" : "    entered from \(into.joined(separator: ", "))\n"
        return (state.name, "state of \(machine.name) of \(owner)\(end)\(summary)\n\(from)")
      }
  }

  private static func entry(_ action: ActionDeclaration, of owner: String) -> (String, String) {
    var text = "action of \(owner): \(action.summary)\n"
    for parameter in action.parameters {
      text += "    \(parameter.name): \(parameter.summary)\(parameter.isRequired ? " (required)" : "")\n"
    }
    return (action.name, text)
  }

  private static func text(_ value: ValueDeclaration, of owner: String) -> String {
    "value of \(owner)\(value.unit.map { ", in \($0)" } ?? ""): \(value.summary)\n"
  }
}
