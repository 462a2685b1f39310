import CallSimTesting
import StrangerProfile
import Testing

/// An app and a server that are written with async code.
@Suite struct AsyncAppTests {
  private static let profile = Profile(app: StrangerApp.self, server: StrangerServer.self)

  @Test func `an app and its server await each other in virtual time`() throws {
    let world = try AppWorld(Self.profile, peers: ["alice"], delay: .milliseconds(10))
    // A greeting leaves at 1 s, and is answered after 500 ms and four links of 10 ms.
    world.run(for: .milliseconds(530))
    #expect(world.values("answers", of: "alice") == [])
    world.run(for: .milliseconds(20))
    #expect(world.values("answers", of: "alice") == ["1"])
    world.run(for: .seconds(10))
    #expect(world.values("answers", of: "alice") == ["1", "2", "3"])
    #expect(world.shutDown() == [])
  }

  @Test func `shutdown in the middle of waits leaves nothing`() throws {
    let world = try AppWorld(Self.profile)
    world.run(for: .milliseconds(1_200))
    #expect(world.values("answers", of: "alice") == ["1"])
    #expect(world.shutDown() == [])
  }

  @Test func `a task that shutdown cannot end is left, with whose it is`() throws {
    let world = try AppWorld(Profile(app: StuckApp.self, server: StrangerServer.self))
    #expect(world.shutDown() == ["alice: 1 task left", "bob: 1 task left"])
  }

  @Test func `two runs with async code have one trace hash`() throws {
    func hash() throws -> UInt64 {
      let world = try AppWorld(Self.profile, peers: ["alice", "bob", "carol"])
      world.run(for: .seconds(5))
      #expect(world.shutDown() == [])
      #expect(world.value("answers", of: "carol") == "3")
      return world.traceHash
    }
    #expect(try hash() == hash())
  }
}
