public import CallCore
public import Vocabulary

/// Everything the outside world is to an app, and nothing else.
public struct PeerEnvironment {
  /// The peer's name in the scenario.
  public let name: String
  /// Who the device's user is to the signalling server: the peer's name, unless the scenario gives another id.
  public let userID: String
  public let clock: PeerClock
  /// Runs async code in virtual time.
  public let tasks: PeerTasks
  /// The peer's own randomness, already scoped to its name.
  public let random: RandomSource
  public let network: PeerNetwork
  public let device: Device
  public let connections: PeerConnectionFactory
  public let trace: PeerTrace
  /// What the scenario set on this peer, as the vocabulary declares it.
  public let settings: NamedValues
  private let servers: [String: Endpoint]

  package init(
    name: String, userID: String, clock: PeerClock, tasks: PeerTasks, random: RandomSource, network: PeerNetwork,
    device: Device, connections: PeerConnectionFactory, trace: PeerTrace, settings: NamedValues,
    servers: [String: Endpoint]
  ) {
    self.name = name
    self.userID = userID
    self.clock = clock
    self.tasks = tasks
    self.random = random
    self.network = network
    self.device = device
    self.connections = connections
    self.trace = trace
    self.settings = settings
    self.servers = servers
  }

  /// Where a server of the product listens.
  ///
  /// - Parameter name: as the vocabulary declares it.
  public func endpoint(of name: String) -> Endpoint {
    guard let endpoint = servers[name] else {
      preconditionFailure("'\(name)' is no server that the vocabulary declares")
    }
    return endpoint
  }
}
