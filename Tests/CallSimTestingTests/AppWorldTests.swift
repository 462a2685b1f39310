import CallSimTesting
import StrangerProfile
import Testing

@Suite struct AppWorldTests {
  private static let profile = Profile(app: StrangerApp.self, server: StrangerServer.self)

  @Test func `async code of a test waits in virtual time`() throws {
    let world = try AppWorld(Self.profile)
    let begin = world.clock.now
    let isDone = world.run {
      while world.value("call.state", of: "alice") != "greeted" {
        try? await world.clock.sleep(for: .milliseconds(100))
      }
    }
    #expect(isDone)
    #expect(world.clock.now - begin == .milliseconds(600))
  }

  @Test func `async code that does not end is cancelled at the limit`() throws {
    let world = try AppWorld(Self.profile)
    var wasCancelled = false
    let isDone = world.run(within: .seconds(5)) {
      do { try await world.clock.sleep(for: .seconds(3_600)) } catch { wasCancelled = true }
    }
    #expect(!isDone)
    #expect(wasCancelled)
    #expect(world.shutDown() == [])
  }

  @Test func `a test talks to the server by itself`() throws {
    let world = try AppWorld(Self.profile, peers: [])
    let channel = world.connectToServer()
    var texts: [String] = []
    channel.onText = { texts.append($0) }
    channel.onOpen = { _ in channel.send("hello") }
    world.run(for: .seconds(1))
    #expect(texts == ["welcome"])
  }

  @Test func `a refused action is thrown`() throws {
    let world = try AppWorld(Self.profile)
    #expect(throws: ActionError("there is nothing to do")) { try world.perform("alice", "wave") }
  }

  @Test func `two devices with one name are an error of the network`() {
    #expect(throws: (any Error).self) { try AppWorld(Self.profile, peers: ["alice", "alice"]) }
  }

  @Test func `a profile that does not fit is refused`() {
    #expect(throws: UnfitProfile.self) { try AppWorld(Profile(app: UnfitApp.self, server: StrangerServer.self)) }
  }
}
