package import CallCore
public import PeerSession
package import Pictures
package import Statistics
package import Vocabulary

/// Makes the peer connections of a device, with the configuration of the scenario.
public final class PeerConnectionFactory {
  private struct Opened {
    weak var connection: (any PeerConnection)?
    /// The trace subject of the connection.
    let subject: String
  }

  private var configuration: SessionConfiguration
  private let environment: ConnectionEnvironment
  private let owner: String
  private let names: ConnectionNames
  private let remotes: PeerNames
  private let stack: any MediaStack
  private var count = 0
  private var opened: [Opened] = []

  /// - Parameter owner: The peer or server that owns the connections.
  package init(
    configuration: SessionConfiguration, environment: ConnectionEnvironment, owner: String,
    names: ConnectionNames = .single, remotes: PeerNames = PeerNames(), stack: any MediaStack = SessionStack()
  ) {
    self.configuration = configuration
    self.environment = environment
    self.owner = owner
    self.names = names
    self.remotes = remotes
    self.stack = stack
    environment.onClose = { [unowned self] closed in
      let subject = opened.first { $0.connection === closed }?.subject
      opened.removeAll { $0.connection == nil || $0.connection === closed }
      traceOpen(subject)
    }
  }

  /// Called with the trace subject of a connection before something that may end streams of it, or all when it is closed.
  package var streamsMayEnd: ((_ subject: String, _ isClosing: Bool) -> Void)? {
    get { environment.streamsMayEnd }
    set { environment.streamsMayEnd = newValue }
  }

  /// The size of the pictures that the device is asked for; nil if it has none to give.
  package var pictureSize: PictureSize? {
    environment.device.pictures == nil ? nil : configuration.video?.size
  }

  /// Whether what the device films, or shows, is what connections send: a program in their place has pictures of its own.
  public var sendsPicturesOfDevice: Bool { stack.sendsPicturesOfDevice }

  /// Makes a new connection, which gathers on the interfaces that are up.
  ///
  /// - Parameters:
  ///   - name: The id of the remote user, or the declared name of the remote server; with
  ///     ``ConnectionNames/named(_:)`` the name that the vocabulary declares, with ``ConnectionNames/single`` nil.
  ///   - dtls: The use of DTLS, which a program in place of the stack decides itself.
  public func make(to name: String? = nil, dtls: DTLSPolicy = .required) -> any PeerConnection {
    count += 1
    let subject = subject(of: name)
    configuration.dtlsPolicy = dtls
    let connection = stack.makeConnection(
      configuration, random: environment.random.scoped("connection/\(count)"), subject: subject,
      environment: environment)
    opened.append(Opened(connection: connection, subject: subject))
    traceOpen(subject)
    environment.dataChannels?.begin(connection, subject: subject)
    return connection
  }

  private func subject(of name: String?) -> String {
    switch names {
    case .single: return owner
    case .peers:
      guard let name else {
        preconditionFailure("\(owner) has several connections: say to whom this one leads, make(to:)")
      }
      return ConnectionSubject.name(of: remotes.remote(name), at: owner)
    case .named(let names):
      guard let name, names.contains(name) else {
        preconditionFailure(
          "'\(name ?? "")' is not a connection that the vocabulary of \(owner)'s profile declares: \(names)")
      }
      return ConnectionSubject.name(of: name, at: owner)
    }
  }

  /// Writes the number of open connections, in total and of one name.
  private func traceOpen(_ subject: String?) {
    environment.traceOpenConnections(openConnections.count, of: owner)
    guard let subject, subject != owner else { return }
    environment.traceOpenConnections(
      opened.count { $0.connection != nil && $0.subject == subject }, of: subject)
  }

  /// The random source of the device's media.
  var random: RandomSource { environment.random }

  /// The number of connections made so far: peer connections, and TLS connections to TURN servers.
  package var madeCount: Int { count + environment.tlsConnectionCount }

  package func setWallClock(_ wallClock: WallClock) { configuration.wallClock = wallClock }

  /// Closes every connection of a process that has ended.
  func processEnded() {
    for connection in openConnections { connection.close() }
    environment.dataChannels?.shutDown()
    environment.processEnded()
  }

  /// The connections that are not closed, with their trace subjects.
  var openSubjects: [(subject: String, connection: any PeerConnection)] {
    opened.compactMap { entry in entry.connection.map { (entry.subject, $0) } }
  }

  /// The connections that are not closed.
  package var openConnections: [any PeerConnection] { opened.compactMap(\.connection) }

  /// Returns the statistics of the newest open connection of each trace subject.
  package func reports(where isWanted: (String) -> Bool) -> [(subject: String, report: StatsReport)] {
    var newest: [(subject: String, connection: any PeerConnection)] = []
    for entry in opened where isWanted(entry.subject) {
      guard let connection = entry.connection else { continue }
      newest.removeAll { $0.subject == entry.subject }
      newest.append((entry.subject, connection))
    }
    return newest.map { ($0.subject, $0.connection.statistics()) }
  }

  func origin(of ssrc: UInt32, timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    environment.forwarding?.origin(of: ssrc, timestamp: timestamp)
  }

  package func interfacesChanged() {
    stack.interfacesChanged()
    for connection in openConnections { connection.updateInterfaces() }
  }
}
