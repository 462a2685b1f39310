import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// Patterns 22 to 26: the ways in which implementations are known to lose an allocation.
@Suite struct TURNRenewalTests {
  private static let peer = Endpoint("192.0.2.9:7000")!

  private func connected(
    _ configure: (inout TURNServer.Configuration, inout TURNClient.Configuration) -> Void = { _, _ in }
  ) throws -> TURNWorld {
    let world = TURNWorld(configure)
    try world.allocate()
    try world.client.bindChannel(to: Self.peer, at: world.now)
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    world.run(for: .seconds(1))
    return world
  }

  private func hasFailed(_ world: TURNWorld) -> Bool {
    world.events.contains { event in
      switch event {
      case .failed, .permissionFailed, .channelFailed: true
      default: false
      }
    }
  }

  /// Both ways through the relay once every seven seconds, and how much of it got through.
  private func talk(_ world: TURNWorld, times: Int) throws -> (sent: Int, received: Int) {
    let (sent, received) = (world.peerReceived.count, dataEvents(world))
    for _ in 0..<times {
      world.run(for: .milliseconds(6_900))
      try world.send([1], to: Self.peer)
      try world.peerSends([2], from: Self.peer)
    }
    return (world.peerReceived.count - sent, dataEvents(world) - received)
  }

  private func dataEvents(_ world: TURNWorld) -> Int {
    world.events.count { if case .data = $0 { true } else { false } }
  }

  @Test(arguments: [
    (Defect.staleNonceFailsRefresh, STUNMethod.refresh), (.staleNonceFailsPermission, .createPermission),
    (.staleNonceFailsChannel, .channelBind),
  ])
  func `22 - 438 on any request is answered with the new nonce, several times in a row`(
    defect: Defect, method: STUNMethod
  ) throws {
    try proves(defect) { claims in
      let world = TURNWorld { _, client in client.indicationsBeforeChannel = nil }
      try world.allocate()
      world.server.rejectNext(method, with: .staleNonce, count: 3)
      try world.client.createPermission(for: Self.peer.address, at: world.now)
      try world.client.bindChannel(to: Self.peer, at: world.now)
      world.run(for: .seconds(590))
      claims("nothing was refused", !hasFailed(world))
      claims("the nonce was stale", world.client.counters.staleNonces >= 3)
      try world.send([1], to: Self.peer)
      world.run(for: .seconds(1))
      claims("data gets through", world.peerReceived.map(\.bytes) == [[1]])
      claims("in the channel", world.client.counters.channelDataSent == 1)
    }
  }

  @Test func `23 - a permission does not lapse at 300 s`() throws {
    try proves(.permissionRefreshedTooLate) { claims in
      let world = try connected()
      let through = try talk(world, times: 100)
      claims("everything got out", through.sent == 100)
      claims("everything got in", through.received == 100)
    }
  }

  @Test func `23 - a channel does not lapse at 600 s`() throws {
    try proves(.channelRefreshedTooLate) { claims in
      let world = try connected { _, client in client.indicationsBeforeChannel = nil }
      let through = try talk(world, times: 200)
      claims("everything got through", through == (200, 200))
      let counters = world.client.counters
      claims("and all of it in the channel", counters.indicationsSent == 0 && counters.indicationsReceived == 0)
    }
  }

  @Test func `24 - a peer that is back inside the cool-down gets its old channel`() throws {
    try proves(.channelReboundInCoolDown) { claims in
      let world = try connected()
      world.client.removePermission(for: Self.peer.address)
      let other = Endpoint("192.0.2.9:7001")!
      // The binding has lapsed a minute ago, and its number may not be bound to another peer for four more.
      world.run(for: .seconds(660))
      try world.client.bindChannel(to: other, at: world.now)
      try world.client.bindChannel(to: Self.peer, at: world.now)
      world.run(for: .seconds(1))
      claims("the server has no cause for 400", world.server.counters.errors == 0)
      for peer in [other, Self.peer] { try world.send([1], to: peer) }
      world.run(for: .seconds(1))
      claims("data for both leaves in channels", world.client.counters.channelDataSent == 2)
    }
  }

  @Test func `25 - while the old allocation lives the new one is asked for from another port`() throws {
    try proves(.mismatchRetriedFromSameAddress) { claims in
      let world = TURNWorld()
      try world.allocate()
      // The program starts anew and gets the same port; the server has not forgotten its allocation.
      var second = TURNClient(
        configuration: world.client.configuration, local: TURNWorld.clientAddress, random: RandomStream(seed: 99))
      swap(&second, &world.client)
      try world.client.allocate(at: world.now)
      world.run(for: .seconds(1))
      claims("it is told to move", world.events.last == .newLocalAddressNeeded)
      try world.client.allocate(from: Endpoint("198.51.100.7:5002")!, at: world.now)
      world.run(for: .seconds(1))
      claims("it has an allocation from there", world.client.state == .allocated)
    }
  }

  @Test func `26 - a retransmitted Allocate is answered with the same success`() throws {
    try proves(.repeatedAllocateRefused) { claims in
      let world = TURNWorld()
      var lost = 0
      world.isLost = { sent in
        guard sent.path.local == TURNWorld.serverAddress, lost < 2,
          let message = try? STUNMessage(parsing: sent.bytes.span.bytes), message.messageClass == .successResponse
        else { return false }
        lost += 1
        return true
      }
      try world.client.allocate(at: .zero)
      world.run(for: .seconds(5))
      claims("answers were lost", lost == 2)
      let allocation = world.client.allocation
      claims("the third one came", world.events == [allocation.map { .allocated($0) }])
    }
  }

  @Test func `26 - a call survives the loss of the answer to Allocate`() throws {
    try proves(.repeatedAllocateRefused, by: "regressions/26-repeated-allocate")
  }

  @Test func `26 - a server that has restarted is asked for a new allocation`() throws {
    try proves(.lostAllocationKept) { claims in
      let world = try connected()
      world.server.restart(at: world.now)
      world.run(for: .seconds(300))
      claims("the loss was noticed", world.events.last == .failed(.rejected(.createPermission, .allocationMismatch)))
      try world.allocate()
      try world.send([1], to: Self.peer)
      world.run(for: .seconds(1))
      claims("data gets through again", world.peerReceived.map(\.bytes) == [[1]])
    }
  }
}
