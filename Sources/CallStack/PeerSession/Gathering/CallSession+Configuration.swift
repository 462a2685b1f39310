/// The part of the configuration that an application may change in an existing connection (W3C `RTCConfiguration`).
public struct ICEConfiguration: Hashable, Sendable {
  /// The STUN and TURN servers.
  public var servers: [ICEServer]
  /// The policy for the candidates that may be used.
  public var transportPolicy: ICETransportPolicy

  /// Makes a configuration.
  public init(servers: [ICEServer], transportPolicy: ICETransportPolicy = .all) {
    self.servers = servers
    self.transportPolicy = transportPolicy
  }
}

extension CallSession {
  /// The servers and the policy for gathering candidates (W3C `getConfiguration`).
  public var iceConfiguration: ICEConfiguration {
    ICEConfiguration(servers: configuration.iceServers, transportPolicy: configuration.iceTransportPolicy)
  }

  /// Changes the servers and the candidate policy from the next gathering on. If candidates were gathered before, the
  /// next offer restarts ICE, which gathers again (W3C `setConfiguration`, RFC 9429 section 4.1.18).
  ///
  /// - Throws: ``SessionError/invalidState(_:)`` when the session is closed.
  public func setICEConfiguration(_ ice: ICEConfiguration) throws(SessionError) {
    guard connectionState != .closed else { throw .invalidState("closed") }
    guard ice != iceConfiguration else { return }
    configuration.iceServers = ice.servers
    configuration.iceTransportPolicy = ice.transportPolicy
    gatherer.configuration.iceServers = ice.servers
    gatherer.configuration.iceTransportPolicy = ice.transportPolicy
    if !gatherings.isEmpty { offersRestart = true }
  }
}
