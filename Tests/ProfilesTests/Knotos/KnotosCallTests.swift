import CallCore
import SimNet
import Testing
import VirtualPeer
import Vocabulary

@Suite struct KnotosCallTests {
  @Test func `a call is offered, accepted, heard and hung up`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(2))
    #expect(world.value("bob", "call.state") == "ringing")
    world.perform("bob", "accept")
    world.run(for: .seconds(5))
    #expect(world.value("alice", "audible") == "true")
    #expect(world.value("bob", "audible") == "true")
    world.perform("alice", "hangup")
    world.run(for: .seconds(3))
    #expect(world.values("alice", "call.state") == ["idle", "calling", "connecting", "connected", "ended", "idle"])
    #expect(world.values("bob", "call.state") == ["idle", "ringing", "connecting", "connected", "ended", "idle"])
    #expect(world.values("alice", "call.ended") == ["local-hangup"])
    #expect(world.values("bob", "call.ended") == ["remote-hangup"])
  }

  @Test func `a declined call ends as declined on both sides`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "decline")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "call.reason") == "declined")
    #expect(world.value("bob", "call.reason") == "declined")
  }

  @Test func `an unanswered call is missed after 45 s on both sides`() throws {
    let world = try KnotosWorld()
    let start = world.simulator.now
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(50))
    #expect(world.value("alice", "call.ended") == "ring-timeout")
    #expect(world.value("bob", "call.reason") == "missed")
    let ended = try #require(world.time("alice", "call.ended"))
    #expect(ended - start == .seconds(45))
  }

  @Test func `cancelling shows the callee a missed call`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(3))
    world.perform("alice", "hangup")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "call.reason") == "localHangup")
    #expect(world.value("bob", "call.ended") == "cancelled")
    #expect(world.value("bob", "call.reason") == "missed")
  }

  @Test func `a third user hears busy and disturbs nobody`() throws {
    let world = try KnotosWorld(users: ["alice", "bob", "carol"])
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(2))
    world.perform("carol", "call", to: "bob")
    world.run(for: .seconds(1))
    #expect(world.value("carol", "call.ended") == "busy")
    #expect(world.value("alice", "call.state") == "connected")
    #expect(world.value("bob", "call.state") == "connected")
  }

  @Test(arguments: [0, 10, 20, 35, 60]) func `two users who call each other get one call`(offset: Int64) throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .milliseconds(offset))
    world.perform("bob", "call", to: "alice")
    world.run(for: .seconds(5))
    let connected = ["alice", "bob"].allSatisfy { world.value($0, "call.state") == "connected" }
    let isRinging = world.value("bob", "call.state") == "ringing"
    #expect(connected || isRinging)
    #expect(world.count("alice", "call.ended") == 0)
  }

  @Test(arguments: ["after", "never"]) func `audio configured too late is connected and silent`(order: String) throws {
    let world = try KnotosWorld(settings: ["bob": NamedValues([("audio-session", .text(order))])])
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(5))
    #expect(world.value("bob", "call.state") == "connected")
    #expect(world.values("bob", "audible") == ["false"])
    #expect(world.values("alice", "audible") == ["false"])
  }

  @Test func `losing the socket does not end a connected call`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(2))
    world.server.disconnect(user: "alice")
    world.run(for: .seconds(5))
    #expect(world.value("alice", "socket.state") == "disconnected")
    #expect(world.value("alice", "call.state") == "connected")
    world.run(for: .seconds(8))
    #expect(world.value("alice", "socket.state") == "connected")
    world.perform("alice", "hangup")
    world.run(for: .seconds(1))
    #expect(world.value("bob", "call.ended") == "remote-hangup")
  }

  @Test func `nothing is left when the apps have shut down`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(2))
    for peer in world.peers { peer.shutDown() }
    world.run(for: .seconds(5))
    for peer in world.peers {
      #expect(peer.pendingTimerCount == 0)
      #expect(peer.openConnectionCount == 0)
      #expect(world.simulator.openSocketCount(of: peer.host) == 0)
    }
    #expect(world.simulator.packetsInFlight == 0)
  }

  @Test func `equal seeds give equal traces and other seeds others`() throws {
    func hash(seed: UInt64) throws -> UInt64 {
      let world = try KnotosWorld(seed: seed)
      world.perform("alice", "call", to: "bob")
      world.run(for: .seconds(1))
      world.perform("bob", "accept")
      world.run(for: .seconds(3))
      return world.simulator.trace.hash
    }
    #expect(try hash(seed: 5) == hash(seed: 5))
    #expect(try hash(seed: 5) != hash(seed: 6))
  }
}
