import CallCore
import Digests
import SimNet
import Testing
import VirtualPeer

@testable import Profiles

/// Raw clients of the chat server: what it answers, stanza by stanza.
@Suite struct ConnectyCubeServerTests {
  /// A client that writes what a test says.
  private final class Client {
    let channel: WebSocketChannel
    private let world: ProfileWorld
    private(set) var texts: [String] = []
    private(set) var isClosed = false

    init(_ world: ProfileWorld, seed: UInt64) {
      self.world = world
      channel = WebSocketChannel(
        stream: world.strangers.network.connect(to: world.serverEndpoint),
        socket: WebSocket(
          .client, host: "chat.test", subprotocol: XMPP.subprotocol, random: RandomStream(seed: seed)))
      channel.onText = { [unowned self] in texts.append($0) }
      channel.onClose = { [unowned self] in isClosed = true }
      world.run(for: .milliseconds(500))
    }

    /// Sends a text and returns what came back within a second.
    func say(_ text: String) -> [XMLElement] {
      let before = texts.count
      channel.send(text)
      world.run(for: .seconds(1))
      return texts[before...].compactMap { try? XMLElement(parsing: $0) }
    }

    func logIn(as user: String) {
      _ = say("<open xmlns='\(XMPP.framing)' to='chat.test' version='1.0'/>")
      let secret = Base64.encode(Array("\0\(user)\0x".utf8))
      _ = say("<auth xmlns='\(XMPP.sasl)' mechanism='PLAIN'>\(secret)</auth>")
      _ = say("<open xmlns='\(XMPP.framing)' to='chat.test' version='1.0'/>")
      _ = say("<iq xmlns='jabber:client' type='set' id='b'><bind xmlns='\(XMPP.bind)'/></iq>")
    }
  }

  private static func world(_ users: [String] = []) throws -> ProfileWorld {
    try ProfileWorld(app: ConnectyCubeApp.self, server: ConnectyCubeServer.self, users: users)
  }

  private static func client(_ seed: UInt64 = 1, in world: ProfileWorld? = nil) throws -> Client {
    try Client(world ?? Self.world(), seed: seed)
  }

  @Test func `a stream is opened, authenticated, opened again and bound`() throws {
    let client = try Self.client()
    let first = client.say("<open xmlns='\(XMPP.framing)' to='chat.test' version='1.0'/>")
    #expect(first.map(\.name) == ["open", "features"])
    #expect(first.last?.first("mechanisms", XMPP.sasl)?.elements.map(\.text) == ["PLAIN"])
    let secret = Base64.encode(Array("\0carol\0x".utf8))
    #expect(client.say("<auth xmlns='\(XMPP.sasl)' mechanism='PLAIN'>\(secret)</auth>").map(\.name) == ["success"])
    let second = client.say("<open xmlns='\(XMPP.framing)' to='chat.test' version='1.0'/>")
    #expect(second.last?.first("bind", XMPP.bind) != nil)
    let bound = client.say("<iq xmlns='jabber:client' type='set' id='b'><bind xmlns='\(XMPP.bind)'/></iq>")
    #expect(bound.first?.first("bind", XMPP.bind)?.first("jid", XMPP.bind)?.text == "carol-1@chat.test/b")
  }

  @Test(arguments: ["", "carol", "\0carol", "\0\0x"]) func `SASL without a user fails`(_ message: String) throws {
    let client = try Self.client()
    let secret = Base64.encode(Array(message.utf8))
    let answer = client.say("<auth xmlns='\(XMPP.sasl)' mechanism='PLAIN'>\(secret)</auth>")
    #expect(answer.map(\.name) == ["failure"] && !client.isClosed)
    #expect(answer.first?.elements.map(\.name) == ["malformed-request"])
  }

  @Test(arguments: [
    ("SCRAM-SHA-1", "biws", "invalid-mechanism"), ("PLAIN", "!!", "incorrect-encoding"),
    ("PLAIN", "=", "malformed-request"),
    ("PLAIN", Base64.encode(Array("dave-1@chat.test\0carol\0x".utf8)), "invalid-authzid"),
  ]) func `SASL fails with the condition of RFC 6120`(_ mechanism: String, _ text: String, _ condition: String) throws {
    let client = try Self.client()
    let answer = client.say("<auth xmlns='\(XMPP.sasl)' mechanism='\(mechanism)'>\(text)</auth>")
    #expect(answer.first?.elements.map(\.name) == [condition])
  }

  @Test func `a user may name its own address as the one to act for`() throws {
    let client = try Self.client()
    let secret = Base64.encode(Array("carol-1@chat.test\0carol\0x".utf8))
    #expect(client.say("<auth xmlns='\(XMPP.sasl)' mechanism='PLAIN'>\(secret)</auth>").map(\.name) == ["success"])
  }

  @Test func `a client that does not offer XMPP is refused`() throws {
    let world = try Self.world()
    let channel = world.connectStranger("/ws")
    var texts: [String] = []
    channel.onText = { texts.append($0) }
    channel.send("<open xmlns='\(XMPP.framing)' to='chat.test' version='1.0'/>")
    world.run(for: .seconds(1))
    #expect(texts.isEmpty)
  }

  @Test func `a client's close of the stream is answered`() throws {
    let client = try Self.client()
    client.logIn(as: "carol")
    #expect(client.say("<close xmlns='\(XMPP.framing)'/>") == [XMLElement("close", XMPP.framing)])
    #expect(client.isClosed)
  }

  @Test func `a stream to another host ends`() throws {
    let client = try Self.client()
    let answer = client.say("<open xmlns='\(XMPP.framing)' to='other.test' version='1.0'/>")
    try #require(answer.map(\.name) == ["open", "error", "close"])
    #expect(answer[1].elements.map(\.name) == ["host-unknown"])
  }

