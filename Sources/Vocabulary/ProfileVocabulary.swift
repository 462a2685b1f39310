/// Everything a profile can say: the one declaration that name checking, the JSON Schema, illegal-transition detection
/// and `callsim explain` are made from.
///
/// A state that is not declared cannot be entered, a code cannot be raised and a value cannot be set. States, actions and
/// end codes have roles beside their names: invariants and explanations go by roles alone, so they know no product.
/// ``misfits`` is what is wrong with a declaration.
public struct ProfileVocabulary: Sendable {
  /// The name scenarios use: `knotos`.
  public let profile: String
  public let summary: String
  /// State machines; the first is the profile's main one, so `bob.connected` means that machine entering `connected`.
  /// Each of its states has a role.
  public let machines: [StateMachine]
  public let actions: [ActionDeclaration]
  public let messages: [MessageDeclaration]
  /// How a call may end, as scenarios assert it (`ends: alice, code: local-hangup`).
  public let endCodes: [CodeDeclaration]
  /// Error codes that are raised, whether or not they end the call.
  public let errorCodes: [CodeDeclaration]
  /// What a scenario may watch besides states.
  public let values: [ValueDeclaration]
  /// What a scenario may set on a peer of this profile.
  public let settings: [ParameterDeclaration]
  /// The servers of the product; apps and scenarios name them.
  public let servers: [ServerDeclaration]
  /// How many peer connections a device has at a time, and their names.
  public let connections: ConnectionNames

  public init(
    profile: String, summary: String, machines: [StateMachine], actions: [ActionDeclaration],
    messages: [MessageDeclaration] = [], endCodes: [CodeDeclaration] = [], errorCodes: [CodeDeclaration] = [],
    values: [ValueDeclaration] = [], settings: [ParameterDeclaration] = [],
    servers: [ServerDeclaration] = [.signalling], connections: ConnectionNames = .single
  ) {
    self.profile = profile
    self.summary = summary
    self.machines = machines
    self.actions = actions
    self.messages = messages
    self.endCodes = endCodes
    self.errorCodes = errorCodes
    self.values = values
    self.settings = settings
    self.servers = servers
    self.connections = connections
  }

  public var mainMachine: StateMachine? { machines.first }

  public func action(_ name: String) -> ActionDeclaration? { actions.first { $0.name == name } }
  public func endCode(_ name: String) -> CodeDeclaration? { endCodes.first { $0.name == name } }
  public func message(_ name: String) -> MessageDeclaration? { messages.first { $0.name == name } }
  public func server(_ name: String) -> ServerDeclaration? { servers.first { $0.name == name } }
}

/// Where a fact about a product comes from; anything but `documented` is configuration, never a vendor's fact.
public enum Provenance: String, Sendable, CaseIterable {
  case documented, inferred, harnessDefault
}
