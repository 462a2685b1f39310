import CallCore
import Testing
import VirtualPeer

@Suite struct WebSocketTests {
  /// A client and a server after the handshake, whose bytes a test can look at.
  private final class Ends {
    var client = WebSocket(.client, host: "example.org", path: "/chat", random: RandomStream(seed: 1))
    var server = WebSocket(.server, random: RandomStream(seed: 2))

    /// Hands over all that waits, in pieces of `size` bytes.
    func exchange(piece size: Int = .max) {
      while true {
        let (up, down) = (client.takeOutput(), server.takeOutput())
        if up.isEmpty, down.isEmpty { return }
        for start in stride(from: 0, to: up.count, by: min(size, max(up.count, 1))) {
          server.receive(Array(up[start..<min(up.count, start + min(size, up.count))]))
        }
        for start in stride(from: 0, to: down.count, by: min(size, max(down.count, 1))) {
          client.receive(Array(down[start..<min(down.count, start + min(size, down.count))]))
        }
      }
    }

    func serverEvents() -> [WebSocket.Event] {
      var events: [WebSocket.Event] = []
      while let event = server.nextEvent() { events.append(event) }
      return events
    }

    func clientEvents() -> [WebSocket.Event] {
      var events: [WebSocket.Event] = []
      while let event = client.nextEvent() { events.append(event) }
      return events
    }

    func open() {
      exchange()
      _ = serverEvents()
      _ = clientEvents()
    }

    /// Bytes of a client, masked with a fixed key.
    func feed(_ frame: WebSocketFrame) { server.receive(frame.encoded(maskingKey: 0x0102_0304)) }
  }

