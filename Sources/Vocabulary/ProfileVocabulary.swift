/// All names of a profile: the one declaration for name checking, the JSON Schema, the detection of illegal transitions
/// and `callsim explain`.
///
/// An undeclared state cannot be entered, an undeclared code cannot be raised and an undeclared value cannot be set.
/// States, actions and end codes have roles beside their names: invariants and explanations use the roles alone, so
/// they depend on no product. ``misfits`` lists the errors of a declaration.
public struct ProfileVocabulary: Sendable {
  /// The profile's name in scenarios: `knotos`.
  public let profile: String
  /// A description for the documentation.
  public let summary: String
  /// State machines; the first is the profile's main one, so `bob.connected` means that machine entering `connected`.
  /// Each of its states has a role.
  public let machines: [StateMachine]
  /// The actions of users.
  public let actions: [ActionDeclaration]
  /// The signalling messages.
  public let messages: [MessageDeclaration]
  /// The callbacks of the product's SDK.
  public let events: [EventDeclaration]
  /// The codes with which a call may end, as scenarios assert them (`ends: alice, code: local-hangup`).
  public let endCodes: [CodeDeclaration]
  /// Error codes that are raised, whether or not they end the call.
  public let errorCodes: [CodeDeclaration]
  /// Codes of the product that no client sees; a scenario that expects one is refused, and told why.
  public let unseenCodes: [CodeDeclaration]
  /// The values that a scenario may read, besides states.
  public let values: [ValueDeclaration]
  /// The settings that a scenario may give a peer of this profile.
  public let settings: [ParameterDeclaration]
  /// The servers of the product; apps and scenarios name them.
  public let servers: [ServerDeclaration]
  /// The number of peer connections that a device has at a time, and their names.
  public let connections: ConnectionNames
  /// Whether apps go by the date of their device beside TLS, such as for tokens that they mint.
  public let readsDate: Bool
  /// Whether servers send VoIP pushes to apps that use CallKit.
  public let sendsPushes: Bool

  /// Declares a profile.
  public init(
    profile: String, summary: String, machines: [StateMachine], actions: [ActionDeclaration],
    messages: [MessageDeclaration] = [], events: [EventDeclaration] = [], endCodes: [CodeDeclaration] = [],
    errorCodes: [CodeDeclaration] = [], unseenCodes: [CodeDeclaration] = [],
    values: [ValueDeclaration] = [], settings: [ParameterDeclaration] = [],
    servers: [ServerDeclaration] = [.signalling], connections: ConnectionNames = .single, readsDate: Bool = false,
    sendsPushes: Bool = false
  ) {
    self.profile = profile
    self.summary = summary
    self.machines = machines
    self.actions = actions
    self.messages = messages
    self.events = events
    self.endCodes = endCodes
    self.errorCodes = errorCodes
    self.unseenCodes = unseenCodes
    self.values = values
    self.settings = settings
    self.servers = servers
    self.connections = connections
    self.readsDate = readsDate
    self.sendsPushes = sendsPushes
  }

  /// Returns the vocabulary of another app of the same product: the names are the product's, but for what its users do
  /// and scenarios set.
  ///
  /// - Parameter actions: the names of those actions of the product that the app has.
  public func app(
    _ profile: String, _ summary: String, actions names: Set<String>, settings: [ParameterDeclaration] = []
  ) -> ProfileVocabulary {
    ProfileVocabulary(
      profile: profile, summary: summary, machines: machines, actions: actions.filter { names.contains($0.name) },
      messages: messages, events: events, endCodes: endCodes, errorCodes: errorCodes,
      unseenCodes: unseenCodes, values: values, settings: settings, servers: servers, connections: connections,
      readsDate: readsDate, sendsPushes: sendsPushes)
  }

  /// The profile's main state machine, or nil if it declares none.
  public var mainMachine: StateMachine? { machines.first }

  /// All values: the declared ones and, of a profile with callbacks, the last callback.
  public var allValues: [ValueDeclaration] { values + CallbackVocabulary.values(of: events) }

  /// Returns the declaration of an action.
  public func action(_ name: String) -> ActionDeclaration? { actions.first { $0.name == name } }
  /// Returns the declaration of an end code.
  public func endCode(_ name: String) -> CodeDeclaration? { endCodes.first { $0.name == name } }
  /// Returns the declaration of a message.
  public func message(_ name: String) -> MessageDeclaration? { messages.first { $0.name == name } }
  /// Returns the declaration of a server.
  public func server(_ name: String) -> ServerDeclaration? { servers.first { $0.name == name } }
}

/// The source of a fact about a product; only `documented` is a fact of the vendor, the others are configuration.
public enum Provenance: String, Sendable, CaseIterable {
  case documented, inferred, harnessDefault
}
