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
    let codec = SignallingCodec(KnotosServer.self, messages: KnotosApp.vocabulary.messages)
    let message = codec.message(text, from: nil, to: nil)
    #expect(message.type == type)
    #expect(message.from == sender)
  }

  // MARK: Fields

  @Test func `a field is set by its role, and the rest of the message goes on as it was`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.set(field: "call-id", "other"), type: "call_answer"))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(2))
    #expect(faulted(world) == ["corrupt"])
    #expect(world.values("alice", "message.rejected").first == "call_answer: unknown call")
  }

  @Test func `to set what is there already meets nothing`() throws {
    let world = try KnotosWorld()
    let id = world.server.faults.add(SignallingFault(.set(field: "sender", "alice"), type: "call_offer"))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    #expect(world.value("bob", "call.state") == "ringing")
    #expect(world.server.faults.meetings(of: id) == 0)
    #expect(faulted(world) == [])
  }

  @Test func `a damaged field leaves messages alone that do not have it`() throws {
    let world = try KnotosWorld()
    let id = world.server.faults.add(SignallingFault(.damage(field: "candidate")))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(5))
    #expect(world.server.faults.meetings(of: id) > 0)
    #expect(world.count("bob", "code") > 0)
    #expect(world.values("signalling", "signal.faulted").allSatisfy { $0 == "corrupt" })
    #expect(world.value("bob", "call.state") == "connecting" || world.value("bob", "call.state") == "connected")
  }

  @Test func `a message in a frame keeps what the frame says beside it`() {
    let text = #"4217["call_hangup",{"callId":"a1"},"more"]"#
    guard case .message(var content) = KnotosServer.frame(of: text) else {
      Issue.record("no message")
      return
    }
    content["callId"] = "a2"
    #expect(KnotosServer.text(of: content, in: text) == #"4217["call_hangup",{"callId":"a2"},"more"]"#)
    #expect(KnotosServer.text(of: content, in: nil) == #"42["call_hangup",{"callId":"a2"}]"#)
  }

  // MARK: Misfits

  @Test func `all that the app and the server say in a call is declared`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(5))
    world.perform("alice", "ice-restart")
    world.run(for: .seconds(2))
    world.perform("bob", "hangup")
    world.run(for: .seconds(2))
    #expect(world.count("signalling", "signal.misfit") == 0)
  }

  @Test func `a client that says what nobody declared is a finding, and traps nobody`() throws {
    let world = try KnotosWorld()
    let carol = world.stranger("carol")
    world.run(for: .seconds(1))
    carol.send(#"42["call_offer",{"toUserId":"bob","offer":7,"callId":"c1"}]"#)
    carol.send(#"42["call_dance",{}]"#)
    carol.send(#"42["call_decline",{"callId":"c1","mood":"bad"}]"#)
    world.run(for: .seconds(1))
    #expect(
      world.fields("signalling", "signal.misfit").map { $0[3] } == [
        "the field 'offer' is no session description", "no message of that type is declared",
        "the field 'mood' is not declared",
      ])
  }

  @Test func `what a puppet says need not fit`() throws {
    let world = try KnotosWorld()
    world.server.inject(type: "call_offer", from: "mallory", to: "bob", fields: NamedValues([("offer", .count(7))]))
    world.server.inject(type: "call_dance", from: "mallory", to: "bob", fields: NamedValues([]))
    world.run(for: .seconds(1))
    #expect(world.count("signalling", "signal.misfit") == 0)
  }
}
