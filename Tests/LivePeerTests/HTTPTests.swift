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
}
