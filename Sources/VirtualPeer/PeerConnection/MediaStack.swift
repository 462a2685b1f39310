package import CallCore
package import CallSession

/// What makes the peer connections of one peer: the seam below the app.
package protocol MediaStack: AnyObject {
  /// - Parameter subject: about whom the connection writes into the trace.
  func makeConnection(
    _ configuration: SessionConfiguration, random: RandomSource, subject: String, environment: ConnectionEnvironment
  ) -> any PeerConnection

  /// The device's interfaces changed; told before the open connections are.
  func interfacesChanged()
}

/// Our own stack: the call session, in this process and in virtual time.
package final class SessionStack: MediaStack {
  package init() {}

  package func makeConnection(
    _ configuration: SessionConfiguration, random: RandomSource, subject: String, environment: ConnectionEnvironment
  ) -> any PeerConnection {
    SessionConnection(configuration: configuration, random: random, subject: subject, environment: environment)
  }

  package func interfacesChanged() {}
}
