package import CallCore
internal import Formats
package import PeerSession
package import Statistics
package import Vocabulary

/// A server of a profile, on a simulated host.
package final class CallServerHost {
  package static let port: UInt16 = 443

  /// The configuration of a server that opens peer connections.
  package struct Media {
    package var session: SessionConfiguration
    /// The user ids of the world's peers, by peer name.
    package var userIDs: [String: String]
    package var keyLog: ((String) -> Void)?
    /// The media of connections that forward: what the peers can send and receive.
    package var forwarded: (audio: AudioSettings, video: VideoSettings?) = (AudioSettings(), nil)

    package init(session: SessionConfiguration, userIDs: [String: String], keyLog: ((String) -> Void)? = nil) {
      self.session = session
      self.userIDs = userIDs
      self.keyLog = keyLog
    }
  }

  package let name: String
  package let runtime: HostRuntime
  package let faults: SignallingFaults
  private let codec: SignallingCodec
  private let tap: SignallingTap
  private let server: any CallServer
  private let connections: ServerConnections
  private let tasks: PeerTasks

  /// - Parameters:
  ///   - messages: The messages that the profile's vocabulary declares.
  ///   - media: Nil for a server whose declaration does not open peer connections.
  ///   - tls: What clients are shown by a server that serves TLS.
  ///   - keyLog: Receives the secrets that decrypt the connections of a server that serves TLS.
  package init(
    server: any CallServer.Type, messages: [MessageDeclaration], runtime: HostRuntime,
    port: UInt16 = CallServerHost.port, delay: Interval = .zero, media: Media? = nil,
    tls: TLSListener? = nil, keyLog: ((String) -> Void)? = nil,
    pushes: PushService = PushService(), random: RandomSource, trace: Trace, name: String
  ) {
    self.name = name
    self.runtime = runtime
    let faults = SignallingFaults(clock: runtime.clock, trace: trace, subject: name)
    codec = SignallingCodec(server, messages: messages)
    let tap = SignallingTap(faults: faults, codec: codec, trace: trace, subject: name)
    self.faults = faults
    self.tap = tap
    tasks = PeerTasks(clock: runtime.clock)
    let connections = ServerConnections(media, runtime: runtime, random: random, trace: trace, name: name)
    self.connections = connections
    self.server = server.init(
      environment: ServerEnvironment(
        clock: runtime.clock, tasks: tasks, random: random, network: runtime.network, port: port, delay: delay,
        trace: trace, subject: name, connections: connections, pushes: pushes, tap: tap,
        secure: tls.map { tls in
          { [clock = runtime.clock] stream in
            StreamTLS(
              tls.accept(), with: stream.remote, clock: clock, trace: TLSTrace(trace, subject: name), keyLog: keyLog)
          }
        }))
    if media != nil { runtime.onInterfacesChanged = { [unowned connections] in connections.interfacesChanged() } }
  }

  /// What the server gave to the network and its connections may hold it.
  deinit {
    tap.releaseReceivers()
    runtime.network.releaseReceivers()
  }

  package func start() { server.start() }

  /// Drops the connection of a user, or of all users.
  package func disconnect(user: String?) { tap.disconnect(user: user) }

  /// Called when a user has a connection, or has none any more.
  package var onConnectionsChanged: (() -> Void)? {
    get { tap.onConnectionsChanged }
    set { tap.onConnectionsChanged = newValue }
  }

  /// Returns whether a user has a connection.
  package func isConnected(user: String) -> Bool { tap.isConnected(user: user) }

  /// Returns the number of connections of a user that were dropped because the user is refused.
  package func refusalCount(of user: String) -> Int { tap.refusalCounts[user] ?? 0 }

  /// Refuses or admits a user. A refused user's connections are dropped as soon as they identify the user.
  package func refuse(user: String, _ refuses: Bool) { tap.setRefused(user, refuses) }

  /// Delivers a message in the sender's name that no correct client sent.
  ///
  /// - Parameters:
  ///   - model: The message that has passed before and gives the fields that are not given, by their roles and names.
  ///   - delivery: Follows the message.
  package func inject(
    type: String, from: String, to: String, fields: NamedValues, like model: SignallingMessage? = nil,
    delivery: RawDelivery = RawDelivery()
  ) {
    var content = MessageContent(type)
    // A field that the scenario gives stands, the sender's too: apps must not believe it.
    if let sender = codec.senderField(of: type), !fields.all.contains(where: { $0.name == sender }) {
      content.fields.append(JSON.Member(sender, .string(from)))
    }
    content.fields += fields.all.map { JSON.Member($0.name, json($0.value, of: $0.name, in: type)) }
    if let model, let fields = codec.declaration(of: type)?.fields {
      for field in fields where field.direction.includes(.serverToClient) && content[field.name] == nil {
        content[field.name] = codec.value(for: field, in: model)
      }
    }
    inject(content, from: from, to: to, delivery: delivery)
  }

  /// Returns the value of a raw message's field: a text stands for the object or the list that the field is declared to be,
  /// if it is the JSON of one.
  private func json(_ value: ArgumentValue, of name: String, in type: String) -> JSON {
    guard case .text(let text) = value, let field = structured(name, in: type) else { return JSON(value) }
    return field.type.value(text) ?? JSON(value)
  }

  private func structured(_ name: String, in type: String) -> MessageField? {
    codec.declaration(of: type)?.fields?.first { $0.name == name && [.object, .list].contains($0.type) }
  }

  /// Returns the text that stands for an object or a list in a raw message; nil for a field that is declared to be neither.
  package func text(of member: JSON.Member, in type: String) -> String? {
    structured(member.key, in: type).flatMap { $0.type.admits(member.value) ? member.value.description : nil }
  }

  /// Returns a message that passed: the newest of the type, or the one of this number, counted from 1.
  package func passedMessage(_ type: String, number: Int?) -> SignallingMessage? {
    faults.log?.message(type, number: number)
  }

  /// Returns the name of the field that names a message's sender, if there is one.
  package func senderField(of type: String) -> String? { codec.senderField(of: type) }

  /// The first message of each type to each user, if a log is kept.
  package var firstMessages: [SignallingMessage] { faults.log?.firstToEach ?? [] }

  /// Delivers a message unchanged.
  package func inject(
    _ message: MessageContent, from: String, to: String, delivery: RawDelivery = RawDelivery()
  ) {
    tap.forge(codec.onWire(message), to: to, delivery)
    server.inject(message, from: from, to: to)
  }

  // MARK: Peer connections

  /// Returns the statistics of open peer connections, by their trace subjects.
  package func reports(where isWanted: (String) -> Bool) -> [(subject: String, report: StatsReport)] {
    connections.reports(where: isWanted)
  }

  /// Called with the trace subject of a connection before something that may end streams of it, or all when it is closed.
  package var streamsMayEnd: ((_ subject: String, _ isClosing: Bool) -> Void)? {
    get { connections.streamsMayEnd }
    set { connections.streamsMayEnd = newValue }
  }

  package func statistics(of subject: String) -> StatsReport? { reports { $0 == subject }.first?.report }

  /// Returns where a packet of a stream that the server forwards comes from; nil for other streams.
  package func origin(of ssrc: UInt32, timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    connections.origin(of: ssrc, timestamp: timestamp)
  }

  package var openConnectionCount: Int { connections.openCount }

  /// Closes the server's peer connections; the server continues.
  package func closeConnections() { connections.close() }

  // MARK: The end

  package func shutDown() {
    server.shutDown()
    tasks.shutDown()
    connections.close()
  }

  /// The number of the server's tasks that have not ended.
  package var openTaskCount: Int { tasks.openCount }
}
