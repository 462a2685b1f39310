import CallCore
import SimNet
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

@Suite struct ConnectyCubeCallTests {
  private static func world() throws -> ProfileWorld {
    let world = try ProfileWorld(app: ConnectyCubeApp.self, server: ConnectyCubeServer.self)
    world.run(for: .seconds(1))
    return world
  }

  private static func call(from initiator: String, to user: String) -> MessageContent {
    var signal = CallSignal(.call, sessionID: "s")
    signal.initiator = initiator
    signal.opponents = [user]
    signal.isVideo = false
    signal.sdp = "v=0"
    var content = signal.content(to: user)
    content["from"] = .string(initiator)
    return content
  }

  @Test func `a user's own signal that comes back rings nowhere`() throws {
    let world = try Self.world()
    var echo = Self.call(from: "alice", to: "bob")
    echo["from"] = "bob"
    world.server.inject(echo, from: "bob", to: "bob")
    world.run(for: .seconds(1))
    #expect(world.count("bob", "didReceiveNewSession") == 0)
  }

  @Test func `a call for other users rings nowhere`() throws {
    let world = try Self.world()
    var content = Self.call(from: "alice", to: "carol")
    content["to"] = "bob"
    world.server.inject(content, from: "alice", to: "bob")
    world.run(for: .seconds(1))
    #expect(world.value("bob", "session.state") == "none")
  }

  @Test func `an offer that cannot be used fails the connection, and is answered by a hang-up`() throws {
    let world = try Self.world()
    world.server.inject(Self.call(from: "alice", to: "bob"), from: "alice", to: "bob")
    world.run(for: .seconds(1))
    #expect(world.value("bob", "session.state") == "pending")
    world.perform("bob", "accept")
    world.run(for: .seconds(1))
    #expect(world.values("bob", "call.ended") == ["protocol-violation"])
    #expect(world.value("bob", "connections.open") == "0")
  }
}
