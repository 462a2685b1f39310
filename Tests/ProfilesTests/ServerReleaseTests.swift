import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

/// What a server leaves behind in a process that makes many runs.
@Suite struct ServerReleaseTests {
  /// A server that all it gave to the network holds.
  private final class HeldServer: CallServer {
    /// The test looks at one server.
    nonisolated(unsafe) static weak var last: HeldServer?
    private let environment: ServerEnvironment
    private(set) var connectionCount = 0

    init(environment: ServerEnvironment) {
      self.environment = environment
      Self.last = self
    }

    static func frame(of text: String) -> SignallingFrame { .transport("text") }
    static func text(of message: MessageContent, in frame: String?) -> String { frame ?? "" }
    func inject(_ message: MessageContent, from: String, to: String) {}
    func shutDown() {}

    func start() {
      environment.listen(subprotocol: XMPP.subprotocol) { [self] socket in
        connectionCount += 1
        socket.onText = { [self] in environment.malformed($0) }
      }
    }
  }

  @Test func `a server that its listener and its connections hold is released with its world`() throws {
    do {
      let world = try ProfileWorld(app: ConnectyCubeApp.self, server: HeldServer.self)
      #expect(HeldServer.last?.connectionCount == 2)
      withExtendedLifetime(world) {}
    }
    // A failure would print what is left, and read references to what is not.
    let isReleased = HeldServer.last == nil
    #expect(isReleased)
  }
}
