import CallCore
import Formats
import Foundation
import Synchronization
import Testing

@testable import LivePeer

@Suite struct LiveProgramTests {
  /// What answers an offer only when the caller has given up.
  private final class LateServer: Sendable {
    private struct State {
      var requests: [String] = []
      var isLate = false
      var answer: (@Sendable (HTTPResponse) -> Void)?
    }

    private let state = Mutex(State())
    private let created = HTTPResponse(201, [("Location", "/call/7")], body: Array("v=0".utf8))

    var requests: [String] { state.withLock { $0.requests } }

    func handle(_ request: HTTPRequest, _ answer: @escaping @Sendable (HTTPResponse) -> Void) {
      let isAnswered = state.withLock { state in
        state.requests.append("\(request.method) \(request.path)")
        if request.method == "POST", !state.isLate { state.answer = answer }
        return request.method != "POST" || state.isLate
      }
      if isAnswered { answer(request.method == "POST" ? created : HTTPResponse(200)) }
    }

    func answerNow() {
      let answer = state.withLock { state in
        state.isLate = true
        return state.answer.take()
      }
      answer?(created)
    }
  }

  @Test(.timeLimit(.minutes(30)))
  func `a call that got no answer in time is over, and hung up where the answer comes from later`() async throws {
    let late = LateServer()
    let server = try HTTPServer(host: "127.0.0.1", port: 0) { request, answer in late.handle(request, answer) }
    let port = server.port
    let end = await withCheckedContinuation { continuation in
      // The program blocks its thread, and signals on it.
      Thread.detachNewThread {
        var settings = CallSettings()
        settings.interfaces = .loopback
        settings.setupTimeout = .milliseconds(50)
        let program = LiveProgram(
          .call(HTTPPlace("http://127.0.0.1:\(port)/offer")!), settings, output: { _ throws(FileError) in },
          log: { line in if line.hasPrefix("waiting for the answer") { late.answerNow() } })
        continuation.resume(returning: try? program.run())
      }
    }
    #expect(end == CallEnd(.setupTimeout, wasUp: false))
    #expect(late.requests == ["POST /offer", "DELETE /call/7"])
    server.stop()
  }
}
