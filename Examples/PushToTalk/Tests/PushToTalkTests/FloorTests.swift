import CallSimTesting
import PushToTalk
import Testing

@Suite struct FloorTests {
  /// A world in which everybody is in one channel.
  private func channel(of names: String...) throws -> AppWorld {
    let world = try AppWorld(.pushToTalk, peers: names)
    for name in names { try world.perform(name, "join", ["channel": .text("red")]) }
    world.run(for: .seconds(3))
    return world
  }

  @Test func `of two who push at once one talks and the other is refused`() throws {
    let world = try channel(of: "alice", "bob")
    try world.perform("alice", "push")
    try world.perform("bob", "push")
    world.run(for: .seconds(1))
    #expect(world.value("floor.state", of: "alice") == "talking")
    #expect(world.value("floor.state", of: "bob") == "silent")
    #expect(world.value("floor.holder", of: "bob") == "alice")
    #expect(world.shutDown() == [])
  }

  @Test func `nobody talks outside a channel`() throws {
    let world = try AppWorld(.pushToTalk)
    #expect(throws: ActionError.self) { try world.perform("bob", "push") }
  }

  @Test func `four members make six connections`() throws {
    let world = try channel(of: "alice", "bob", "carol", "dave")
    let names = ["alice", "bob", "carol", "dave"]
    for name in names {
      for other in names where other != name {
        #expect(world.value("connection.state", of: "\(name)/to/\(other)") == "connected")
      }
    }
    #expect(world.shutDown() == [])
  }

  @Test func `a member who waits gets the floor in virtual time`() throws {
    let world = try channel(of: "alice", "bob")
    let isDone = world.run {
      try? world.perform("alice", "push")
      try? await world.clock.sleep(for: .seconds(60))
      try? world.perform("alice", "release")
      try? await world.clock.sleep(for: .seconds(1))
      try? world.perform("bob", "push")
      try? await world.clock.sleep(for: .seconds(1))
    }
    #expect(isDone)
    #expect(world.values("floor.state", of: "bob") == ["silent", "asking", "talking"])
  }
}
