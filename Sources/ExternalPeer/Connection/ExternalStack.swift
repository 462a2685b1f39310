package import CallCore
package import CallSession
package import ExternalRecords
internal import SimNet
package import VirtualPeer

/// A media stack that is a program: every peer connection is one process of it, in the peer's namespace.
///
/// A process is started ahead of the connection that will use it, because a browser takes longer to start than a call
/// may take to be answered: the first before time begins, the next when the connection before it stands or is closed. One
/// that nobody is expected to use is not: while it starts, it takes the processors from the call.
package final class ExternalStack: MediaStack {
  package struct Sound {
    /// What the program plays, as the peer protocol says it.
    package var play: JSON
    /// Where a program's number `n` records what it hears.
    package var record: (_ number: Int) -> String

    package init(play: JSON, record: @escaping (_ number: Int) -> String) {
      self.play = play
      self.record = record
    }
  }

  private struct Standby {
    var client: PeerProtocolClient
    var opening: Int64
    var recording: String
  }

  private let name: String
  private let command: [String]
  private let environment: [String]
  private let sound: Sound
  private let bridge: ExternalHost
  private let network: () -> PeerNetwork?
  /// How long a program may take to be ready.
  private let startLimit: Interval
  private let expectedConnections: Int?
  private var configuration: SessionConfiguration
  private var standby: Standby?
  private var launched = 0
  private var isShutDown = false
  private var clients: [PeerProtocolClient] = []
  /// What the programs have recorded, once they are gone.
  package private(set) var recordings: [String] = []

  /// - Parameters:
  ///   - configuration: of the first connection, for which a program is started at once.
  ///   - startLimit: how long a program may take to be ready.
  ///   - expectedConnections: how many connections the peer is likely to make, or nil when nobody knows. For one beyond
  ///     that, a program is started when it is needed.
  ///   - network: the peer's network, once it has one.
  package init(
    _ name: String, command: [String], environment: [String], sound: Sound, configuration: SessionConfiguration,
    bridge: ExternalHost, startLimit: Interval, expectedConnections: Int?,
    network: @escaping () -> PeerNetwork?
  ) {
    self.name = name
    self.command = command
    self.environment = environment
    self.sound = sound
    self.configuration = configuration
    self.bridge = bridge
    self.startLimit = startLimit
    self.expectedConnections = expectedConnections
    self.network = network
  }

  // MARK: Programs

  /// Starts the first program and waits until it is ready, which happens before virtual time begins.
  package func start() throws(ExternalError) {
    interfacesChanged()
    try launch()
    guard let standby else { return }
    switch standby.client.awaitAnswer(to: standby.opening, patience: startLimit) {
    case .success(let result):
      bridge.simulator.trace.write(ProgramEvents.agent, bridge.subject, result["agent"]?.string ?? "unknown")
      self.standby?.opening = 0
    case .failure(let error):
      let isMissing = ["NotFoundError", "NotSupportedError"].contains(error.name)
      if let failure = standby.client.failure, !isMissing { throw failure }
      throw ExternalError(
        isMissing ? .unavailable : .program,
        "\(name)'s program (\(command.joined(separator: " "))) refused open: \(error.name): \(error.message)")
    }
  }

  private func launch() throws(ExternalError) {
    launched += 1
    let program = try ChildProgram(
      command, environment: ChildProgram.environment(with: environment), in: bridge.space)
    let client = PeerProtocolClient(program, peer: name)
    clients.append(client)
    let recording = sound.record(launched)
    let audio: JSON = ["play": sound.play, "record": .string(recording)]
    let opening = client.begin("open", ["configuration": configuration.peerProtocolJSON, "audio": audio])
    standby = Standby(client: client, opening: opening, recording: recording)
  }

  /// Has a program ready for the next connection.
  private func prepare() {
    guard standby == nil, !isShutDown, expectedConnections.map({ launched < $0 }) ?? true else { return }
    do throws(ExternalError) { try launch() } catch { bridge.note(error) }
  }

  /// Hands over the program that waits.
  private func take() throws(ExternalError) -> Standby {
    if standby == nil { try launch() }
    guard let taken = standby else { throw ExternalError(.harness, "\(name) has no program") }
    standby = nil
    if taken.opening != 0 {
      let answer = taken.client.awaitAnswer(to: taken.opening, patience: startLimit)
      if case .failure(let error) = answer {
        throw taken.client.failure
          ?? ExternalError(.program, "\(name)'s program refused open: \(error.name): \(error.message)")
      }
    }
    recordings.append(taken.recording)
    return taken
  }

  // MARK: Connections

  package func makeConnection(
    _ configuration: SessionConfiguration, random: RandomSource, environment: ConnectionEnvironment
  ) -> any PeerConnection {
    if self.configuration.iceServers != configuration.iceServers {
      // The program that waits was told of other servers.
      self.configuration = configuration
      standby?.client.program.stop(patience: .zero)
      standby = nil
    }
    let connection = ExternalConnection(environment: environment, bridge: bridge)
    do throws(ExternalError) {
      let program = try take()
      connection.begin(program.client, recording: program.recording)
    } catch {
      bridge.note(error)
      connection.fail(error)
    }
    // Not before: a program that starts takes the processor from the one that is to connect.
    connection.onSettled = { [weak self] in self?.prepare() }
    return connection
  }

  package func interfacesChanged() {
    bridge.show(network()?.activeInterfaces ?? bridge.simulator.interfaces(of: bridge.host))
  }

  /// The first thing that went wrong with a program or with its network.
  package var failure: ExternalError? { clients.lazy.compactMap(\.failure).first ?? bridge.failure }

  /// What each program has said, in the order in which they were started, and whether it failed.
  package var accounts: [(account: ProgramAccount, hasFailed: Bool)] {
    clients.enumerated().map { index, client in
      let number = index == 0 ? "" : "-\(index + 1)"
      return (client.program.account(name: name + number, ending: nil), client.failure != nil)
    }
  }

  /// Ends every program.
  package func shutDown() {
    isShutDown = true
    standby = nil
    for client in clients { client.program.closeInput() }
    for client in clients { client.program.stop(patience: .seconds(5)) }
    bridge.tearDown()
  }
}

extension SessionConfiguration {
  /// `RTCConfiguration`, as the peer protocol carries it.
  var peerProtocolJSON: JSON {
    // Nobody in the simulated network resolves names.
    var servers = iceServers
    for index in servers.indices { servers[index].host = nil }
    let members = servers.map { server in
      switch server.kind {
      case .stun: JSON.object([.init("urls", .array([.string(server.url)]))])
      case .turn:
        JSON.object([
          .init("urls", .array([.string(server.url)])), .init("username", .string(server.username)),
          .init("credential", .string(server.credential)),
        ])
      }
    }
    return ["iceServers": .array(members), "iceTransportPolicy": .string(iceTransportPolicy.rawValue)]
  }
}
