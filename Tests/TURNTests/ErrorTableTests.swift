import CallCore
import STUN
import TURN
import Testing

/// The errors of RFC 8656 row by row, over UDP and over TCP. `interop/turn-servers.py` asks more, on real sockets.
@Suite struct ErrorTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let code: UInt16?
    var configure: @Sendable (inout TURNServer.Configuration) -> Void = { _ in }
    let ask: @Sendable (ServerBench) throws -> UInt16?

    var testDescription: String { name }
  }

  static let peer = ServerBench.peer
  private static let other = Endpoint("192.0.2.10:7000")!
  private static let foreign = Endpoint("[2001:db8:5::9]:7000")!

  private static func bind(_ bench: ServerBench, _ number: UInt16, _ peer: Endpoint) throws -> UInt16? {
    try bench.code(.channelBind) {
      $0.append(.channelNumber, number)
      $0.append(.xorPeerAddress, peer)
    }
  }

  private static func permit(_ bench: ServerBench, _ peer: Endpoint) throws -> UInt16? {
    try bench.code(.createPermission) { $0.append(.xorPeerAddress, peer) }
  }

  static let rows: [Row] = [
    Row(name: "Allocate without credentials", code: 401) { bench in
      bench.receive(bench.request(.allocate) { $0.append(.requestedTransport, 17) })
      return try bench.answer()[.errorCode]?.code
    },
    Row(name: "an invented nonce", code: 438) { bench in
      bench.nonce = String(repeating: "0", count: 32)
      return try bench.code(.allocate) { $0.append(.requestedTransport, 17) }
    },
    Row(name: "a nonce past its time", code: 438, configure: { $0.nonceLifetime = .seconds(60) }) { bench in
      try bench.allocate()
      bench.now = bench.now + .seconds(60)
      return try bench.code(.refresh)
    },
    Row(name: "a second Allocate on the same 5-tuple", code: 437) { bench in
      try bench.allocate()
      return try bench.code(.allocate) { $0.append(.requestedTransport, 17) }
    },
    Row(name: "Refresh without an allocation", code: 437) { bench in
      try bench.challenge()
      return try bench.code(.refresh)
    },
    Row(name: "CreatePermission without an allocation", code: 437) { bench in
      try bench.challenge()
      return try permit(bench, peer)
    },
    Row(name: "ChannelBind without an allocation", code: 437) { bench in
      try bench.challenge()
      return try bind(bench, 0x4000, peer)
    },
    Row(name: "Refresh of somebody else's allocation", code: 441) { bench in
      try bench.allocate()
      return try bench.code(.refresh, user: "bob")
    },
    Row(name: "Allocate for a TCP relay", code: 442) { bench in
      try bench.challenge()
      return try bench.code(.allocate) { $0.append(.requestedTransport, 6) }
    },
    Row(name: "CreatePermission for another family", code: 443) { bench in
      try bench.allocate()
      return try permit(bench, foreign)
    },
    Row(name: "ChannelBind for another family", code: 443) { bench in
      try bench.allocate()
      return try bind(bench, 0x4000, foreign)
    },
    Row(name: "more allocations than a user may have", code: 486, configure: { $0.userQuota = 1 }) { bench in
      try bench.allocate()
      return try bench.allocate(from: ServerBench.other)[.errorCode]?.code
    },
    Row(name: "no port left", code: 508, configure: { $0.relayPorts = 50_000...50_000 }) { bench in
      try bench.allocate()
      return try bench.allocate(from: ServerBench.other)[.errorCode]?.code
    },
    Row(name: "ChannelBind of a bound number to another peer", code: 400) { bench in
      try bench.allocate()
      #expect(try bind(bench, 0x4000, peer) == nil)
      return try bind(bench, 0x4000, other)
    },
    Row(name: "a lapsed number for another peer, 899 s after it was bound", code: 400) { bench in
      try bench.allocate()
      #expect(try bind(bench, 0x4000, peer) == nil)
      try keep(bench, for: .seconds(899))
      return try bind(bench, 0x4000, other)
    },
    Row(name: "a lapsed number for another peer, 900 s after it was bound", code: nil) { bench in
      try bench.allocate()
      #expect(try bind(bench, 0x4000, peer) == nil)
      try keep(bench, for: .seconds(900))
      return try bind(bench, 0x4000, other)
    },
  ]

  /// Lets time pass and keeps the allocation, and nothing else, alive.
  private static func keep(_ bench: ServerBench, for interval: Interval) throws {
    let end = bench.now + interval
    while bench.now < end {
      bench.now = min(end, bench.now + .seconds(300))
      // The nonce tires in between.
      try bench.challenge()
      #expect(try bench.code(.refresh) == nil)
    }
  }

  @Test(arguments: rows, [Path.Transport.udp, .tcp])
  func `a server answers as the RFC says`(row: Row, transport: Path.Transport) throws {
    let bench = ServerBench(row.configure)
    bench.transport = transport
    #expect(try row.ask(bench) == row.code)
    #expect(bench.sent.allSatisfy { $0.path.transport == transport })
  }

  @Test(arguments: [Path.Transport.udp, .tcp])
  func `a permission holds for 300 s and no longer`(transport: Path.Transport) throws {
    let bench = ServerBench()
    bench.transport = transport
    try bench.allocate()
    #expect(try Self.permit(bench, Self.peer) == nil)
    var indication = STUNMessageBuilder(.indication, .send, STUNTransactionID(high: 1, low: 1))
    indication.append(.xorPeerAddress, Self.peer)
    indication.append(.data, [1, 2])
    bench.now = bench.now + .milliseconds(299_999)
    bench.receive(indication.bytes)
    #expect(bench.sent.map(\.bytes) == [[1, 2]])
    bench.now = bench.now + .milliseconds(1)
    bench.receive(indication.bytes)
    #expect(bench.sent.isEmpty)
  }

  @Test(arguments: [Path.Transport.udp, .tcp])
  func `a channel holds for 600 s and no longer`(transport: Path.Transport) throws {
    let bench = ServerBench()
    bench.transport = transport
    try bench.allocate()
    #expect(try Self.bind(bench, 0x4000, Self.peer) == nil)
    try Self.keep(bench, for: .milliseconds(599_999))
    #expect(try Self.permit(bench, Self.peer) == nil)
    bench.receive([0x40, 0, 0, 2, 7, 8, 0, 0])
    #expect(bench.sent.map(\.bytes) == [[7, 8]])
    bench.now = bench.now + .milliseconds(1)
    bench.receive([0x40, 0, 0, 2, 7, 8, 0, 0])
    #expect(bench.sent.isEmpty)
  }
}
