import CallCore
import PeerSession
import SimNet
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

/// Messages that are stale, reordered, repeated, from the wrong user or for the wrong side (bug classes 1, 4, 10–13, 17).
@Suite struct KnotosHostileTests {
  private static let events = [
    "call_offer", "call_answer", "ice_candidate", "call_decline", "call_busy", "call_hangup", "call_dance",
  ]

  private func values(_ callID: String) -> NamedValues {
    NamedValues([("callId", .text(callID)), ("offer", .text("v=0")), ("candidate", .text("candidate:bad"))])
  }

  private func world(in state: String) throws -> KnotosWorld {
    let world = try KnotosWorld(users: ["alice", "bob", "carol"])
    if state == "idle" { return world }
    world.perform("alice", "call", to: "bob")
    world.run(for: .milliseconds(500))
    if state == "ringing" { return world }
    world.perform("bob", "accept")
    if state == "connecting" { return world }
    world.run(for: .seconds(2))
    if state == "connected" { return world }
    world.perform("alice", "hangup")
    world.run(for: .milliseconds(500))
    return world
  }

  @Test(arguments: ["ringing", "connecting", "connected", "ended"], events)
  func `no message of a third user changes a call`(state: String, event: String) throws {
    let world = try world(in: state)
    let before = ["alice", "bob"].map { world.value($0, "call.state") }
    #expect(before.last == state)
    func heard(_ victim: String) -> Int {
      // What is no message of the profile is told as bad.
      event == "call_dance"
        ? world.values(victim, "code").count { $0 == "kn.bad_event" }
        : world.values(victim, "signal.received").count { $0 == event }
    }
    let heardBefore = ["alice", "bob"].map(heard)
    for victim in ["alice", "bob"] {
      world.server.inject(type: event, from: "carol", to: victim, fields: values("alice-1"))
    }
    // The messages cross two links of 20 ms; Bob's answer to Alice crosses four.
    world.run(for: .milliseconds(60))
    #expect(["alice", "bob"].map(heard) == heardBefore.map { $0 + 1 })
    #expect(["alice", "bob"].map { world.value($0, "call.state") } == before)
    #expect(world.count("bob", "call.ended") == (state == "ended" ? 1 : 0))
  }

  @Test(arguments: ["call_answer", "ice_candidate", "call_decline", "call_busy"])
  func `a callee obeys nothing that only a caller may be told`(event: String) throws {
    let world = try world(in: "ringing")
    world.server.inject(type: event, from: "alice", to: "bob", fields: values("alice-1"))
    world.run(for: .milliseconds(500))
    #expect(world.value("bob", "call.state") == "ringing")
    #expect(world.value("bob", "user.accepted") == "false")
    #expect(world.count("bob", "media.sent") == 0)
    #expect(world.values("bob", "mic.open") == ["false"])
  }

  @Test(arguments: events) func `an ended call is never revived`(event: String) throws {
    let world = try world(in: "ended")
    world.run(for: .seconds(2))
    #expect(world.value("bob", "call.state") == "idle")
    world.server.inject(type: event, from: "alice", to: "bob", fields: values("alice-1"))
    world.run(for: .seconds(1))
    #expect(world.value("bob", "call.state") == "idle")
  }

