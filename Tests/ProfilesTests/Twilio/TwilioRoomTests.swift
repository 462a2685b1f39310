import CallCore
import SimNet
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

@Suite struct TwilioRoomTests {
  @Test func `two participants connect, hear each other, and leave`() throws {
    let world = try TwilioWorld()
    world.connect("alice")
    world.connect("bob")
    for (one, other) in [("alice", "bob"), ("bob", "alice")] {
      #expect(world.value(one, "room.state") == "connected")
      #expect(world.value(one, "roster") == other)
      #expect(world.value(one, "remote.mic") == other && world.value(one, "remote.camera") == other)
      #expect(world.value(one, "audible") == "true" && world.value(one, "visible") == "true")
    }
    world.perform("alice", "disconnect")
    world.run(for: .seconds(1))
    #expect(world.values("alice", "callback") == ["roomDidConnect", "participantDidConnect", "roomDidDisconnect"])
    #expect(world.values("bob", "callback") == ["roomDidConnect", "participantDidDisconnect"])
    #expect(world.value("alice", "call.ended") == "disconnected")
  }

  @Test func `both who connect at once see each other`() throws {
    let world = try TwilioWorld()
    world.connect("alice", "bob")
    world.run(for: .seconds(2))
    for (one, other) in [("alice", "bob"), ("bob", "alice")] {
      #expect(world.value(one, "remote.mic") == other && world.value(one, "remote.subscribed") == "2")
    }
  }

  @Test func `a callback is never called within the action that causes it`() throws {
    let world = try TwilioWorld()
    world.connect("alice")
    world.perform("alice", "disconnect")
    #expect(world.value("alice", "room.state") == "disconnected")
    #expect(world.value("alice", "callback") == "roomDidConnect")
    world.run(for: .milliseconds(1))
    #expect(world.value("alice", "callback") == "roomDidDisconnect")
  }

  @Test func `the client yields when two offers cross, and its own change comes after`() throws {
    let world = try TwilioWorld()
    world.connect("alice")
    // Bob's arrival makes the server offer to Alice while she publishes her camera again.
    world.perform("alice", "camera-off")
    world.run(for: .seconds(1))
    world.perform("bob", "connect", [("room", .text("daily"))])
    for _ in 0..<20 {
      world.run(for: .milliseconds(10))
      world.perform("alice", "camera-on")
      world.run(for: .milliseconds(10))
      world.perform("alice", "camera-off")
    }
    world.perform("alice", "camera-on")
    world.run(for: .seconds(4))
    #expect(world.value("alice", "room.state") == "connected" && world.value("bob", "room.state") == "connected")
    #expect(world.value("bob", "remote.camera") == "alice" && world.value("alice", "remote.camera") == "bob")
    #expect(world.value("bob", "visible") == "true")
  }

