import CallCore
import Testing
import Vocabulary

@testable import Profiles
@testable import VirtualPeer

/// What the vocabulary of every peer promises is there.
@Suite struct KnotosVocabularyTests {
  @Test func `every value of a device and of a selected pair is written in a call`() throws {
    var device = Device.Settings()
    device.hasVideo = true
    device.camera = .movingBars
    let world = try KnotosWorld(device: device)
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(5))
    // Digits are written where telephone events are negotiated: TraceCoverageTests.
    let sampled = ["stats.", "q.", "dtmf."]
    let names = CommonVocabulary.values.map(\.name).filter { name in !sampled.contains { name.hasPrefix($0) } }
    for user in ["alice", "bob"] { #expect(names.filter { world.count(user, $0) == 0 } == []) }
  }

  @Test func `every word of a choice is one that the value declares`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(5))
    world.perform("alice", "hangup")
    world.run(for: .seconds(5))
    for value in CommonVocabulary.values + KnotosApp.vocabulary.values {
      guard case .choice(let words) = value.type, !value.name.hasPrefix("stats.") else { continue }
      for user in ["alice", "bob"] {
        let written = world.values(user, value.name)
        #expect(!written.isEmpty && written.allSatisfy(words.contains), "\(value.name): \(written)")
      }
    }
  }

  @Test func `every declared action is one that the app knows`() throws {
    for action in KnotosApp.vocabulary.actions + CommonVocabulary.actions {
      let error = try KnotosWorld().perform("alice", action.name, to: "bob")
      #expect(error?.reason.contains("unknown action") != true, "\(action.name): \(error?.reason ?? "")")
    }
    #expect(try KnotosWorld().perform("alice", "sing", to: "bob")?.reason == "unknown action 'sing'")
  }

  @Test func `muting is shown, and a new call is not muted`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(1))
    world.perform("alice", "mute")
    #expect(world.values("alice", "mic.muted") == ["false", "true"])
    world.perform("alice", "hangup")
    world.run(for: .seconds(5))
    world.perform("alice", "call", to: "bob")
    #expect(world.value("alice", "mic.muted") == "false")
  }
}