  @Test func `the answer to a ping comes from the address that was asked`() throws {
    let client = try Self.client()
    client.logIn(as: "carol")
    let ping = "<ping xmlns='\(XMPP.ping)'/>"
    let answer = client.say("<iq xmlns='jabber:client' type='get' id='p' to='chat.test'>\(ping)</iq>")
    #expect(answer.count == 1 && answer[0]["type"] == "result" && answer[0]["from"] == "chat.test")
  }

  @Test func `an error is not answered`() throws {
    let client = try Self.client()
    client.logIn(as: "carol")
    let text = "<message xmlns='jabber:client' type='error' to='7-1@chat.test'><body>hi</body></message>"
    #expect(client.say(text).isEmpty && !client.isClosed)
  }

  @Test func `a message keeps its language and its sender's resource`() throws {
    let world = try Self.world()
    let (carol, dave) = (try Self.client(1, in: world), try Self.client(2, in: world))
    carol.logIn(as: "carol")
    dave.logIn(as: "dave")
    var stanza = SignalStanza.stanza(of: CallSignal(.hangUp, sessionID: "s").content(to: "dave"))
    stanza.attributes.append(.init(name: "xml:lang", value: "de"))
    _ = carol.say(stanza.description)
    let received = try XMLElement(parsing: #require(dave.texts.last))
    #expect(received["xml:lang"] == "de" && received["from"] == "carol-1@chat.test/b")
  }

  @Test(arguments: [
    ("<message>", "not-well-formed"), ("<a/>", "unsupported-stanza-type"),
    ("<message/>", "invalid-namespace"), ("<iq xmlns='jabber:server'/>", "invalid-namespace"),
    (String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40), "policy-violation"),
    ("<!-- --><presence xmlns='jabber:client'/>", "restricted-xml"),
    ("<a>" + String(repeating: "x", count: ConnectyCubeServer.stanzaLimit) + "</a>", "policy-violation"),
  ]) func `what cannot be read ends the stream with its error`(_ text: String, _ condition: String) throws {
    let client = try Self.client()
    client.logIn(as: "carol")
    let answer = client.say(text)
    #expect(answer.first?.elements.map(\.name) == [condition])
    #expect(client.isClosed)
  }

  @Test(arguments: ["message", "presence", "iq"])
  func `a stanza before the login ends the stream, opened for its error`(
    _ name: String
  ) throws {
    let client = try Self.client()
    let answer = client.say("<\(name) xmlns='jabber:client'/>")
    try #require(answer.map(\.name) == ["open", "error", "close"])
    #expect(answer[1].elements.map(\.name) == ["not-authorized"])
    #expect(client.isClosed)
  }

  @Test(arguments: [
    ("<message xmlns='jabber:client' id='1' to='nobody' type='headline'/>", "jid-malformed"),
    (
      "<message xmlns='jabber:client' id='1' to='7-1@chat.test' type='chat'><body>hi</body></message>",
      "service-unavailable"
    ),
    ("<iq xmlns='jabber:client' id='1' type='get'><query xmlns='jabber:iq:roster'/></iq>", "service-unavailable"),
    ("<iq xmlns='jabber:client' id='1' type='odd'/>", "bad-request"),
    ("<iq xmlns='jabber:client' type='get'/>", "bad-request"),
  ]) func `a stanza that cannot be served is answered by an error, and the stream goes on`(
    _ text: String, _ condition: String
  ) throws {
    let client = try Self.client()
    client.logIn(as: "carol")
    let answer = client.say(text)
    #expect(answer.count == 1 && answer[0]["type"] == "error")
    #expect(answer.first?.first("error", XMPP.stanzas)?.elements.map(\.name) == [condition])
    #expect(!client.isClosed)
  }

  @Test func `a client cannot speak in another's name`() throws {
    let world = try Self.world()
    let (carol, dave) = (try Self.client(1, in: world), try Self.client(2, in: world))
    carol.logIn(as: "carol")
    dave.logIn(as: "dave")
    let signal = CallSignal(.hangUp, sessionID: "s").content(to: "dave")
    var stanza = SignalStanza.stanza(of: signal)
    stanza.attributes.append(.init(name: "from", value: "alice-1@chat.test/ios"))
    _ = carol.say(stanza.description)
    let received = try #require(dave.texts.last)
    #expect(try XMLElement(parsing: received)["from"] == "carol-1@chat.test/b")
  }

  @Test func `a second login of a user ends the first`() throws {
    let world = try Self.world()
    let (first, second) = (try Self.client(1, in: world), try Self.client(2, in: world))
    first.logIn(as: "carol")
    second.logIn(as: "carol")
    #expect(first.isClosed && !second.isClosed)
    #expect(first.texts.contains { $0.contains("conflict") })
  }

  @Test func `a client that does not log in is closed after half a minute`() throws {
    let world = try Self.world()
    let client = try Self.client(1, in: world)
    world.run(for: ConnectyCubeServer.loginTimeout - .seconds(1))
    #expect(!client.isClosed)
    world.run(for: .seconds(1))
    #expect(client.isClosed)
  }

  @Test func `a chat that answers no ping is left, and connected again`() throws {
    let world = try Self.world(["alice"])
    world.run(for: .seconds(2))
    #expect(world.value("alice", "chat.state") == "connected")
    world.server.faults.add(SignallingFault(.blackhole))
    world.run(for: ChatClient.pingInterval + ChatClient.pingTimeout)
    #expect(world.value("alice", "chat.state") != "connected")
  }
}