  @Test func `candidates and a hangup that overtake their offer leave no ghost ringing`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.delay(.seconds(3)), type: "call_offer", count: 1))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("alice", "hangup")
    world.run(for: .seconds(10))
    #expect(world.values("bob", "call.state") == ["idle"])
  }

  @Test func `candidates that overtake their offer are used`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.delay(.seconds(2)), type: "call_offer", count: 1))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(3))
    // From now on no candidate of alice arrives: bob must have kept hers.
    world.perform("bob", "accept")
    world.run(for: .seconds(3))
    #expect(world.value("bob", "call.state") == "connected")
    #expect(world.values("bob", "message.rejected").isEmpty)
  }

  @Test(arguments: [
    "call_offer", "call_answer", "ice_candidate", "call_hangup",
  ]) func `a message that comes twice counts once`(event: String) throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.duplicate, type: event))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(3))
    world.perform("alice", "hangup")
    world.run(for: .seconds(3))
    for user in ["alice", "bob"] {
      #expect(world.values(user, "call.state").suffix(4) == ["connecting", "connected", "ended", "idle"])
      #expect(world.count(user, "call.ended") == 1)
    }
  }

  @Test func `a lost answer leaves nobody stuck and nobody connected alone`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.drop, type: "call_answer"))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(50))
    #expect(world.value("bob", "call.reason") == "failed")
    for user in ["alice", "bob"] { #expect(world.value(user, "call.state") == "idle") }
  }

  @Test func `a lost hangup is noticed by the other side`() throws {
    let world = try world(in: "connected")
    world.server.faults.add(SignallingFault(.drop, type: "call_hangup"))
    world.perform("alice", "hangup")
    world.run(for: .seconds(20))
    #expect(world.values("bob", "call.ended") == ["ice-failed"])
    #expect(world.value("bob", "call.state") == "idle")
  }

  @Test(arguments: Array(stride(from: Int64(0), through: 200, by: 5)))
  func `calls that cross end in one call or in one ringing`(offset: Int64) throws {
    let world = try KnotosWorld(seed: UInt64(offset) + 1)
    var random = RandomStream(seed: UInt64(offset))
    for user in ["alice", "bob"] {
      let late = Interval.milliseconds(Int64(random.uniform(below: 150)))
      world.server.faults.add(SignallingFault(.delay(late), type: "call_offer", to: user))
    }
    let (first, second) = random.uniform(below: 2) == 0 ? ("alice", "bob") : ("bob", "alice")
    world.perform(first, "call", to: second)
    world.run(for: .milliseconds(offset))
    world.perform(second, "call", to: first)
    world.run(for: .seconds(2))
    let states = [first, second].map { world.value($0, "call.state") }
    #expect(states == ["connected", "connected"] || states == ["calling", "ringing"], "\(states)")
    #expect(world.count("alice", "call.ended") + world.count("bob", "call.ended") == 0)
  }

  @Test func `an offer given up in glare never rings later`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.delay(.seconds(8)), type: "call_offer", from: "alice", count: 1))
    world.perform("alice", "call", to: "bob")
    world.perform("bob", "call", to: "alice")
    world.run(for: .seconds(2))
    #expect(world.value("bob", "call.state") == "connected")
    world.perform("bob", "hangup")
    world.run(for: .seconds(10))
    #expect(world.value("bob", "call.state") == "idle")
  }

  @Test func `restarts from both sides at once end with a connected call`() throws {
    let world = try world(in: "connected")
    for _ in 0..<2 {
      world.perform("alice", "ice-restart")
      world.perform("bob", "ice-restart")
      world.run(for: .seconds(2))
    }
    for user in ["alice", "bob"] {
      #expect(world.value(user, "call.state") == "connected")
      #expect(world.value(user, "signaling.state") == "stable")
      #expect(world.value(user, "audible") == "true")
    }
  }

  @Test func `calling oneself is refused`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "alice")
    world.run(for: .seconds(1))
    #expect(world.values("alice", "call.state") == ["idle"])
    #expect(world.count("alice", "action-refused") == 1)
  }

  @Test(arguments: ["ringing", "connecting", "connected"])
  func `shutting down tells the other side and leaves nothing`(state: String) throws {
    let world = try world(in: state)
    world.peers[1].shutDown()
    world.run(for: .seconds(3))
    #expect(world.count("alice", "call.ended") == 1)
    #expect(world.value("alice", "call.state") == "idle")
    #expect(world.value("bob", "audio-session.state") != "active")
    #expect(world.peers[1].pendingTimerCount == 0)
    #expect(world.simulator.openSocketCount(of: world.peers[1].host) == 0)
  }

  @Test func `a socket lost in setup and not back in 15 s fails the call`() throws {
    let world = try KnotosWorld()
    world.server.faults.add(SignallingFault(.drop, type: "ice_candidate"))
    world.server.faults.add(SignallingFault(.drop, type: "call_answer"))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.server.refuse(user: "bob", true)
    world.server.disconnect(user: "bob")
    world.run(for: .seconds(16))
    #expect(["signalling-failure", "ice-failed"].contains(world.value("bob", "call.ended") ?? ""))
  }
}
