internal import CallCore
internal import Formats
internal import Foundation
internal import PeerSession
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer
internal import Vocabulary

#if canImport(ExternalPeer)
  internal import ExternalPeer

  /// Builds the peers of a world that are programs: namespaces, sounds, and what a program is told of the world.
  struct ExternalBuilder {
    let scenario: Scenario
    let world: World

    /// Adds a peer with a program below its profile's app.
    func add(
      _ peer: Scenario.Peer, _ configuration: VirtualPeer.Configuration, app: any CallApp.Type, on host: HostID
    ) throws {
      let stack = ExternalStack(
        peer.name, command: Self.command(of: peer), environment: try environment(of: peer),
        sound: try sound(peer, settings: configuration.device), configuration: configuration.session,
        bridge: try bridge(peer, host: host), startLimit: scenario.limits.start,
        expectedConnections: Self.expectedConnections(of: peer.name, in: scenario, app.vocabulary.actions),
        network: { [weak world] in world?.peer(peer.name)?.runtime.network })
      world.programs.add(stack, of: peer.name)
      world.add(VirtualPeer(configuration, app: app, stack: stack, on: host, of: world.simulator))
    }

    /// Adds a peer that is a program alone.
    func add(_ peer: Scenario.Peer) throws {
      let host = try world.simulator.host(peer.name)
      let runtime = HostRuntime(simulator: world.simulator, host: host, wallClock: WallClock())
      world.programs.add(
        ExternalProgram(
          peer.name, command: Self.command(of: peer), environment: try environment(of: peer),
          interfaceNames: peer.interfaces.map { ($0.link, $0.name) }, bridge: try bridge(peer, host: host),
          runtime: runtime))
    }

    /// The peer's command; `callsim` is this program itself, wherever it lies.
    static func command(of peer: Scenario.Peer) -> [String] {
      guard peer.command.first == "callsim", let path = Bundle.main.executablePath else { return peer.command }
      return [path] + peer.command.dropFirst()
    }

    private func bridge(_ peer: Scenario.Peer, host: HostID) throws -> ExternalHost {
      guard let pace = world.pace.realTime else { throw HarnessError("a program needs real time") }
      return try ExternalHost(
        peer.name, host: host, of: world.simulator, pace: pace, folder: try world.temporaryFolder())
    }

    /// Where everybody is, for programs that cannot be told otherwise: `CALLSIM_ADDRESS_STUN=203.0.113.2`.
    private func environment(of peer: Scenario.Peer) throws -> [String] {
      var variables = ["CALLSIM_PEER=\(peer.name)", "TMPDIR=\(try world.temporaryFolder())"]
      for name in scenario.topology.servers.map(\.name) + scenario.peers.map(\.name) {
        guard let host = try? world.simulator.host(name) else { continue }
        let addresses = world.simulator.interfaces(of: host).flatMap(\.addresses)
        let letters = name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        variables.append("CALLSIM_ADDRESS_\(String(letters))=\(addresses.map { "\($0)" }.joined(separator: " "))")
      }
      return variables
    }

    /// How many connections a peer is likely to make: one for each call that its user agrees to, as the timeline has it.
    /// Nil when nobody knows.
    static func expectedConnections(of peer: String, in scenario: Scenario, _ actions: [ActionDeclaration]) -> Int? {
      let entries = scenario.timeline.filter { entry in
        guard case .action(peer, let name, _) = entry.effect, entry.refusal == .none else { return false }
        return actions.contains { $0.name == name && $0.role?.isConsent == true }
      }
      var count = 0
      for entry in entries {
        switch entry.trigger {
        case .at, .after: count += 1
        case .when(_, _, let times), .every(_, _, _, let times?): count += min(times, 1_000)
        case .every: return nil
        }
      }
      return count == 0 ? nil : count
    }

    /// What the program plays and records, as the peer's devices say.
    private func sound(_ peer: Scenario.Peer, settings: Device.Settings) throws -> ExternalStack.Sound {
      let folder = try world.temporaryFolder()
      var play = JSON.null
      switch settings.mayRecord ? settings.microphone : .silence {
      case .silence: break
      case .tone(let frequency): play = ["tone": .integer(Int64(frequency))]
      case .noise, .speech, .recording:
        let path = "\(folder)/\(peer.name)-microphone.wav"
        let file = try WAVFile(path: path)
        let samples = settings.microphone.loop(random: world.simulator.random.scoped("peer").scoped(peer.name))
        file.append(samples.span)
        try file.close()
        play = ["wav": .string(path)]
      }
      return ExternalStack.Sound(play: play) { number in "\(folder)/\(peer.name)-heard-\(number).wav" }
    }
  }
#else
  /// Programs take part on Linux alone; runs that need them are skipped before a world is built.
  struct ExternalBuilder {
    let scenario: Scenario
    let world: World

    func add(
      _ peer: Scenario.Peer, _ configuration: VirtualPeer.Configuration, app: any CallApp.Type, on host: HostID
    ) throws { try add(peer) }

    func add(_ peer: Scenario.Peer) throws { throw HarnessError(ExternalPrograms.problem ?? "there are no programs") }
  }
#endif
