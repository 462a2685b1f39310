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

  // MARK: Several sessions

  /// A world in which alice keeps several sessions, and is in one with bob.
  private static func several() throws -> ProfileWorld {
    let settings = ["alice": NamedValues([("several-sessions", .flag(true))])]
    let world = try ProfileWorld(
      app: ConnectyCubeApp.self, server: ConnectyCubeServer.self, users: ["alice", "bob", "carol", "dave"],
      settings: settings)
    world.run(for: .seconds(1))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(2))
    #expect(world.value("alice", "session.state") == "connected")
    return world
  }

  @Test func `who keeps several sessions refuses a call while another one rings`() throws {
    let world = try Self.several()
    world.perform("carol", "call", to: "alice")
    world.run(for: .seconds(1))
    world.perform("dave", "call", to: "alice")
    world.run(for: .seconds(1))
    #expect(world.values("dave", "call.ended") == ["rejected"])
    #expect(world.value("carol", "session.state") == "pending")
    #expect(world.perform("alice", "call", to: "dave")?.reason == "there is a call already")
  }

  @Test func `who keeps several sessions has one with a user at most`() throws {
    let world = try Self.several()
    #expect(world.perform("alice", "call", to: "bob")?.reason == "there is a call already")
    world.server.inject(Self.call(from: "bob", to: "alice"), from: "bob", to: "alice")
    world.run(for: .seconds(1))
    #expect(world.values("alice", "code") == ["cc.busy"])
    #expect(world.value("alice", "session.state") == "connected")
  }

  @Test func `the other side's hang-up ends its session alone`() throws {
    let world = try Self.several()
    world.perform("alice", "call", to: "carol")
    world.run(for: .seconds(1))
    world.perform("carol", "accept")
    world.run(for: .seconds(2))
    #expect(world.value("alice", "connections.open") == "2")
    world.perform("bob", "hangup")
    world.run(for: .seconds(1))
    #expect(world.value("alice/to/bob", "opponent.session.state") == "closed")
    #expect(world.value("alice/to/carol", "opponent.session.state") == "connected")
    #expect(world.values("alice", "call.ended") == ["hung-up-by-user"])
    #expect(world.value("alice", "session.state") == "connected")
    #expect(world.value("alice", "call.beside") == "none")
    world.expectNothingIsLeftAfterShutdown()
  }

  @Test func `a session that rang when the other ended has the audio, and gives it back`() throws {
    let world = try Self.several()
    world.perform("carol", "call", to: "alice")
    world.run(for: .seconds(1))
    world.perform("bob", "hangup")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "session.state") == "pending")
    world.perform("alice", "accept")
    world.run(for: .seconds(3))
    #expect(world.value("alice", "audible") == "true")
    #expect(world.fields("alice", "audio-session.state").last?[1] == "playAndRecord")
    world.perform("alice", "hangup")
    world.run(for: .seconds(1))
    #expect(world.fields("alice", "audio-session.state").last?[1] != "playAndRecord")
    #expect(world.fields("alice", "audio-session.state").last?[0] == "inactive")
  }

  @Test func `a mute is of all sessions, and of one that begins later`() throws {
    let world = try Self.several()
    world.perform("alice", "mute")
    world.perform("alice", "call", to: "carol")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "mic.muted") == "true")
    world.perform("alice", "hangup", [("with", .text("carol"))])
    #expect(world.value("alice", "mic.muted") == "true")
    #expect(world.perform("alice", "hangup", [("with", .text("carol"))])?.reason == "there is no session with carol")
  }
}
