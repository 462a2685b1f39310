import CallCore
import DTLS
import PeerSession
import StackWorlds
import Testing

@testable import LivePeer

/// TCP connections on loopback, byte by byte.
@Suite struct StreamTests {
  private static let loopback = InterfaceAddress(name: "lo", address: IPAddress("127.0.0.1")!, index: 1)

  /// Both ends of a connection.
  private final class Pair {
    let loop = SocketLoop()
    private(set) var client: (any ByteStream)!
    private(set) var server: (any ByteStream)?
    private(set) var path: Path?
    private(set) var atServer: [UInt8] = []
    private(set) var atClient: [UInt8] = []
    private(set) var hasEnded = false
    private var listener: StreamListener!

    init() throws {
      let anyPort = Endpoint(loopback.address, port: 0)
      listener = try StreamListener(at: anyPort, of: loopback, loop: loop) { [unowned self] stream, path in
        server = stream
        self.path = path
        stream.onBytes = { [unowned self] in atServer += $0.copied }
        stream.onEnd = { [unowned self] in hasEnded = true }
      }
      client = loop.openStream(from: loopback, to: listener.local)
      client.onBytes = { [unowned self] in atClient += $0.copied }
    }

    deinit {
      client?.abort()
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

  @Test func `data that finds no room is left out whole, and requests go behind it`() throws {
    let pair = try Pair()
    let stream = TURNStream(pair.client)
    let data = [UInt8](repeating: 0x40, count: 65_000)
    let request = [UInt8](repeating: 0, count: 2_000)
    let little = [UInt8](repeating: 0x41, count: 500)
    stream.send(data.span.bytes)
    stream.send([UInt8](repeating: 0x42, count: 1_000).span.bytes)
    stream.send(little.span.bytes)
    stream.send(request.span.bytes)
    stream.close()
    #expect(pair.loop.turn { pair.hasEnded })
    let isWhole = pair.atServer == data + little + request
    #expect(isWhole, "\(pair.atServer.count) bytes")
  }

  @Test func `nobody is answered without end who reads nothing`() {
    let scripted = ScriptedStream()
    scripted.unsentByteCount = 131_000
    TURNStream(scripted).send([UInt8](repeating: 0, count: 100).span.bytes)
    #expect(scripted.sent.isEmpty)
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

  private final class ScriptedStream: ByteStream {
    let isConnected = true
    var onConnect: (() -> Void)?
    var onBytes: ((RawSpan) -> Void)?
    var onEnd: (() -> Void)?
    var unsentByteCount = 0
    private(set) var sent: [UInt8] = []
    private(set) var isAborted = false
    func send(_ bytes: RawSpan) -> Bool {
      sent += bytes.copied
      return true
    }

    func close() {}
    func abort() { isAborted = true }

    func take() -> [UInt8] {
      defer { sent = [] }
      return sent
    }
  }

  /// A client and a server with TLS between them, whose bytes the test carries.
  private final class SecuredPair {
    let clientSide = ScriptedStream()
    let serverSide = ScriptedStream()
    let client: TURNStream
    let server: TURNStream
    var atClient: [[UInt8]] = []
    var ends: [TURNStream.End] = []

    init() throws {
      let random = RandomSource(seed: 1)
      client = TURNStream(
        clientSide,
        tls: TLSConnection(
          client: TLSContext(client: TLSPair.trusting), serverName: TLSPair.name,
          entropy: .stream(random.stream("client")), wallClock: WallClock(), at: .zero))
      server = TURNStream(
        serverSide,
        tls: TLSConnection(
          server: try TLSContext(server: TLSPair.identity, versions: .tls13 ... .tls13),
          entropy: .stream(random.stream("server"))))
      client.onMessage = { [unowned self] in atClient.append($0.copied) }
      client.onEnd = { [unowned self] in ends.append($0) }
      server.onMessage = { _ in }
      server.onEnd = { [unowned self] in ends.append($0) }
      clientSide.onConnect?()
      for _ in 0..<4 { exchange() }
    }

    func exchange() {
      serverSide.onBytes?(clientSide.take().span.bytes)
      clientSide.onBytes?(serverSide.take().span.bytes)
    }
  }

  @Test func `a message that finds no room is left out before it is encrypted`() throws {
    let pair = try SecuredPair()
    pair.serverSide.unsentByteCount = 65_530
    for _ in 0..<100 { pair.server.send(Self.message.span.bytes) }
    #expect(pair.serverSide.sent.isEmpty)
    pair.serverSide.unsentByteCount = 0
    pair.server.send(Self.message.span.bytes)
    pair.exchange()
    #expect(pair.atClient == [Self.message] && pair.ends.isEmpty)
  }

  @Test func `a connection that is closed reports no end, however much waits`() throws {
    let pair = try SecuredPair()
    pair.serverSide.unsentByteCount = 200_000
    pair.server.close()
    #expect(pair.serverSide.isAborted && pair.ends.isEmpty)
  }

  @Test func `whoever has TLS say more and more and reads nothing is cut off`() throws {
    let pair = try SecuredPair()
    pair.server.send(Self.message.span.bytes)
    pair.serverSide.unsentByteCount = 200_000
    pair.client.close()
    pair.serverSide.onBytes?(pair.clientSide.take().span.bytes)
    #expect(pair.serverSide.isAborted && pair.ends == [.closed])
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
