import CallCore
import Testing

@testable import LivePeer

/// TCP connections on loopback, byte by byte.
@Suite struct StreamTests {
  private static let loopback = InterfaceAddress(name: "lo", address: IPAddress("127.0.0.1")!, index: 1)

  /// Both ends of a connection.
  private final class Pair {
    let loop = SocketLoop()
    private(set) var client: (any LiveStream)!
    private(set) var server: (any LiveStream)?
    private(set) var path: Path?
    private(set) var atServer: [UInt8] = []
    private(set) var atClient: [UInt8] = []
    private(set) var hasEnded = false
    private var listener: StreamListener!

    init() throws {
      // A port that UDP had free is hardly anybody's on TCP.
      let probe = try loop.openSocket(on: loopback, ports: 0...0) { _, _ in }
      listener = try StreamListener(at: probe.local, of: loopback, loop: loop) { [unowned self] stream, path in
        server = stream
        self.path = path
        stream.onBytes = { [unowned self] in atServer += $0.copied }
        stream.onEnd = { [unowned self] in hasEnded = true }
      }
      probe.close()
      client = loop.openStream(from: loopback, to: listener.local)
      client.onBytes = { [unowned self] in atClient += $0.copied }
    }

    deinit {
      client.abort()
      server?.abort()
    }
  }

  @Test func `bytes go both ways, those sent before the connection is up included`() throws {
    let pair = try Pair()
    pair.client.send(([1, 2, 3] as [UInt8]).span.bytes)
    #expect(pair.loop.turn { pair.atServer == [1, 2, 3] })
    #expect(pair.path?.transport == .tcp && pair.path?.remote.address == Self.loopback.address)
    pair.server?.send(([4, 5] as [UInt8]).span.bytes)
    #expect(pair.loop.turn { pair.atClient == [4, 5] })
  }

  @Test func `all that was sent before a close arrives, and then the end`() throws {
    let pair = try Pair()
    let bytes = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      pair.client.send(bytes[start..<start + 1_000].span.bytes)
    }
    pair.client.close()
    #expect(pair.loop.turn { pair.hasEnded })
    let isWhole = pair.atServer == bytes
    #expect(isWhole, "\(pair.atServer.count) bytes")
  }

  @Test func `a message that finds no room is left out whole`() throws {
    let pair = try Pair()
    pair.client.send([UInt8](repeating: 1, count: 65_000).span.bytes)
    pair.client.send([UInt8](repeating: 2, count: 1_000).span.bytes)
    pair.client.send([UInt8](repeating: 3, count: 500).span.bytes)
    pair.client.close()
    #expect(pair.loop.turn { pair.hasEnded })
    let isWhole = pair.atServer == [UInt8](repeating: 1, count: 65_000) + [UInt8](repeating: 3, count: 500)
    #expect(isWhole, "\(pair.atServer.count) bytes")
  }

  @Test func `an aborted connection says nothing to this side, and ends at the other`() throws {
    let pair = try Pair()
    #expect(pair.loop.turn { pair.server != nil })
    var hasEnded = false
    pair.client.onEnd = { hasEnded = true }
    pair.client.abort()
    #expect(pair.loop.turn { pair.hasEnded })
    #expect(!hasEnded)
  }

  // MARK: Messages

  private final class ScriptedStream: LiveStream {
    var onBytes: ((RawSpan) -> Void)?
    var onEnd: (() -> Void)?
    func send(_ message: RawSpan) {}
    func close() {}
    func abort() {}
  }

  /// ChannelData with four bytes.
  private static let message: [UInt8] = [0x40, 0, 0, 4, 1, 2, 3, 4]

  @Test func `messages that have arrived with the one that a connection was closed for are not reported`() {
    let scripted = ScriptedStream()
    let stream = TURNStream(scripted)
    var count = 0
    stream.onMessage = { _ in
      count += 1
      stream.close()
    }
    var ends: [TURNStream.End] = []
    stream.onEnd = { ends.append($0) }
    scripted.onBytes?((Self.message + Self.message + [0xFF, 0xFF, 0xFF, 0xFF]).span.bytes)
    scripted.onEnd?()
    #expect(count == 1 && ends.isEmpty)
  }

  @Test func `what is no message ends a connection once`() {
    let scripted = ScriptedStream()
    let stream = TURNStream(scripted)
    var ends: [TURNStream.End] = []
    stream.onEnd = { ends.append($0) }
    scripted.onBytes?(([0xFF, 0xFF, 0xFF, 0xFF] as [UInt8]).span.bytes)
    scripted.onEnd?()
    #expect(ends == [.malformed])
  }
}