  @Test func `the handshake of RFC 6455 section 1 is answered with its key`() {
    var server = WebSocket(.server, random: RandomStream(seed: 1))
    let request =
      "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    server.receive(Array(request.utf8))
    let answer = String(decoding: server.takeOutput(), as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 101 "))
    #expect(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
    let event = server.nextEvent()
    #expect(event == .opened(path: "/chat"))
  }

  @Test(arguments: [
    "POST /chat HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "nonsense\r\n\r\n",
    "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: short\r\n"
      + "Sec-WebSocket-Version: 13\r\n\r\n",
    "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + "Sec-WebSocket-Version: 8\r\n\r\n",
  ])
  func `a request that is no upgrade gets 400`(request: String) {
    var server = WebSocket(.server, random: RandomStream(seed: 1))
    server.receive(Array(request.utf8))
    let answer = String(decoding: server.takeOutput(), as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 400 "))
    let event = server.nextEvent()
    #expect(event == .failed(.badHandshake))
  }

  /// RFC 6455 section 5.7, with the masking key of its examples.
  @Test(
    arguments: [
      (WebSocketFrame(.text, payload: Array("Hello".utf8)), nil, [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]),
      (
        WebSocketFrame(.text, payload: Array("Hello".utf8)), 0x37FA_213D,
        [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
      ),
      (WebSocketFrame(.text, isFinal: false, payload: Array("Hel".utf8)), nil, [0x01, 0x03, 0x48, 0x65, 0x6C]),
      (WebSocketFrame(.continuation, payload: Array("lo".utf8)), nil, [0x80, 0x02, 0x6C, 0x6F]),
      (WebSocketFrame(.ping, payload: Array("Hello".utf8)), nil, [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]),
      (
        WebSocketFrame(.pong, payload: Array("Hello".utf8)), 0x37FA_213D,
        [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
      ),
      (
        WebSocketFrame(.binary, payload: Array(repeating: 7, count: 256)), nil,
        [0x82, 0x7E, 0x01, 0x00] + Array(repeating: 7, count: 256)
      ),
      (
        WebSocketFrame(.binary, payload: Array(repeating: 7, count: 65_536)), nil,
        [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + Array(repeating: 7, count: 65_536)
      ),
    ] as [(WebSocketFrame, UInt32?, [UInt8])])
  func `the frames of RFC 6455 section 5`(frame: WebSocketFrame, key: UInt32?, bytes: [UInt8]) {
    #expect(frame.encoded(maskingKey: key) == bytes)
  }

  @Test func `a head without end is given up`() {
    var server = WebSocket(.server, random: RandomStream(seed: 1))
    server.receive(Array(repeating: 65, count: 9_000))
    let event = server.nextEvent()
    #expect(event == .failed(.handshakeTooLarge))
  }

  @Test func `both ends open a connection of the subprotocol that they speak`() {
    var client = WebSocket(.client, host: "h", subprotocol: "xmpp", random: RandomStream(seed: 1))
    var server = WebSocket(.server, subprotocol: "xmpp", random: RandomStream(seed: 2))
    server.receive(client.takeOutput())
    let answer = server.takeOutput()
    #expect(String(decoding: answer, as: UTF8.self).contains("Sec-WebSocket-Protocol: xmpp\r\n"))
    client.receive(answer)
    let areOpen = client.isOpen && server.isOpen
    #expect(areOpen)
  }

  @Test(arguments: [("xmpp", nil), (nil, "xmpp"), ("mqtt", "xmpp")] as [(String?, String?)])
  func `the handshake fails unless the server says the client's subprotocol`(_ asked: String?, _ spoken: String?) {
    var client = WebSocket(.client, host: "h", subprotocol: asked, random: RandomStream(seed: 1))
    var server = WebSocket(.server, subprotocol: spoken, random: RandomStream(seed: 2))
    server.receive(client.takeOutput())
    client.receive(server.takeOutput())
    let event = client.nextEvent()
    #expect(event == .failed(.badHandshake))
  }

  @Test func `a server finds its subprotocol in any of the client's fields`() {
    var server = WebSocket(.server, subprotocol: "xmpp", random: RandomStream(seed: 1))
    let request =
      "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Protocol: a, xmpp ,b\r\n\r\n"
    server.receive(Array(request.utf8))
    let event = server.nextEvent()
    #expect(event == .opened(path: "/"))
  }

  @Test func `a client refuses an answer to somebody else's key`() {
    var client = WebSocket(.client, host: "h", random: RandomStream(seed: 1))
    _ = client.takeOutput()
    client.receive(
      Array(
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n").utf8))
    let event = client.nextEvent()
    #expect(event == .failed(.badHandshake))
  }

  @Test(arguments: [1, 3, 1_000], [0, 1, 125, 126, 65_535, 65_536])
  func `text of any length arrives whole however it is cut`(piece: Int, length: Int) {
    let ends = Ends()
    ends.open()
    let text = String(repeating: "x", count: length)
    ends.client.send(text: text)
    ends.server.send(text: text)
    ends.exchange(piece: max(piece, length / 100))
    #expect(ends.serverEvents() == [.text(text)])
    #expect(ends.clientEvents() == [.text(text)])
  }

  @Test func `what a client sends is masked and what a server sends is not`() {
    let ends = Ends()
    ends.open()
    ends.client.send(text: "hello")
    ends.server.send(text: "hello")
    let (up, down) = (ends.client.takeOutput(), ends.server.takeOutput())
    #expect(up[1] & 0x80 != 0 && Array(up[6...]) != Array("hello".utf8))
    #expect(down == [0x81, 5] + Array("hello".utf8))
  }

  @Test func `fragments join, with a ping answered in between`() {
    let ends = Ends()
    ends.open()
    ends.feed(WebSocketFrame(.text, isFinal: false, payload: Array("Hel".utf8)))
    ends.feed(WebSocketFrame(.ping, payload: [7]))
    ends.feed(WebSocketFrame(.continuation, payload: Array("lo".utf8)))
    #expect(ends.serverEvents() == [.text("Hello")])
    let output = ends.server.takeOutput()
    #expect(output == [0x8A, 1, 7])
  }

  @Test(arguments: [
    ([0x81, 0x01, 0x41], WebSocketError.wrongMasking, 1002), ([0xC1, 0x80, 0, 0, 0, 0], .reservedBits, 1002),
    ([0x83, 0x80, 0, 0, 0, 0], .unknownOpcode, 1002), ([0x09, 0x80, 0, 0, 0, 0], .fragmentedControl, 1002),
    ([0x89, 0xFE, 0, 126, 0, 0, 0, 0], .oversizedControl, 1002),
    ([0x80, 0x80, 0, 0, 0, 0], .unexpectedContinuation, 1002),
    ([0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .messageTooLarge, 1009),
    ([0x81, 0x81, 0, 0, 0, 0, 0xFF], .invalidUTF8, 1007), ([0x88, 0x81, 0, 0, 0, 0, 3], .badCloseFrame, 1002),
    ([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED], .badCloseFrame, 1002),
  ])
  func `a breach of the protocol is told and ends it`(bytes: [Int], error: WebSocketError, code: Int) {
    let ends = Ends()
    ends.open()
    ends.server.receive(bytes.map { UInt8($0) })
    #expect(ends.serverEvents() == [.failed(error)])
    let output = ends.server.takeOutput()
    #expect(output == [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)])
    ends.feed(WebSocketFrame(.text, payload: [65]))
    #expect(ends.serverEvents().isEmpty)
  }

  @Test func `fragments may not add up to more than the limit`() {
    let ends = Ends()
    ends.open()
    let part = Array(repeating: UInt8(65), count: 600_000)
    ends.feed(WebSocketFrame(.text, isFinal: false, payload: part))
    ends.feed(WebSocketFrame(.continuation, payload: part))
    #expect(ends.serverEvents() == [.failed(.messageTooLarge)])
  }

  @Test func `closing gives its code to the other side, who answers`() {
    let ends = Ends()
    ends.open()
    ends.client.close(code: 4_001)
    ends.client.send(text: "too late")
    ends.exchange()
    #expect(ends.serverEvents() == [.closed(code: 4_001)])
    let isOpen = ends.server.isOpen
    #expect(!isOpen)
  }

  @Test func `garbage never traps`() {
    var random = RandomStream(seed: 3)
    for _ in 0..<200 {
      let ends = Ends()
      if random.uniform(below: 4) > 0 { ends.open() }
      ends.server.receive(random.bytes(Int(random.uniform(below: 300))))
      ends.client.receive(random.bytes(Int(random.uniform(below: 300))))
      _ = ends.serverEvents()
      _ = ends.clientEvents()
    }
  }
}
