public import Vocabulary

/// The application profiles that scenarios may name.
public struct ProfileRegistry: Sendable {
  /// The vocabularies of the profiles.
  public let vocabularies: [ProfileVocabulary]

  /// Creates a registry and checks the declarations.
  ///
  /// - Throws: ``UnfitProfile`` for the first inconsistent declaration.
  public init(_ vocabularies: [ProfileVocabulary]) throws(UnfitProfile) {
    for vocabulary in vocabularies { try vocabulary.check() }
    self.vocabularies = vocabularies
  }

  /// Creates a registry of declarations that have been checked.
  package init(checked vocabularies: [ProfileVocabulary]) { self.vocabularies = vocabularies }

  /// Returns the vocabulary of a profile.
  public func vocabulary(_ name: String) -> ProfileVocabulary? { vocabularies.first { $0.profile == name } }

  func hasSetting(_ name: String) -> Bool { vocabularies.contains { $0.settings.contains { $0.name == name } } }
}

/// The vocabulary of one peer: the common part, and the part of its profile.
struct PeerVocabulary: Sendable {
  /// The profile; nil for a puppet, and for a program without an app.
  let profile: ProfileVocabulary?
  /// Whether the peer is a program of which only the network and the exit are observed.
  var isProgram = false
  /// Whether the peer is a puppet: without app and stack, it has no values.
  var isPuppet = false
  /// Whether the owner is a server that opens peer connections, of which only these are observed.
  var isServer = false
  /// The names of the scenario's data channels; those of others are announced to the peer.
  var dataChannels: [String] = []

  /// The state machines. The profile's are the first, so that a bare state belongs to the profile's main machine.
  var machines: [StateMachine] {
    isPuppet
      ? []
      : isProgram
        ? ProgramVocabulary.machines
        : (profile?.machines ?? []) + CommonVocabulary.machines + dataChannels.map(DataChannelVocabulary.machine)
  }
  var actions: [ActionDeclaration] { profile.map { $0.actions + CommonVocabulary.actions } ?? [] }
  var endCodes: [String] { profile?.endCodes.map(\.name) ?? [] }

  /// The values that predicates may read; a machine is a choice of its states.
  var values: [ValueDeclaration] {
    machines.map { ValueDeclaration($0.name, .choice($0.states.map(\.name)), "state machine") }
      + (isPuppet
        ? []
        : isProgram
          ? ProgramVocabulary.values
          : isServer
            ? CommonVocabulary.connectionValues
            : (profile?.allValues ?? []) + CommonVocabulary.values
              + dataChannels.flatMap(DataChannelVocabulary.values))
  }

  /// The events: the common ones, the callbacks of the profile, and as `PREFIX.NAME` the actions of the user, the error
  /// codes, and the messages that the app sends and receives.
  var events: [String] {
    if isServer { return CommonVocabulary.events.map(\.name).filter(CommonVocabulary.isOfConnection) }
    guard !isProgram, !isPuppet else { return [] }
    let callbacks = profile?.events.map(\.name) ?? []
    let codes = profile?.errorCodes.map(\.name) ?? []
    let messages = profile?.messages.map(\.name) ?? []
    return CommonVocabulary.events.map(\.name) + callbacks + actions.map { EventPrefix.user + $0.name }
      + codes.map { EventPrefix.code + $0 } + messages.map { EventPrefix.sent + $0 }
      + messages.map { EventPrefix.received + $0 }
  }

  /// Returns whether a name is about each of the peer's remote users, whatever the number of its connections.
  func isOfRemote(_ name: String) -> Bool {
    guard let profile, !isProgram, !isPuppet, !isServer else { return false }
    if name == CallbackVocabulary.last { return profile.events.contains { $0.scope == .remote } }
    return profile.machines.contains { $0.name == name && $0.scope == .remote }
      || profile.values.contains { $0.name == name && $0.scope == .remote }
      || profile.events.contains { $0.name == name && $0.scope == .remote }
  }

  /// The values of a data channel, with its state.
  static func ofDataChannel(_ label: String) -> [ValueDeclaration] {
    let machine = DataChannelVocabulary.machine(of: label)
    let state = ValueDeclaration(machine.name, .choice(machine.states.map(\.name)), "state machine")
    return [state] + DataChannelVocabulary.values(of: label)
  }

  func value(_ name: String) -> ValueDeclaration? { values.first { $0.name == name } }
  func action(_ name: String) -> ActionDeclaration? { actions.first { $0.name == name } }
  func machine(_ name: String) -> StateMachine? { machines.first { $0.name == name } }
}

/// The vocabulary of a program without a control protocol.
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
