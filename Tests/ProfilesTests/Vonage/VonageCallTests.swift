import CallCore
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

/// Invitations to sessions by VoIP pushes, and CallKit.
@Suite struct VonageCallTests {
  func world() throws -> VonageWorld {
    try VonageWorld(settings: ["bob": NamedValues([("callkit", .flag(true))])])
  }

  func invite(_ world: VonageWorld, to session: String = "daily") {
    world.perform("alice", "invite", [("user", .text("bob")), ("session", .text(session))])
    world.run(for: .seconds(2))
  }

  @Test func `an invitation rings, and its answer connects to the session`() throws {
    let world = try world()
    world.connect("alice")
    invite(world)
    #expect(world.value("bob", "callkit.state") == "ringing" && world.value("bob", "session.state") == "notConnected")
    world.perform("bob", "accept")
    world.run(for: .seconds(4))
    #expect(world.value("bob", "session.state") == "connected" && world.value("bob", "subscribed") == "alice")
    #expect(world.value("bob", "callkit") == "activate" && world.value("bob", "mic.open") == "true")
    world.expectNothingIsLeftAfterShutdown()
  }

  @Test func `an invitation that is declined leaves the user out, and the audio down`() throws {
    let world = try world()
    world.connect("alice")
    invite(world)
    world.perform("bob", "decline")
    world.run(for: .seconds(2))
    #expect(world.value("bob", "callkit.state") == "none" && world.values("bob", "session.state") == ["notConnected"])
    #expect(world.value("bob", "audio.manual") == "false" && !world.peers[1].device.audioSession.isActive)
  }

  @Test func `an invitation rings for 45 s`() throws {
    let world = try world()
    invite(world)
    world.run(for: .seconds(43))
    #expect(world.value("bob", "callkit.state") == "ringing")
    world.run(for: .seconds(2))
    #expect(world.fields("bob", "callkit").last == ["report-end", "daily", "unanswered"])
  }

  @Test func `to connect to the session of an invitation answers it`() throws {
    let world = try world()
    invite(world)
    world.connect("bob")
    #expect(world.values("bob", "callkit").suffix(2) == ["answer", "activate"])
    #expect(world.value("bob", "session.state") == "connected")
  }

  @Test func `an invitation to an app in a session ends at once, and leaves the session`() throws {
    let world = try world()
    world.connect("alice", "bob")
    invite(world, to: "weekly")
    #expect(world.fields("bob", "callkit").contains(["report-end", "weekly", "failed"]))
    #expect(world.value("bob", "session.state") == "connected" && world.value("bob", "callkit.state") == "active")
  }

  @Test func `a moderator ends the call at CallKit with the session`() throws {
    let world = try VonageWorld(settings: [
      "alice": NamedValues([("role", .text("moderator"))]), "bob": NamedValues([("callkit", .flag(true))]),
    ])
    world.connect("alice", "bob")
    world.perform("alice", "force-disconnect", [("user", .text("bob"))])
    world.run(for: .seconds(2))
    #expect(world.fields("bob", "callkit").contains(["report-end", "daily", "remoteEnded"]))
    #expect(world.value("bob", "callkit") == "deactivate" && world.value("bob", "mic.open") == "false")
  }

  @Test func `mute and end go by CallKit`() throws {
    let world = try world()
    world.connect("alice", "bob")
    for action in ["mute", "unmute", "disconnect"] {
      world.perform("bob", action)
      world.run(for: .seconds(1))
    }
    let words = ["none", "start", "activate", "connected", "mute", "unmute", "end", "deactivate"]
    #expect(Set(world.values("bob", "callkit")) == Set(words))
    let shown = world.values("alice", "streams.audio")
    let changes = zip(["none"] + shown, shown).filter { $0 != $1 }.map(\.1)
    #expect(changes == ["bob", "none", "bob", "none"])
  }

  @Test func `nothing is accepted that does not ring`() throws {
    let world = try world()
    #expect(world.perform("bob", "accept") != nil && world.perform("alice", "decline") != nil)
  }

  @Test func `an invitation to no session is refused`() throws {
    let world = try world()
    invite(world, to: "a b")
    #expect(world.count("alice", "action-refused") == 1 && world.value("bob", "callkit") == "none")
  }
}
