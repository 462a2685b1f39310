package import CallCore
package import ExternalRecords
package import PeerSession
internal import SimNet
package import VirtualPeer

/// A media stack in an external program: every peer connection is one process in the peer's namespace.
///
/// A process starts before the connection that will use it, because a browser may take longer to start than a call to
/// be answered: the first before time begins, the next when the previous connection is established or closed. No
/// process starts beyond the expected number of connections, because a start takes processor time from the call.
package final class ExternalStack: MediaStack {
  package let sendsPicturesOfDevice = false

  package struct Sound {
    /// The audio that the program plays, in the form of the peer protocol.
    package var play: JSON
    /// The path of the file to which process `number`, counted from 1, writes received audio.
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
  /// The timeout for the start of a program.
  private let startLimit: Interval
  private let expectedConnections: Int?
  private var configuration: SessionConfiguration
  private var standby: Standby?
  private var launched = 0
  private var isShutDown = false
  private var clients: [PeerProtocolClient] = []
  /// The paths of the recordings, which are complete when the programs have ended.
  package private(set) var recordings: [String] = []

  /// - Parameters:
  ///   - configuration: the configuration of the first connection, for which a program is started at once.
  ///   - startLimit: the timeout for the start of a program.
  ///   - expectedConnections: the number of connections that the peer is likely to make; nil if unknown. Beyond that
  ///     number, a program is started when it is needed.
  ///   - network: returns the peer's network; nil before the peer has one.
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

  /// Starts the first program and waits until it is ready, before virtual time begins.
  package func start() throws(ExternalError) {
    interfacesChanged()
    try launch()
    guard let standby else { return }
    switch standby.client.awaitAnswer(to: standby.opening, timeout: startLimit) {
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
    let opening = client.begin(
      "open",
      [
        "configuration": configuration.peerProtocolJSON, "audio": audio,
        "video": configuration.video?.peerProtocolJSON ?? .null,
      ])
    standby = Standby(client: client, opening: opening, recording: recording)
  }

  /// Starts a program for the next connection if one is expected.
  private func prepare() {
    guard standby == nil, !isShutDown, expectedConnections.map({ launched < $0 }) ?? true else { return }
    do throws(ExternalError) { try launch() } catch { bridge.note(error) }
  }

  /// Returns the standby program, or starts one, and waits until it is ready.
  private func take() throws(ExternalError) -> Standby {
    if standby == nil { try launch() }
    guard let taken = standby else { throw ExternalError(.harness, "\(name) has no program") }
    standby = nil
    if taken.opening != 0 {
      let answer = taken.client.awaitAnswer(to: taken.opening, timeout: startLimit)
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
    _ configuration: SessionConfiguration, random: RandomSource, subject: String, environment: ConnectionEnvironment
  ) -> any PeerConnection {
    if self.configuration.iceServers != configuration.iceServers {
      // The standby program was opened with other servers.
      self.configuration = configuration
      standby?.client.program.stop(timeout: .zero)
      standby = nil
    }
    let connection = ExternalConnection(
      subject: subject, sendsVideo: configuration.video != nil, environment: environment, bridge: bridge)
    do throws(ExternalError) {
      let program = try take()
      connection.begin(program.client, recording: program.recording)
    } catch {
      bridge.note(error)
      connection.fail(error)
    }
    // Not earlier: a starting program takes processor time from the one that is connecting.
    connection.onSettled = { [weak self] in self?.prepare() }
    return connection
  }

  package func interfacesChanged() {
    bridge.show(network()?.activeInterfaces ?? bridge.simulator.interfaces(of: bridge.host))
  }

  /// The first failure of a program or of its network.
  package var failure: ExternalError? { clients.lazy.compactMap(\.failure).first ?? bridge.failure }

  /// The output of each program, in starting order, and whether the program failed.
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
    for client in clients { client.program.stop(timeout: .seconds(5)) }
    bridge.tearDown()
  }
}

extension SessionConfiguration {
  /// `RTCConfiguration`, as the peer protocol carries it.
  var peerProtocolJSON: JSON {
    // The simulated network has no DNS server, so URLs carry addresses.
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

extension VideoSettings {
  /// The pictures that a program sends, as the peer protocol carries them.
  fileprivate var peerProtocolJSON: JSON {
    ["width": .integer(Int64(width)), "height": .integer(Int64(height)), "frameRate": .integer(Int64(frameRate))]
  }
}
