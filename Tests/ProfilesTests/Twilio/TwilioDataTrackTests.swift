import CallCore
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

@Suite struct TwilioDataTrackTests {
  /// Alice publishes `chat`, and all others are in the room.
  private static func room(
    _ users: [String] = ["alice", "bob"], _ values: [(String, ArgumentValue)] = []
  ) throws -> TwilioWorld {
    let world = try TwilioWorld(users)
    for user in users { world.connect(user) }
    let problem = world.perform("alice", "publish-data", [("track-name", .text("chat"))] + values)
    #expect(problem == nil)
    world.run(for: .seconds(2))
    return world
  }

  private static func send(_ world: TwilioWorld, _ values: [(String, ArgumentValue)]) -> ActionError? {
    let problem = world.perform("alice", "send-message", [("track-name", .text("chat"))] + values)
    world.run(for: .seconds(1))
    return problem
  }

  @Test func `a data track is published, and the others subscribe to it`() throws {
    let world = try Self.room(["alice", "bob", "carol"])
    #expect(world.value("alice", "data-track.published") == "1")
    for user in ["bob", "carol"] {
      #expect(world.value(user, "remote.data-track.published") == "alice")
      #expect(world.value(user, "remote.data-track") == "alice")
      #expect(world.values(user, "track.callback").contains("didSubscribeToDataTrack"))
    }
    #expect(world.values("alice", "track.callback").contains("localParticipantDidPublishDataTrack"))
  }

  @Test func `messages reach all others in their order, and not the sender`() throws {
    let world = try Self.room(["alice", "bob", "carol"])
    #expect(Self.send(world, [("text", .text("hello")), ("messages", .count(3))]) == nil)
    for user in ["bob", "carol"] {
      #expect(world.values(user, "data-track.text") == ["hello 1", "hello 2", "hello 3"])
      #expect(world.value(user, "data-track.sender") == "alice")
    }
    #expect(world.value("alice", "data-track.sent") == "3" && world.value("alice", "data-track.received") == "0")
  }

  @Test func `bytes come as bytes`() throws {
    let world = try Self.room()
    #expect(Self.send(world, [("bytes", .byteSize(16_384))]) == nil)
    #expect(world.value("bob", "data-track.bytes") == "16384" && world.value("bob", "data-track.text") == nil)
    #expect(world.values("bob", "track.callback").last == "remoteDataTrackDidReceiveData")
  }

  @Test func `who comes later subscribes too`() throws {
    let world = try TwilioWorld(["alice", "bob"])
    world.connect("alice")
    world.perform("alice", "publish-data", [("track-name", .text("chat"))])
    world.run(for: .seconds(1))
    world.connect("bob")
    #expect(Self.send(world, [("text", .text("hello"))]) == nil)
    #expect(world.value("bob", "data-track.text") == "hello")
  }

  @Test func `both sides may publish at once`() throws {
    let world = try TwilioWorld(["alice", "bob"])
    world.connect("alice", "bob")
    for user in ["alice", "bob"] { world.perform(user, "publish-data", [("track-name", .text("chat"))]) }
    world.run(for: .seconds(2))
    for user in ["alice", "bob"] {
      #expect(world.perform(user, "send-message", [("track-name", .text("chat")), ("text", .text(user))]) == nil)
    }
    world.run(for: .seconds(1))
    #expect(world.value("bob", "data-track.text") == "alice" && world.value("alice", "data-track.text") == "bob")
  }

  @Test func `a track that is given up is gone for the others, and another may have its name`() throws {
    let world = try Self.room()
    world.perform("alice", "unpublish-data", [("track-name", .text("chat"))])
    world.run(for: .seconds(1))
    #expect(world.value("bob", "remote.data-track") == "none" && world.value("alice", "data-track.published") == "0")
    #expect(world.values("bob", "track.callback").contains("remoteParticipantDidUnpublishDataTrack"))
    world.perform("alice", "publish-data", [("track-name", .text("chat"))])
    world.run(for: .seconds(1))
    #expect(Self.send(world, [("text", .text("again"))]) == nil)
    #expect(world.value("bob", "data-track.text") == "again")
  }

  @Test func `a message that is too large raises 53306 and is not sent`() throws {
    let world = try Self.room()
    #expect(Self.send(world, [("bytes", .byteSize(16_385))]) == nil)
    #expect(world.values("alice", "code") == ["53306"] && world.value("bob", "data-track.received") == "0")
  }

  @Test func `more than the channel keeps raises 53307`() throws {
    let world = try Self.room()
    #expect(Self.send(world, [("bytes", .byteSize(16_384)), ("messages", .count(1_100))]) == nil)
    #expect(world.values("alice", "code") == ["53307"])
  }

  @Test func `a second track of a name is refused`() throws {
    let world = try Self.room()
    world.perform("alice", "publish-data", [("track-name", .text("chat"))])
    world.run(for: .seconds(1))
    #expect(world.values("alice", "code") == ["53304"] && world.value("alice", "data-track.published") == "1")
  }

  @Test func `a channel that fails raises 53406, and the track may be published again`() throws {
    let world = try Self.room()
    #expect(world.peers.first { $0.name == "alice" }?.failDataChannels() == 1)
    world.run(for: .seconds(1))
    #expect(world.values("alice", "code") == ["53406"])
    #expect(world.values("alice", "track.callback").last == "localParticipantDidFailToPublishDataTrack")
    #expect(world.value("bob", "remote.data-track") == "none" && world.value("alice", "room.state") == "connected")
    world.perform("alice", "publish-data", [("track-name", .text("chat"))])
    world.run(for: .seconds(1))
    #expect(Self.send(world, [("text", .text("again"))]) == nil)
    #expect(world.value("bob", "data-track.text") == "again")
  }

  @Test func `arguments that mean nothing are refused`() throws {
    let world = try Self.room()
    #expect(world.perform("alice", "send-message", [("track-name", .text("chat"))]) != nil)
    #expect(world.perform("alice", "send-message", [("track-name", .text("talk")), ("text", .text("x"))]) != nil)
    #expect(world.perform("alice", "unpublish-data", [("track-name", .text("talk"))]) != nil)
    let excess: [(String, ArgumentValue)] = [("track-name", .text("more")), ("max-retransmits", .count(65_536))]
    #expect(world.perform("alice", "publish-data", excess) != nil)
  }
}