  @Test func `a track is published again under another sid`() throws {
    let world = try TwilioWorld()
    world.connect("bob")
    world.connect("alice")
    world.perform("alice", "mic-off")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "mic.open") == "false" && world.value("alice", "speaker.open") == "true")
    world.perform("alice", "mic-on")
    world.run(for: .seconds(1))
    let sids = world.values("alice", "mic.sid").filter { $0 != "none" }
    #expect(Set(sids).count == 2)
    #expect(world.value("alice", "mic.open") == "true")
  }

  @Test func `the audio unit stops while no track of sound is in the room`() throws {
    let world = try TwilioWorld()
    world.connect("alice")
    #expect(world.value("alice", "audio.unit") == "running")
    world.perform("alice", "mic-off")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "audio.unit") == "stopped")
    world.connect("bob")
    #expect(world.value("alice", "audio.unit") == "running" && world.value("alice", "mic.open") == "false")
    world.perform("bob", "disconnect")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "audio.unit") == "stopped")
  }

  @Test(arguments: ["unpublish", "disable"])
  func `turning the microphone off turns all its tracks off`(_ policy: String) throws {
    let world = try TwilioWorld(settings: ["alice": NamedValues([("turn-off", .text(policy))])])
    world.connect("alice", "bob")
    world.perform("alice", "publish", [("track-name", .text("second"))])
    world.run(for: .seconds(1))
    world.perform("alice", "mic-off")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "mic.sent") == "false" && world.value("bob", "remote.mic") == "none")
    world.perform("alice", "mic-on")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "mic.sent") == "true" && world.value("bob", "remote.mic") == "alice")
  }

  @Test func `a track that is published beside a microphone that is off shows it as on`() throws {
    let world = try TwilioWorld()
    world.connect("alice", "bob")
    world.perform("alice", "mic-off")
    world.run(for: .seconds(1))
    world.perform("alice", "publish", [("track-name", .text("second"))])
    world.run(for: .seconds(1))
    #expect(world.value("alice", "mic.on") == "true" && world.value("alice", "mic.sent") == "true")
    world.perform("alice", "mic-off")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "mic.on") == "false" && world.value("alice", "mic.sent") == "false")
  }

  @Test func `a room is reached without the tracks that were given up on the way`() throws {
    let world = try TwilioWorld()
    world.perform("alice", "connect", [("room", .text("daily"))])
    world.run(for: .milliseconds(10))
    world.perform("alice", "mic-off")
    world.perform("alice", "camera-off")
    world.run(for: .seconds(4))
    #expect(world.value("alice", "room.state") == "connected")
  }

  @Test func `a request to be let in that has no answer fails`() throws {
    let world = try TwilioWorld()
    world.server.faults.add(SignallingFault(.drop, type: "connected"))
    world.connect("alice")
    #expect(world.value("alice", "room.state") == "connecting")
    world.run(for: .seconds(12))
    #expect(world.value("alice", "room.state") == "disconnected" && world.value("alice", "call.ended") == "53000")
    #expect(world.value("alice", "callback") == "roomDidFailToConnect")
  }

  @Test func `a text stands for an object of a raw message`() throws {
    let world = try TwilioWorld()
    world.connect("alice")
    let list = #"[{"sid":"PA9","identity":"bob","state":"connected","revision":1,"tracks":[]}]"#
    world.server.inject(
      type: "update", from: "bob", to: "alice", fields: NamedValues([("participants", .text(list))]))
    world.run(for: .seconds(1))
    #expect(world.value("alice", "roster") == "bob")
  }

  @Test func `a room that was taken is full`() throws {
    let world = try TwilioWorld(["alice", "bob", "carol"])
    world.perform("alice", "create-room", [("room", .text("daily")), ("max-participants", .count(2))])
    world.run(for: .seconds(1))
    world.connect("alice", "bob")
    world.connect("carol")
    #expect(world.value("carol", "call.ended") == "53105")
    #expect(world.values("carol", "callback") == ["roomDidFailToConnect"])
    #expect(world.value("alice", "roster") == "bob")
  }

  @Test func `a client says hello three times, five seconds apart`() throws {
    let world = try TwilioWorld()
    world.server.faults.add(SignallingFault(.drop, type: "welcome"))
    world.perform("alice", "connect", [("room", .text("daily"))])
    world.run(for: .seconds(20))
    let times = world.times("alice", "signal.sent", "hello")
    #expect(times.count == 3)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == .seconds(5) })
    #expect(world.value("alice", "call.ended") == "53000")
  }

  @Test func `a heartbeat leaves where nothing else has for nearly five seconds`() throws {
    let world = try TwilioWorld()
    world.connect("alice")
    world.run(for: .seconds(20))
    let times = world.times("alice", "signal.sent", "heartbeat")
    #expect(times.count >= 4)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(4_800) })
  }

  @Test func `an answer that was lost is said again after a reconnection`() throws {
    let world = try TwilioWorld()
    world.connect("alice", "bob")
    // Alice gives up her camera: what the server says of it and its answer are lost.
    world.server.faults.add(SignallingFault(.drop, type: "update", to: "alice", count: 2))
    world.perform("alice", "camera-off")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "signaling.state") == "have-local-offer")
    world.server.disconnect(user: "alice")
    world.run(for: .seconds(4))
    #expect(world.value("alice", "signaling.state") == "stable" && world.value("alice", "room.state") == "connected")
    #expect(world.value("bob", "remote.camera") == "none" && world.value("bob", "remote.mic") == "alice")
  }

  @Test func `a second track of one name is refused, and the first stays`() throws {
    let world = try TwilioWorld()
    world.connect("alice", "bob")
    world.perform("alice", "publish", [("track-name", .text("mic"))])
    world.run(for: .seconds(2))
    #expect(world.values("alice", "code") == ["53304"])
    #expect(world.values("alice", "track.callback").contains("localParticipantDidFailToPublishAudioTrack"))
    #expect(world.value("bob", "remote.mic") == "alice" && world.value("bob", "remote.subscribed") == "2")
  }

  @Test func `a second action to connect is refused`() throws {
    let world = try TwilioWorld()
    world.connect("alice")
    #expect(world.perform("alice", "connect", [("room", .text("daily"))]) == ActionError("in a room already"))
  }

  @Test func `nothing is left when the apps have shut down`() throws {
    let world = try TwilioWorld()
    world.connect("alice", "bob")
    world.expectNothingIsLeftAfterShutdown()
  }

  @Test func `equal seeds give equal traces and other seeds others`() throws {
    func hash(seed: UInt64) throws -> UInt64 {
      let world = try TwilioWorld(seed: seed)
      world.connect("alice", "bob")
      return world.simulator.trace.hash
    }
    #expect(try hash(seed: 5) == hash(seed: 5))
    #expect(try hash(seed: 5) != hash(seed: 6))
  }

  // MARK: What comes from others

  @Test(arguments: [
    "garbage", "{}", "[1]", #"{"type":"msg"}"#, #"{"type":"connect"}"#, #"{"type":"msg","body":{"type":"connect"}}"#,
    #"{"type":"msg","body":{"type":"update","session":"S1"}}"#, #"{"type":"hello","version":1}"#,
    #"{"type":"welcome"}"#,
    #"{"type":"msg","body":{"type":"sync","session":"S1","token":"x"}}"#,
  ])
  func `an unusable frame of a stranger leaves a room alone`(_ text: String) throws {
    let world = try TwilioWorld()
    world.connect("alice", "bob")
    for path in ["/signaling/mallory", "/rest/mallory", "/"] {
      let channel = world.connectStranger(path)
      channel.send(text)
      channel.send(#"{"type":"hello","id":"m","version":2,"timeout":5000}"#)
      channel.send(text)
      world.run(for: .seconds(1))
      channel.close()
    }
    #expect(world.value("alice", "room.state") == "connected" && world.value("bob", "room.state") == "connected")
    #expect(world.value("alice", "roster") == "bob")
  }

  @Test(arguments: [
    MessageContent("error", [.init("code", 53_105), .init("message", "x")]),
    MessageContent("error", [.init("code", 99_999), .init("message", "x")]), MessageContent("error"),
  ])
  func `an error of the server ends the session with a declared code`(_ message: MessageContent) throws {
    let world = try TwilioWorld()
    world.connect("alice")
    world.server.inject(message, from: "server", to: "alice")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "room.state") == "disconnected")
    #expect(world.value("alice", "call.ended") == (message["code"] == 53_105 ? "53105" : "other"))
  }

  @Test(arguments: ["connected", "synced", "welcome", "busy", "bad", "iced", "update", "heartbeat"])
  func `a message that nobody waits for changes nothing`(_ type: String) throws {
    let world = try TwilioWorld()
    world.connect("alice", "bob")
    world.server.inject(MessageContent(type), from: "server", to: "alice")
    world.run(for: .seconds(2))
    #expect(world.value("alice", "room.state") == "connected" && world.value("alice", "roster") == "bob")
  }

  @Test func `a request that the server cannot carry out is refused`() throws {
    let world = try TwilioWorld()
    for _ in 0..<2 { world.perform("alice", "create-room", [("room", .text("daily"))]) }
    world.perform("alice", "complete-room", [("room", .text("weekly"))])
    world.run(for: .seconds(1))
    #expect(
      world.fields("alice", "action-refused") == [
        ["create-room", "there is a room 'daily' already"], ["complete-room", "there is no room 'weekly'"],
      ])
  }

  @Test func `an app learns who speaks only if it asks, and never of its own user`() throws {
    let world = try TwilioWorld(
      ["alice", "bob"], settings: ["alice": NamedValues([("dominant-speaker", .flag(true))])])
    world.connect("alice", "bob")
    #expect(world.value("alice", "dominant-speaker") == "bob" || world.value("alice", "dominant-speaker") == "none")
    world.perform("alice", "mic-off")
    world.run(for: .seconds(4))
    #expect(world.value("alice", "dominant-speaker") == "bob")
    #expect(Set(world.values("bob", "dominant-speaker")) == ["none"])
    #expect(world.values("bob", "callback").contains("dominantSpeakerDidChange") == false)
  }

  @Test func `the first to be told of a speaker is one who is in the room`() throws {
    let world = try TwilioWorld(["alice", "bob"], settings: ["bob": NamedValues([("dominant-speaker", .flag(true))])])
    world.connect("alice")
    world.connect("bob")
    #expect(world.values("bob", "callback") == ["roomDidConnect", "dominantSpeakerDidChange"])
    world.expectNothingIsLeftAfterShutdown()
  }
}
