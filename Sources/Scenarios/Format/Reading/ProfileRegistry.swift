public import Vocabulary

/// The application profiles a scenario may name.
public struct ProfileRegistry: Sendable {
  public let vocabularies: [ProfileVocabulary]

  /// - Throws: what does not fit in a declaration.
  public init(_ vocabularies: [ProfileVocabulary]) throws(UnfitProfile) {
    for vocabulary in vocabularies { try vocabulary.check() }
    self.vocabularies = vocabularies
  }

  /// Of declarations that were looked through already.
  package init(checked vocabularies: [ProfileVocabulary]) { self.vocabularies = vocabularies }

  public func vocabulary(_ name: String) -> ProfileVocabulary? { vocabularies.first { $0.profile == name } }

  func hasSetting(_ name: String) -> Bool { vocabularies.contains { $0.settings.contains { $0.name == name } } }
}

/// Everything one peer can be asked: what every peer has, and what its profile adds.
struct PeerVocabulary: Sendable {
  /// Nil for a puppet, and for a program without an app.
  let profile: ProfileVocabulary?
  /// A program of which only its network and its end are seen.
  var isProgram = false
  /// It has no app and no stack, so nothing of it is seen.
  var isPuppet = false
  /// It is a server that opens peer connections, of which alone something is seen.
  var isServer = false

  /// The profile's machines come first, so that a bare state means the profile's main machine.
  var machines: [StateMachine] {
    isPuppet ? [] : isProgram ? ProgramVocabulary.machines : (profile?.machines ?? []) + CommonVocabulary.machines
  }
  var actions: [ActionDeclaration] { profile.map { $0.actions + CommonVocabulary.actions } ?? [] }
  var endCodes: [String] { profile?.endCodes.map(\.name) ?? [] }

  /// Every value a predicate may read; a machine is a choice of its states.
  var values: [ValueDeclaration] {
    machines.map { ValueDeclaration($0.name, .choice($0.states.map(\.name)), "state machine") }
      + (isPuppet
        ? []
        : isProgram
          ? ProgramVocabulary.values
          : isServer ? CommonVocabulary.connectionValues : (profile?.values ?? []) + CommonVocabulary.values)
  }

  /// Events: the common ones, and each action of the user as `user.<action>`.
  var events: [String] {
    if isServer { return CommonVocabulary.events.map(\.name).filter(CommonVocabulary.isOfConnection) }
    return isProgram || isPuppet ? [] : CommonVocabulary.events.map(\.name) + actions.map { "user.\($0.name)" }
  }

  func value(_ name: String) -> ValueDeclaration? { values.first { $0.name == name } }
  func action(_ name: String) -> ActionDeclaration? { actions.first { $0.name == name } }
  func machine(_ name: String) -> StateMachine? { machines.first { $0.name == name } }
}

/// All that can be seen of a program that speaks no protocol with us.
enum ProgramVocabulary {
  static let machines = [
    StateMachine(
      "program.state",
      states: [.init("running", "it was started"), .init("exited", "it has ended", as: .over)],
      transitions: [.init("running", "exited", on: "exit")])
  ]

  static let values = [
    ValueDeclaration("program.exit-code", .count, "what it ended with"),
    ValueDeclaration("network", .text, "the interface the device prefers now"),
  ]
}
