import CallCore
import Testing

@testable import Profiles
@testable import VirtualPeer

/// What the vocabulary of every peer promises is there.
@Suite struct KnotosVocabularyTests {
  @Test func `every value of a device and of a selected pair is written in a call`() throws {
    let world = try KnotosWorld()
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(5))
    let names = CommonVocabulary.values.map(\.name).filter { !$0.hasPrefix("stats.") && !$0.hasPrefix("q.") }
    for user in ["alice", "bob"] { #expect(names.filter { world.count(user, $0) == 0 } == []) }
  }
}
