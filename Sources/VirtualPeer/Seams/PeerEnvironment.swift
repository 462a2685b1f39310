public import CallCore

/// Everything the outside world is to an app, and nothing else.
public struct PeerEnvironment {
  /// The peer's name in the scenario; also its user id.
  public let name: String
  public let clock: PeerClock
  /// The peer's own randomness, already scoped to its name.
  public let random: RandomSource
  public let network: PeerNetwork
  public let device: Device
  public let connections: PeerConnectionFactory
  public let trace: PeerTrace
  /// What the scenario set on this peer, as the vocabulary declares it.
  public let settings: NamedValues
  /// Where the profile's signalling server listens.
  public let signallingServer: Endpoint

  package init(
    name: String, clock: PeerClock, random: RandomSource, network: PeerNetwork, device: Device,
    connections: PeerConnectionFactory, trace: PeerTrace, settings: NamedValues, signallingServer: Endpoint
  ) {
    self.name = name
    self.clock = clock
    self.random = random
    self.network = network
    self.device = device
    self.connections = connections
    self.trace = trace
    self.settings = settings
    self.signallingServer = signallingServer
  }
}
