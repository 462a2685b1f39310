import CallCore
import PeerSession
import Testing

@testable import LivePeer

/// What strangers can hold of a server's connections.
@Suite struct StreamConnectionsTests {
  private final class Stream: ByteStream {
    let isConnected = true
    var onConnect: (() -> Void)?
    var onBytes: ((RawSpan) -> Void)?
    var onEnd: (() -> Void)?
    private(set) var isClosed = false
    var unsentByteCount: Int { 0 }
    func send(_ bytes: RawSpan) -> Bool { true }
    func close() { isClosed = true }
    func abort() { isClosed = true }
  }

  private final class Bench {
    var connections = StreamConnections()
    var streams: [Path: Stream] = [:]
    var needed: Set<Path> = []

    static func path(_ address: IPAddress, _ port: UInt16) -> Path {
      Path(local: Endpoint("203.0.113.1:3478")!, remote: Endpoint(address, port: port), transport: .tcp)
    }

    func connect(_ path: Path, at now: Instant = .zero) -> Bool {
      guard connections.makeRoom(for: path, isNeeded: { needed.contains($0) }) else { return false }
      let stream = Stream()
      streams[path] = stream
      connections.insert(TURNStream(stream), on: path, at: now)
      return true
    }
  }

  @Test(arguments: ["198.51.100.1", "2001:db8::1"])
  func `one holder has a share of the places`(text: String) throws {
    let bench = Bench()
    let address = try #require(IPAddress(text))
    for port in 1...200 as ClosedRange<UInt16> {
      // An IPv6 host has a network of addresses to itself.
      var source = address
      if source.isIPv6 { source.low += UInt64(port) }
      #expect(bench.connect(Bench.path(source, port)) == (port <= UInt16(StreamConnections.limitPerAddress)))
    }
    let other = try #require(IPAddress(address.isIPv6 ? "2001:db8:0:1::1" : "198.51.100.2"))
    #expect(bench.connect(Bench.path(other, 1)))
    bench.connections.remove(Bench.path(address.isIPv6 ? IPAddress(v6: address.high, 2) : address, 1))
    #expect(bench.connect(Bench.path(address, 999)))
  }

  @Test func `when all places are taken the oldest that nothing needs makes room`() {
    let bench = Bench()
    let paths = (0..<UInt32(StreamConnections.limit)).map {
      Bench.path(IPAddress(v4: 0x0A00_0000 + $0 / 50), UInt16(1 + $0 % 50))
    }
    for path in paths { #expect(bench.connect(path)) }
    bench.needed = Set(paths.prefix(3))
    for number in 0..<500 as Range<UInt32> {
      #expect(bench.connect(Bench.path(IPAddress(v4: 0x0B00_0000 + number), 1)))
      #expect(bench.connections.count == StreamConnections.limit)
    }
    #expect(paths.prefix(3).allSatisfy { bench.connections[$0] != nil && bench.streams[$0]?.isClosed == false })
    #expect(paths[3..<503].allSatisfy { bench.connections[$0] == nil && bench.streams[$0]?.isClosed == true })
  }

  @Test func `a newcomer is turned away when everything is needed`() {
    let bench = Bench()
    for number in 0..<UInt32(StreamConnections.limit) {
      let path = Bench.path(IPAddress(v4: number), 1)
      bench.needed.insert(path)
      #expect(bench.connect(path))
    }
    #expect(!bench.connect(Bench.path(IPAddress(v4: 9_999), 1)))
    #expect(bench.streams.values.allSatisfy { !$0.isClosed })
  }

  @Test func `what nothing needs is closed after a minute, whatever was said on it`() {
    let bench = Bench()
    let (idle, needed, released) = (
      Bench.path(IPAddress(v4: 1), 1), Bench.path(IPAddress(v4: 2), 1), Bench.path(IPAddress(v4: 3), 1)
    )
    for path in [idle, needed, released] { #expect(bench.connect(path)) }
    bench.needed = [needed, released]
    for seconds in stride(from: 5, through: 115, by: 5) as StrideThrough<Int64> {
      if seconds > 50 { bench.needed = [needed] }
      bench.connections.closeIdle(at: .zero + .seconds(seconds)) { bench.needed.contains($0) }
      #expect((bench.connections[idle] == nil) == (seconds >= 60))
      #expect((bench.connections[released] == nil) == (seconds >= 110))
    }
    #expect(bench.connections[needed] != nil)
  }
}
