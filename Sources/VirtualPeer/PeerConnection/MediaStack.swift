package import CallCore
package import PeerSession

/// Makes the peer connections of one peer: the seam below the app.
package protocol MediaStack: AnyObject {
  /// Creates a connection.
  ///
  /// - Parameter subject: The trace subject of the connection.
  func makeConnection(
    _ configuration: SessionConfiguration, random: RandomSource, subject: String, environment: ConnectionEnvironment
  ) -> any PeerConnection

  /// Whether connections send the pictures of the device: a program has its own.
  var sendsPicturesOfDevice: Bool { get }

  /// Handles a change of the device's interfaces; called before the open connections are informed.
  func interfacesChanged()
}

/// The built-in stack: the call session, in this process and in virtual time.
package final class SessionStack: MediaStack {
  package init() {}

  package let sendsPicturesOfDevice = true

  package func makeConnection(
    _ configuration: SessionConfiguration, random: RandomSource, subject: String, environment: ConnectionEnvironment
  ) -> any PeerConnection {
    SessionConnection(configuration: configuration, random: random, subject: subject, environment: environment)
  }

  package func interfacesChanged() {}
}
