import Profiles
import SimNet
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// What is left of a run in a process that makes many.
@Suite struct RunReleaseTests {
  private final class Receiver {
    var count = 0
  }

  @Test(
    arguments: [
      "hello", "signalling/polling-to-websocket", "carrier/only-tcp-443", "turn/tcp-black-hole", "turn/tls-swallowed",
      "video/wifi-to-lte", "twilio/searched", "vonage/searched", "connectycube/searched-group",
    ])
  func `a run that is over is released, with all that received its outputs`(name: String) throws {
    let profiles = ProfileCatalogue.builtIn
    let path = "\(`The scenarios that are shipped`.root)/\(name).yaml"
    let loaded = ScenarioFile.load(path: path, registry: profiles.registry)
    let cell = try #require(loaded.scenario?.cells.first)
    weak var simulator: Simulator?
    weak var receiver: Receiver?
    do {
      let kept = Receiver()
      receiver = kept
      var outputs = RunOutputs()
      outputs.worldBuilt = { simulator = $0 }
      // Servers get this one, peers all of them.
      outputs.keyLog = { _ in kept.count += 1 }
      outputs.seen = { _, _ in kept.count += 1 }
      outputs.compared = { _, _ in kept.count += 1 }
      _ = try SingleRun(cell: cell, seed: 1, path: path, profiles: profiles).execute(outputs: outputs)
    }
    #expect(simulator == nil)
    #expect(receiver == nil)
  }
}
