import CallCore
import SCTP
import Testing

@Suite struct ShutdownTests {
  typealias World = SCTPWorld<SCTPAssociation>

  @Test func `a shutdown waits for everything that was sent`() throws {
    let world = World.connected()
    world.links[0].loss = 0.1
    for number in 0..<20 {
      try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(3_000, number: number)), at: world.now)
    }
    world.left.shutdown(at: world.now)
    #expect(throws: SCTPError.notEstablished) {
      try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: [1]), at: world.now)
    }
    world.run(for: .seconds(60))
    #expect(world.messages(.right).count == 20)
    #expect(world.events[0] == [.closed(.shutdown)])
    #expect(world.events[1].last == .closed(.shutdown))
    #expect(world.left.deadline == nil)
    #expect(world.right.deadline == nil)
  }

  @Test(arguments: Side.allCases, 0..<3)
  func `the loss of any packet of a shutdown is repaired`(side: Side, lost: Int) {
    let world = World.connected()
    let first = world.sentCount[side.rawValue]
    world.drops = { from, number, _ in from == side && number == first + lost }
    world.left.shutdown(at: world.now)
    world.run(for: .seconds(20))
    #expect(world.events[0] == [.closed(.shutdown)])
    #expect(world.events[1] == [.closed(.shutdown)])
  }

  @Test func `both sides shut down at once`() {
    let world = World.connected()
    world.left.shutdown(at: world.now)
    world.right.shutdown(at: world.now)
    world.run(for: .seconds(20))
    #expect(world.events[0] == [.closed(.shutdown)])
    #expect(world.events[1] == [.closed(.shutdown)])
  }

  @Test func `a shutdown without answer ends`() {
    let world = World.connected()
    world.drops = { _, _, _ in true }
    world.left.shutdown(at: world.now)
    world.run(for: .minutes(2))
    #expect(world.events[0] == [.closed(.timedOut)])
  }

  @Test func `an abort ends both sides at once`() throws {
    let world = World.connected()
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(100_000)), at: world.now)
    world.left.abort(reason: "bye", at: world.now)
    world.run(for: .milliseconds(20))
    #expect(world.events[0] == [.closed(.aborted)])
    #expect(world.events[1] == [.closed(.peerAborted([SCTPErrorCause(.userInitiatedAbort, text: "bye")]))])
    world.run(for: .minutes(5))
    #expect(world.sentCount[0] + world.sentCount[1] < 20)
  }

  @Test func `an ABORT with the tag of its sender counts`() {
    let world = World.connected()
    let peerTag = tag(of: world.sent[0].last ?? [])
    world.deliver(packet(tag: peerTag, [.abort([], isTagReflected: true)]), to: .left)
    #expect(world.events[0] == [.closed(.peerAborted([]))])
  }
}
