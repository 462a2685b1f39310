import CallCore
import VirtualPeer
import Vocabulary

@testable import Profiles

/// Vonage users with cameras on one network with the session server, in virtual time.
final class VonageWorld: ProfileWorld {
  init(_ users: [String] = ["alice", "bob"], settings: [String: NamedValues] = [:], seed: UInt64 = 1) throws {
    var device = Device.Settings()
    device.hasVideo = true
    device.camera = .movingBars
    try super.init(
      app: VonageApp.self, server: VonageServer.self, seed: seed, users: users, settings: settings, device: device)
  }

  func connect(_ users: String..., to session: String = "daily") {
    for user in users { perform(user, "connect", [("session", .text(session))]) }
    run(for: .seconds(4))
  }

  func createRelayed(_ session: String) {
    perform("alice", "create-session", [("session", .text(session)), ("mode", .text("relayed"))])
    run(for: .seconds(1))
  }
}
