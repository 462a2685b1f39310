import CallCore
import SimNet
import Testing
import Vocabulary

@testable import Profiles
@testable import VirtualPeer

/// What scenarios do to signalling, at the server's end of the sockets: the server itself knows nothing of it.
@Suite struct KnotosTapTests {
  private func faulted(_ world: KnotosWorld) -> [String] { world.values("signalling", "signal.faulted") }

  @Test func `a black hole swallows pings, so that both ends find the socket dead by its silence`() throws {
    let world = try KnotosWorld()
    let id = world.server.faults.add(SignallingFault(.blackhole))
    world.run(for: .seconds(40))
    #expect(world.values("alice", "socket.state") == ["disconnected", "connecting", "connected"])
    world.run(for: .seconds(8))
    #expect(world.value("alice", "socket.state") == "disconnected")
    world.run(for: .seconds(120))
    #expect(world.values("alice", "socket.state").filter { $0 == "connected" }.count == 1)
    world.server.faults.remove(id)
    world.run(for: .seconds(60))
    #expect(world.value("alice", "socket.state") == "connected")
    #expect(world.value("bob", "socket.state") == "connected")
  }

  @Test func `nothing of a call gets through a black hole, and afterwards everything does`() throws {
    let world = try KnotosWorld()
    let id = world.server.faults.add(SignallingFault(.blackhole))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(10))
    #expect(world.value("bob", "call.state") == "idle")
    #expect(!faulted(world).isEmpty && faulted(world).allSatisfy { $0 == "blackhole" })
    world.perform("alice", "hangup")
    world.server.faults.remove(id)
    world.run(for: .seconds(2))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    #expect(world.value("bob", "call.state") == "ringing")
  }

  @Test func `the server's reset does not pass a black hole while it lasts`() throws {
    let world = try KnotosWorld()
    let id = world.server.faults.add(SignallingFault(.blackhole))
    world.server.disconnect(user: "alice")
    world.run(for: .seconds(5))
    #expect(world.value("alice", "socket.state") == "connected")
    world.server.faults.remove(id)
    world.run(for: .seconds(1))
    #expect(world.value("alice", "socket.state") == "disconnected")
  }

  @Test func `a fault without a message type meets pings too`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.drop, to: "alice"))
    world.run(for: .seconds(50))
    #expect(world.value("alice", "socket.state") != "connected")
    #expect(world.value("bob", "socket.state") == "connected")
  }

  @Test func `a client whose frames are lost from the start cannot introduce itself`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.drop, from: "alice"))
    world.server.disconnect(user: "alice")
    world.run(for: .seconds(30))
    #expect(world.value("alice", "socket.state") == "connecting")
  }

  @Test func `what a puppet sends meets the faults`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.drop, type: "call_offer", from: "mallory", count: 1))
    let offer = NamedValues([("callId", .text("m1")), ("offer", .text("v=0"))])
    world.server.inject(type: "call_offer", from: "mallory", to: "bob", fields: offer)
    world.run(for: .seconds(1))
    #expect(world.value("bob", "call.state") == "idle")
    world.server.inject(type: "call_offer", from: "mallory", to: "bob", fields: offer)
    world.run(for: .seconds(1))
    #expect(world.value("bob", "call.state") == "ringing")
  }

  @Test func `a message that the server passes on meets a fault once`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.delay(.seconds(2)), type: "call_offer"))
    world.perform("alice", "call", to: "bob")
    world.run(for: .milliseconds(1_900))
    #expect(world.value("bob", "call.state") == "idle")
    world.run(for: .milliseconds(300))
    #expect(world.value("bob", "call.state") == "ringing")
    #expect(faulted(world) == ["delay"])
  }

  @Test func `a refused user is cut off each time it says who it is`() throws {
    let world = try KnotosWorld()
    world.server.refuse(user: "bob", true)
    world.server.disconnect(user: "bob")
    world.run(for: .seconds(35))
    #expect(world.values("bob", "socket.state").suffix(2) == ["connecting", "disconnected"])
    world.server.refuse(user: "bob", false)
    world.run(for: .seconds(15))
    #expect(world.value("bob", "socket.state") == "connected")
  }

  @Test(
    arguments: [
      ("2", "ping", nil), ("3", "pong", nil), ("0{}", "open", nil), ("x", "malformed", nil), ("42[", "malformed", nil),
      (#"40{"userId":"zoe"}"#, "connect", "zoe"), ("430[]", "acknowledgement", nil),
      (#"42["call_offer",{"fromUserId":"zoe","callId":"z1"}]"#, "call_offer", "zoe"),
    ] as [(String, String, String?)])
  func `a frame is known by its text`(text: String, type: String, sender: String?) {
    #expect(KnotosServer.label(of: text) == SignallingLabel(type, sender: sender))
  }
}
