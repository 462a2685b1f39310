import CallCore
import StackWorlds
import Testing

@testable import ICE

/// Pattern 1: both controlling or both controlled after glare.
@Suite struct RoleConflictTests {
  /// Both think that they control and check at the same moment: the loser learns of it by the other's request, and the
  /// 487 to its own request comes after that.
  private func glare(seed: UInt64) throws -> TestNetwork {
    let network = TestNetwork(alice: .controlling, bob: .controlling, seed: seed)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(3))
    return network
  }

  @Test func `01 - a late 487 after the swap of roles is ignored`() throws {
    try proves(.staleRoleConflictObeyed) { claims in
      for seed in 1...4 {
        let network = try glare(seed: UInt64(seed))
        let changes = [network.alice, network.bob].map {
          $0.count { if case .roleChanged = $0 { true } else { false } }
        }
        let stale = network.alice.counters.staleRoleConflicts + network.bob.counters.staleRoleConflicts
        claims("a 487 came late", stale > 0)
        claims("one side changed its role, once", changes.sorted() == [0, 1])
      }
    }
  }

  @Test func `01 - after glare one side controls and the other does not`() throws {
    try proves(.roleConflictIgnored) { claims in
      let network = try glare(seed: 1)
      claims("the roles differ", network.alice.role != network.bob.role)
      claims("both are done", network.alice.state == .completed && network.bob.state == .completed)
    }
  }
}
