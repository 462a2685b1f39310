/// What an application may change of a connection that there is (W3C `RTCConfiguration`).
public struct ICEConfiguration: Hashable, Sendable {
  /// The STUN and TURN servers.
  public var servers: [ICEServer]
  /// The candidates that may be used.
  public var transportPolicy: ICETransportPolicy

  /// Makes a configuration.
  public init(servers: [ICEServer], transportPolicy: ICETransportPolicy = .all) {
    self.servers = servers
    self.transportPolicy = transportPolicy
  }
}

extension CallSession {
  /// What candidates are gathered with (W3C `getConfiguration`).
  public var iceConfiguration: ICEConfiguration {
    ICEConfiguration(servers: configuration.iceServers, transportPolicy: configuration.iceTransportPolicy)
  }

  /// Gathers with other servers, or candidates of other types, from the next gathering on. Once there has been one, the
  /// next offer restarts ICE, and so brings it about (W3C `setConfiguration`, RFC 9429 section 4.1.18).
  public mutating func setICEConfiguration(_ ice: ICEConfiguration) throws(SessionError) {
    guard connectionState != .closed else { throw .invalidState("closed") }
    guard ice != iceConfiguration else { return }
    configuration.iceServers = ice.servers
    configuration.iceTransportPolicy = ice.transportPolicy
    gatherer.configuration.iceServers = ice.servers
    gatherer.configuration.iceTransportPolicy = ice.transportPolicy
    if !gatherings.isEmpty { offersRestart = true }
  }
}
