import CallCore
import PeerSession
import Synchronization
import Testing

@testable import LivePeer

/// Our HTTP client at our HTTP server, on loopback.
@Suite struct HTTPTests {
  private final class Outcome: Sendable {
    let status = Mutex<Int?>(nil)
    let requests = Mutex<[String]>([])
  }

  @Test func `a client that is stopped lets the request under way come to its answer`() throws {
    let outcome = Outcome()
    let server = try HTTPServer(host: "127.0.0.1", port: 0) { request, answer in
      outcome.requests.withLock { $0.append("\(request.method) \(request.path)") }
      answer(HTTPResponse(404, text: "that call is over\n"))
    }
    let client = HTTPClient()
    client.send(HTTPRequest("DELETE", "/call/1"), to: "127.0.0.1", port: server.port) { result in
      outcome.status.withLock { $0 = (try? result.get())?.status }
    }
    client.stop()
    #expect(outcome.requests.withLock { $0 } == ["DELETE /call/1"])
    #expect(outcome.status.withLock { $0 } == 404)
    server.stop()
  }

  @Test func `a client that is stopped waits two seconds at most for a server that says nothing`() throws {
    let outcome = Outcome()
    let server = try HTTPServer(host: "127.0.0.1", port: 0) { _, _ in }
    let client = HTTPClient()
    client.send(HTTPRequest("DELETE", "/call/1"), to: "127.0.0.1", port: server.port) { result in
      if case .failure = result { outcome.status.withLock { $0 = 0 } }
    }
    client.stop()
    #expect(outcome.status.withLock { $0 } == 0)
    server.stop()
  }

  /// A request without a host could be of any page (DNS rebinding).
  @Test(arguments: [
    ("HTTP/1.1\r\nHost: nowhere:port", 400), ("HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: example.org", 400),
    ("HTTP/1.1", 400), ("HTTP/1.0", 204), ("HTTP/1.1\r\nHost: 127.0.0.1:80", 204),
  ])
  func `a request whose host cannot be read is answered with 400`(end: String, status: Int) throws {
    let server = try HTTPServer(host: "127.0.0.1", port: 0) { _, answer in answer(HTTPResponse(204)) }
    let loop = SocketLoop()
    let loopback = InterfaceAddress(name: "lo", address: IPAddress("127.0.0.1")!, index: 1)
    let stream = loop.openStream(from: loopback, to: Endpoint(loopback.address, port: UInt16(server.port)))
    var answer: [UInt8] = []
    stream.onBytes = { answer += $0.copied }
    stream.send(Array("GET / \(end)\r\n\r\n".utf8).span.bytes)
    #expect(loop.turn { answer.count >= 12 })
    #expect(String(decoding: answer, as: UTF8.self).dropFirst("HTTP/1.1 ".count).hasPrefix("\(status) "))
    stream.close()
    server.stop()
  }

  /// A connection to a server, and what has become of it.
  private final class Connection {
    let stream: any ByteStream
    var text = ""
    var isOver = false

