import CallCore
import SimNet
import VirtualPeer
import Vocabulary

@testable import Profiles

/// Knotos users on one network with a signalling server, in virtual time.
final class KnotosWorld: ProfileWorld {
  init(
    seed: UInt64 = 1, users: [String] = ["alice", "bob"], delay: Interval = .milliseconds(20),
    settings: [String: NamedValues] = [:], device: Device.Settings = Device.Settings()
  ) throws {
    try super.init(
      app: KnotosApp.self, server: KnotosServer.self, seed: seed, users: users, delay: delay, settings: settings,
      device: device)
  }

  static let webSocketPath = "/socket.io/?EIO=4&transport=websocket"

  /// Connects a client that is no app of ours, in the name of a user.
  func stranger(_ user: String) -> WebSocketChannel {
    let channel = connectStranger(Self.webSocketPath)
    channel.send("40{\"userId\":\"\(user)\"}")
    run(for: .milliseconds(200))
    return channel
  }
}
