import CallCore
import Digests
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

/// The app's end of the chat, at a server that asks and answers what ours does not.
@Suite struct ChatClientTests {
  /// A server that logs a client in, sends it one stanza of each kind, and closes the stream. It writes what comes back
  /// into the trace.
  private final class AskingServer: CallServer {
    private let environment: ServerEnvironment
    private var sockets: [SignallingSocket] = []

    init(environment: ServerEnvironment) { self.environment = environment }

    static func frame(of text: String) -> SignallingFrame { .transport("text") }
    static func text(of message: MessageContent, in frame: String?) -> String { frame ?? "" }
    func inject(_ message: MessageContent, from: String, to: String) {}
    func shutDown() {}

    func start() {
      environment.listen(subprotocol: XMPP.subprotocol) { [unowned self] socket in
        sockets.append(socket)
        socket.onText = { [unowned self, unowned socket] in received($0, on: socket) }
      }
    }

    private func received(_ text: String, on socket: SignallingSocket) {
      guard let element = try? XMLElement(parsing: text) else { return }
      switch element.name {
      case "open":
        let mechanism = XMLElement("mechanism", XMPP.sasl, text: "PLAIN")
        // Both at once: which of them comes next is the client's to know.
        let features = [XMLElement("mechanisms", XMPP.sasl, [], [mechanism]), XMLElement("bind", XMPP.bind)]
        send([XMPP.open([]), XMLElement("features", XMPP.streams, [], features)], on: socket)
      case "auth": send([XMLElement("success", XMPP.sasl)], on: socket)
      case "iq" where element["id"] == "bind": send([XMPP.iq("result", id: "bind")], on: socket)
      case "presence": send(Self.stanzas, on: socket)
      default: environment.malformed(text)
      }
    }

    private func send(_ elements: [XMLElement], on socket: SignallingSocket) {
      for element in elements { socket.send(element.description) }
    }

    private static var stanzas: [XMLElement] {
      let from = XMLElement.Attribute(name: "from", value: XMPP.domain)
      var ping = XMPP.iq("get", id: "p", [XMLElement("ping", XMPP.ping)])
      ping.attributes.append(from)
      let query = XMPP.iq("set", id: "q", [XMLElement("query", "urn:q")])
      var signal = SignalStanza.stanza(of: CallSignal(.hangUp, sessionID: "s").content(to: "bob"))
      signal.attributes = [.init(name: "type", value: "headline"), .init(name: "to", value: "bob-1@chat.test")]
      var error = XMPP.error("item-not-found", type: "cancel", answering: signal)
      error.children += signal.children
      return [ping, query, error, close]
    }

    private static let close = XMLElement("close", XMPP.framing)
  }

  private static func world() throws -> ProfileWorld {
    let world = try ProfileWorld(app: ConnectyCubeApp.self, server: AskingServer.self, users: ["alice"])
    world.run(for: .seconds(1))
    return world
  }

  @Test func `every query is answered, and the server's close too`() throws {
    let world = try Self.world()
    let answers = try world.values("chat", "signal.malformed").map { try XMLElement(parsing: $0) }
    try #require(answers.map(\.name) == ["iq", "iq", "close"])
    #expect(answers[0]["type"] == "result" && answers[0]["id"] == "p" && answers[0]["to"] == XMPP.domain)
    #expect(answers[1]["type"] == "error" && answers[1]["id"] == "q")
    #expect(answers[1].first("error", XMPP.stanzas)?.elements.map(\.name) == ["service-unavailable"])
    #expect(world.value("alice", "chat.state") == "disconnected")
  }

  @Test func `an error that holds a signal is no signal`() throws {
    let world = try Self.world()
    #expect(world.values("alice", "message.rejected") == ["error: item-not-found"])
    #expect(world.count("alice", "signal.received") == 0 && world.count("alice", "code") == 0)
  }
}
