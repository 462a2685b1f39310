package import CallCore
package import CallSession

/// Makes a peer's connections, configured as the scenario says.
public final class PeerConnectionFactory {
  private var configuration: SessionConfiguration
  private let environment: ConnectionEnvironment
  private var count = 0
  private var open: [Weak] = []

  private let stack: any MediaStack

  private struct Weak { weak var connection: (any PeerConnection)? }

  package init(
    configuration: SessionConfiguration, environment: ConnectionEnvironment, stack: any MediaStack = SessionStack()
  ) {
    self.configuration = configuration
    self.environment = environment
    self.stack = stack
    environment.onClose = { [unowned self, unowned environment] closed in
      open.removeAll { $0.connection == nil || $0.connection === closed }
      environment.traceOpenConnections(openConnections.count)
    }
  }

  /// A new connection, gathering on the interfaces that are up.
  public func make() -> any PeerConnection {
    count += 1
    let connection = stack.makeConnection(
      configuration, random: environment.random.scoped("connection/\(count)"), environment: environment)
    open.append(Weak(connection: connection))
    environment.traceOpenConnections(openConnections.count)
    return connection
  }

  /// How many connections were made so far: peer connections, and those over TLS to TURN servers.
  package var madeCount: Int { count + environment.tlsConnectionCount }

  package func setWallClock(_ wallClock: WallClock) { configuration.wallClock = wallClock }

  /// The connections that are not closed.
  package var openConnections: [any PeerConnection] { open.compactMap(\.connection) }

  package func interfacesChanged() {
    stack.interfacesChanged()
    for connection in openConnections { connection.updateInterfaces() }
  }
}
