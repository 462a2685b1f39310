import CallCore
import Formats
import Synchronization
import Testing

@testable import LivePeer

@Suite struct CallServiceTests {
  private final class Status: Sendable {
    let value = Mutex<Int?>(nil)
  }

  @Test func `a service that was stopped takes no call`() {
    let loop = SocketLoop()
    var made = 0
    let service = CallService(
      loop: loop, host: "127.0.0.1", log: { _ in },
      makeCall: { () throws(FileError) in
        made += 1
        return try LiveCall(CallSettings(), loop: loop)
      }, onEnd: { _ in })
    service.stop()
    let status = Status()
    service.handle(HTTPRequest("POST", "/offer", contentType: "application/sdp", body: Array("v=0".utf8))) { response in
      status.value.withLock { $0 = response.status }
    }
    #expect(status.value.withLock { $0 } == 503)
    #expect(made == 0)
  }
}
