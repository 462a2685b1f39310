import CAllocationCount
import CallCore
import Testing

@testable import LivePeer

/// Whether this build counts allocations; those with a sanitizer do not.
private let areCounted = callsim_allocation_count() >= 0

@Suite(.enabled(if: areCounted)) struct AllocationTests {
  private static let loopback = InterfaceAddress(name: "lo", address: IPAddress(v4: 0x7F00_0001), index: 1)
  private static let loopback6 = InterfaceAddress(name: "lo", address: IPAddress(v6: 0, 1), index: 1)

  /// Throws a datagram to and fro between two sockets of a loop.
  ///
  /// - Parameter handle: what is done with each.
  /// - Returns: how often the heap was asked for memory during `count` datagrams, after 200 others.
  private func allocations(
    of count: Int, on address: InterfaceAddress, handle: @escaping (RawSpan) -> Void = { _ in }
  ) throws -> Int {
    let loop = SocketLoop()
    var sockets: [any LiveSocket] = []
    var arrived = 0
    for other in [1, 0] {
      let socket = try loop.openSocket(on: address, ports: 0...0) { datagram, path in
        arrived += 1
        handle(datagram)
        sockets[1 - other].send(datagram, to: path.remote, ecn: .ect0)
      }
      sockets.append(socket)
    }
    // Whatever becomes of a datagram, the loop turns.
    let tick = loop.makeTimer {}
    let bytes = [UInt8](repeating: 7, count: 160)
    sockets[0].send(bytes.span.bytes, to: sockets[1].local, ecn: .ect0)
    var before: Int64 = 0
    let timeout = loop.now + .seconds(30)
    while arrived < 200 + count, loop.now < timeout {
      if arrived < 200 { before = callsim_allocation_count() }
      tick.deadline = loop.now + .milliseconds(100)
      loop.turn()
    }
    let after = callsim_allocation_count()
    try #require(arrived >= 200 + count, "datagrams were lost on loopback")
    for socket in sockets { socket.close() }
    sockets = []
    return Int(after - before)
  }

  @Test(arguments: [loopback, loopback6])
  func `a datagram passes from socket to socket without an allocation`(address: InterfaceAddress) throws {
    #expect(try allocations(of: 2_000, on: address) == 0)
  }

  @Test func `a receiver that keeps a copy of each datagram shows in the count`() throws {
    var kept: [UInt8] = []
    let count = try allocations(of: 100, on: Self.loopback) { kept = $0.copied }
    #expect(count >= 100)
    #expect(kept.count == 160)
  }
}
