import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

@Suite struct KnotosTransitionTests {
  private static let legal: Set<String> = [
    "idle>calling", "idle>ringing", "calling>connecting", "ringing>connecting", "calling>ended", "ringing>ended",
    "connecting>connected", "connecting>ended", "connected>ended", "ended>idle",
  ]

  @Test func `exactly the documented transitions are allowed`() throws {
    let machine = try #require(KnotosApp.vocabulary.machines.first { $0.name == "call.state" })
    let states = machine.states.map(\.name)
    #expect(states.first == "idle")
    for from in states {
      for to in states {
        #expect(machine.allows(from: from, to: to) == Self.legal.contains("\(from)>\(to)"), "\(from) to \(to)")
      }
    }
  }
}
