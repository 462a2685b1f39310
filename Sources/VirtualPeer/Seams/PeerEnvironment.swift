public import CallCore
public import Vocabulary

/// An app's only access to the outside world.
public struct PeerEnvironment {
  /// The peer's name in the scenario.
  public let name: String
  /// The user's id at the signalling server: the peer's name, unless the scenario sets another id.
  public let userID: String
  /// How often the app was launched, from 1: what it keeps over launches begins with another value.
  public let launchCount: Int
  /// The peer's clock.
  public let clock: PeerClock
  /// Runs async code in virtual time.
  public let tasks: PeerTasks
  /// The peer's own random source, scoped to its name.
  public let random: RandomSource
  /// The peer's access to the simulated network.
  public let network: PeerNetwork
  /// The peer's device.
  public let device: Device
  /// The system's call UI.
  public let callKit: CallKit
  /// VoIP pushes to the app.
  public let pushKit: PushKit
  /// The factory of the peer's connections.
  public let connections: PeerConnectionFactory
  /// The peer's trace.
  public let trace: PeerTrace
  /// The peer's settings in the scenario, as the vocabulary declares them.
  public let settings: NamedValues
  private let servers: [String: Endpoint]
  private let onRefusal: (UserAction, ActionError) -> Void

  package init(
    name: String, userID: String, launchCount: Int = 1, clock: PeerClock, tasks: PeerTasks, random: RandomSource,
    network: PeerNetwork,
    device: Device, callKit: CallKit, pushKit: PushKit, connections: PeerConnectionFactory, trace: PeerTrace,
    settings: NamedValues,
    servers: [String: Endpoint], onRefusal: @escaping (UserAction, ActionError) -> Void = { _, _ in }
  ) {
    self.name = name
    self.userID = userID
    self.launchCount = launchCount
    self.clock = clock
    self.tasks = tasks
    self.random = random
    self.network = network
    self.device = device
    self.callKit = callKit
    self.pushKit = pushKit
    self.connections = connections
    self.trace = trace
    self.settings = settings
    self.servers = servers
    self.onRefusal = onRefusal
  }

  /// Says that an action which the app began has no effect after all, because a server refuses it.
  public func refuse(_ action: UserAction, _ error: ActionError) { onRefusal(action, error) }

  /// Returns the address of a server of the product.
  ///
  /// - Parameter name: The server's name in the vocabulary.
  public func endpoint(of name: String) -> Endpoint {
    guard let endpoint = servers[name] else {
      preconditionFailure("'\(name)' is not a server that the vocabulary declares")
    }
    return endpoint
  }
}
