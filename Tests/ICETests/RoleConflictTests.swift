import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct RoleConflictTests {
  @Test(arguments: [ICERole.controlling, .controlled], 1...8)
  func `two agents of one role agree on two`(role: ICERole, seed: Int) throws {
    let network = TestNetwork(alice: role, bob: role, seed: UInt64(seed))
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(3))
    let changes = [network.alice, network.bob].map { $0.count { if case .roleChanged = $0 { true } else { false } } }
    #expect(network.alice.role != network.bob.role)
    #expect(changes.sorted() == [0, 1])
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test func `a 487 that a role change overtook is ignored`() throws {
    // Both check at the same moment, so each finds the conflict: the loser changes on the request, and the 487 to its
    // own request comes after that.
    let network = TestNetwork(alice: .controlling, bob: .controlling)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(3))
    let stale = network.alice.counters.staleRoleConflicts + network.bob.counters.staleRoleConflicts
    #expect(stale > 0)
    #expect(network.alice.role != network.bob.role)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test(arguments: 1...4)
  func `a lone 487 changes the role`(seed: Int) throws {
    // Only the side with the smaller tie-breaker sends checks at first: it learns of the conflict by the response.
    let network = TestNetwork(alice: .controlling, bob: .controlling, seed: UInt64(seed))
    let (a, b) = (network.alice.agent.tieBreaker, network.bob.agent.tieBreaker)
    let (loser, winner) = a < b ? (network.alice, network.bob) : (network.bob, network.alice)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    network.signalCandidates(from: winner, to: loser)
    network.run(until: at(3))
    #expect(loser.role == .controlled && winner.role == .controlling)
    #expect(loser.canSend && winner.canSend)
  }

  @Test func `a change of role reorders nothing else`() throws {
    let network = TestNetwork(alice: .controlled)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.exchangeCredentials()
    network.alice.agent.addRemoteCandidate(.host(endpoint("192.0.2.2:6001"), localPreference: 7), at: .zero)
    let before = network.alice.pairs.map(\.priority)
    network.alice.agent.setRole(.controlling, at: .zero)
    let after = network.alice.pairs.map(\.priority)
    // The last bit tells whose candidate is the better one, seen from the controlling side.
    #expect(after == before.map { $0 + 1 })
  }
}
