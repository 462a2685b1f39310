internal import CallCore
internal import CallSession
internal import ExternalPeer
internal import Formats
internal import Foundation
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer
internal import Vocabulary

/// Builds the peers of a world that are programs: namespaces, audio, and the description of the world for a program.
struct ExternalBuilder {
  let scenario: Scenario
  let world: World

  /// Returns why the scenario's programs cannot run on this machine; nil when they can, or there are none.
  static func obstacle(to scenario: Scenario) -> String? {
    let programs = scenario.peers.filter { $0.stack == .external }
    guard !programs.isEmpty else { return nil }
    if let problem = ExternalSupport.problem { return problem }
    return programs.lazy.compactMap { ExternalSupport.problem(with: command(of: $0)) }.first
  }

  /// Returns the peer's command; `callsim` stands for the path of this program.
  static func command(of peer: Scenario.Peer) -> [String] {
    guard peer.command.first == "callsim", let path = Bundle.main.executablePath else { return peer.command }
    return [path] + peer.command.dropFirst()
  }

  func bridge(_ peer: Scenario.Peer, host: HostID) throws -> ExternalHost {
    guard let pace = world.pace.realTime else { throw HarnessError("a program needs real time") }
    return try ExternalHost(peer.name, host: host, of: world.simulator, pace: pace, folder: try world.temporaryFolder())
  }

  /// Returns the addresses of all hosts as environment variables: `CALLSIM_ADDRESS_STUN=203.0.113.2`.
  func environment(of peer: Scenario.Peer) throws -> [String] {
    var variables = ["CALLSIM_PEER=\(peer.name)", "TMPDIR=\(try world.temporaryFolder())"]
    for name in scenario.topology.servers.map(\.name) + scenario.peers.map(\.name) {
      guard let host = try? world.simulator.host(name) else { continue }
      let addresses = world.simulator.interfaces(of: host).flatMap(\.addresses)
      let letters = name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
      variables.append("CALLSIM_ADDRESS_\(String(letters))=\(addresses.map { "\($0)" }.joined(separator: " "))")
    }
    return variables
  }

  /// Returns the expected number of connections of a peer: one for each call that its user agrees to in the timeline.
  /// Nil when it cannot be known.
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

  /// Returns the audio that the program plays and records, by the peer's device settings.
  func sound(_ peer: Scenario.Peer, settings: Device.Settings) throws -> ExternalStack.Sound {
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