    init(to server: HTTPServer, on loop: SocketLoop, asks: Bool) {
      let loopback = InterfaceAddress(name: "lo", address: IPAddress("127.0.0.1")!, index: 1)
      stream = loop.openStream(from: loopback, to: Endpoint(loopback.address, port: UInt16(server.port)))
      stream.onBytes = { [unowned self] in text += String(decoding: $0.copied, as: UTF8.self) }
      stream.onEnd = { [unowned self] in isOver = true }
      if asks { stream.send(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8).span.bytes) }
    }
  }

  @Test func `a silent connection is closed, unless its answer is due`() throws {
    final class Due: Sendable { let answer = Mutex<(@Sendable (HTTPResponse) -> Void)?>(nil) }
    let (loop, due) = (SocketLoop(), Due())
    let inbox = SendableLoop(loop)
    let server = try HTTPServer(host: "127.0.0.1", port: 0, timeout: .milliseconds(500)) { _, answer in
      due.answer.withLock { $0 = answer }
      inbox.enqueue {}
    }
    let asking = Connection(to: server, on: loop, asks: true)
    #expect(loop.turn { due.answer.withLock { $0 != nil } })
    for _ in 0..<3 {
      let silent = Connection(to: server, on: loop, asks: false)
      #expect(loop.turn { silent.isOver })
    }
    // Taken out, because it holds its connection, and that the handler.
    due.answer.withLock { $0.take() }?(HTTPResponse(204))
    #expect(loop.turn { asking.text.hasPrefix("HTTP/1.1 204 ") })
    #expect(loop.turn { asking.isOver })
    server.stop()
  }

  @Test func `a request that comes a byte at a time is not waited for longer than a silent one`() throws {
    let server = try HTTPServer(host: "127.0.0.1", port: 0, timeout: .milliseconds(500)) { _, answer in
      answer(HTTPResponse(204))
    }
    let loop = SocketLoop()
    let slow = Connection(to: server, on: loop, asks: false)
    slow.stream.send(Array("GET / HTTP/1.1\r\nX: ".utf8).span.bytes)
    let timer = loop.makeTimer {}
    var bytes = 0
    while !slow.isOver, bytes < 1_000 {
      slow.stream.send([UInt8(ascii: "x")].span.bytes)
      bytes += 1
      timer.deadline = loop.now + .milliseconds(5)
      loop.turn()
    }
    loop.remove(timer)
    #expect(slow.isOver && slow.text.isEmpty)
    server.stop()
  }

  @Test(arguments: [
    ("http://127.0.0.1/offer?a=b", "/offer 127.0.0.1"), ("HTTP://localhost:80", "/ localhost"),
    ("http://other.example/", "/ other.example"), ("http://?a", "/ refused"), ("/offer", "/offer 127.0.0.1"),
  ])
  func `a target may name the host itself, and Host does not count then`(target: String, read: String) throws {
    let server = try HTTPServer(host: "127.0.0.1", port: 0) { request, answer in
      answer(HTTPResponse(200, text: "\(request.path) \(request.host)"))
    }
    let loop = SocketLoop()
    let connection = Connection(to: server, on: loop, asks: false)
    connection.stream.send(
      Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8).span.bytes)
    #expect(loop.turn { connection.isOver })
    if read.hasSuffix("refused") {
      #expect(connection.text.hasPrefix("HTTP/1.1 400 "))
    } else {
      #expect(connection.text.hasSuffix("\r\n\r\n" + read))
    }
    server.stop()
  }

  @Test func `one address gets half of the connections at most`() throws {
    let server = try HTTPServer(host: "127.0.0.1", port: 0, limit: 6) { _, answer in answer(HTTPResponse(204)) }
    let loop = SocketLoop()
    let connections = (0..<4).map { _ in Connection(to: server, on: loop, asks: false) }
    #expect(loop.turn { connections[3].isOver })
    #expect(connections.dropLast().allSatisfy { !$0.isOver })
    server.stop()
  }

  @Test func `whoever comes when there are enough connections is turned away until one has gone`() throws {
    let server = try HTTPServer(host: "127.0.0.1", port: 0, limit: 4) { _, answer in answer(HTTPResponse(204)) }
    let loop = SocketLoop()
    let connections = (0..<3).map { _ in Connection(to: server, on: loop, asks: false) }
    #expect(loop.turn { connections[2].isOver })
    #expect(!connections[0].isOver && !connections[1].isOver)
    connections[0].stream.close()
    // The server hears of it when it does.
    var isServed = false
    for _ in 0..<1_000 where !isServed {
      let later = Connection(to: server, on: loop, asks: true)
      isServed = loop.turn { later.isOver || !later.text.isEmpty } && later.text.hasPrefix("HTTP/1.1 204 ")
    }
    #expect(isServed)
    connections[1].stream.close()
    server.stop()
  }
}
