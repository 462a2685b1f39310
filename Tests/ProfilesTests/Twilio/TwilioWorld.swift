import CallCore
import VirtualPeer
import Vocabulary

@testable import Profiles

/// Twilio users with cameras on one network with the room server, in virtual time.
final class TwilioWorld: ProfileWorld {
  init(_ users: [String] = ["alice", "bob"], seed: UInt64 = 1, settings: [String: NamedValues] = [:]) throws {
    var device = Device.Settings()
    device.hasVideo = true
    device.camera = .movingBars
    try super.init(
      app: TwilioApp.self, server: TwilioRoomServer.self, seed: seed, users: users, settings: settings, device: device)
  }

  func connect(_ users: String..., to room: String = "daily") {
    for user in users { perform(user, "connect", [("room", .text(room))]) }
    run(for: .seconds(4))
  }
}
