import CallSimTesting
import PushToTalk
import Testing

@Suite struct FloorTests {
  /// A world in which everybody is in one channel.
  private func channel(of names: String...) throws -> AppWorld {
    let world = try AppWorld(.pushToTalk, peers: ["alice", "bob", "carol", "dave"])
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

  @Test func `a button that is up at once leaves the floor to others`() throws {
    let world = try channel(of: "alice", "bob")
    try world.perform("alice", "push")
    try world.perform("alice", "release")
    world.run(for: .seconds(1))
    try world.perform("bob", "push")
    world.run(for: .seconds(1))
    #expect(world.value("floor.state", of: "bob") == "talking")
    #expect(world.shutDown() == [])
  }

  @Test func `who gave up waiting for the floor does not hold it`() throws {
    let world = try AppWorld(
      .pushToTalk, peers: ["alice", "bob"], delay: .milliseconds(200),
      settings: ["alice": NamedValues([("floor-timeout", .duration(.milliseconds(100)))])])
    for name in ["alice", "bob"] { try world.perform(name, "join", ["channel": .text("red")]) }
    world.run(for: .seconds(5))
    try world.perform("alice", "push")
    world.run(for: .seconds(3))
    #expect(world.values("floor.state", of: "alice") == ["silent", "asking", "silent"])
    try world.perform("bob", "push")
    world.run(for: .seconds(3))
    #expect(world.value("floor.state", of: "bob") == "talking")
    #expect(world.shutDown() == [])
  }

  @Test func `who leaves at once is in no channel`() throws {
    let world = try channel(of: "bob")
    for round in 0..<2 {
      try world.perform("alice", "join", ["channel": .text("red")])
      try world.perform("alice", "leave")
      world.run(for: .seconds(15))
      #expect(world.value("channel.state", of: "alice") == "off", "\(round)")
    }
    #expect(world.value("members.count", of: "bob") == "0")
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
        #expect(world.value("connection.state", of: "\(name).to.\(other)") == "connected")
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
