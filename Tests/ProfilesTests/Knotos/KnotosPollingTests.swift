import CallCore
import SimNet
import Testing
import Vocabulary

@testable import Profiles
@testable import VirtualPeer

/// Engine.IO v4 at the server, by requests that the test writes, as the protocol's own conformance tests do.
@Suite struct KnotosPollingTests {
  /// A connection on which the test sends requests.
  private final class Browser {
    let world: KnotosWorld
    let stream: PeerStream
    private var parser = HTTPParser(bodyLimit: 1_000_000)
    var responses: [HTTPMessage] = []
    var isClosed = false

    init(_ world: KnotosWorld) {
      self.world = world
      stream = world.strangers.network.connect(to: world.serverEndpoint)
      stream.onEvent = { [unowned self] event in
        switch event {
        case .connected: break
        case .received(let bytes):
          parser.append(bytes)
          while let response = try? parser.next() { responses.append(response) }
        case .closed: isClosed = true
        }
      }
      world.run(for: .milliseconds(100))
    }

    /// Sends a request and returns the response that came meanwhile.
    @discardableResult
    func send(_ method: String, _ query: String, _ body: String? = nil, path: String = "/socket.io/") -> HTTPMessage? {
      let before = responses.count
      stream.send(HTTPMessage(method, path + "?" + query, host: "server", body: body.map { Array($0.utf8) }).encoded)
      world.run(for: .milliseconds(100))
      return responses.count > before ? responses.last : nil
    }
  }

  private static let new = "EIO=4&transport=polling"
  private static let own = new + "&sid=s3"

  private func text(_ response: HTTPMessage?) -> String? { response.map { String(decoding: $0.body, as: UTF8.self) } }

  /// Begins a session as zoe, who waits for nothing.
  private func begin(_ browser: Browser) {
    browser.send("GET", Self.new)
    browser.send("POST", Self.own, #"40{"userId":"zoe"}"#)
    browser.send("GET", Self.own)
  }

  /// Tries WebSocket for the session.
  private func probe(_ world: KnotosWorld) -> (channel: WebSocketChannel, texts: () -> [String], isClosed: () -> Bool) {
    final class Log { var (texts, isClosed): ([String], Bool) = ([], false) }
    let log = Log()
    let channel = WebSocketChannel(
      stream: world.strangers.network.connect(to: world.serverEndpoint),
      socket: WebSocket(
        .client, host: "server", path: KnotosWorld.webSocketPath + "&sid=s3", random: RandomStream(seed: 1)))
    channel.onText = { log.texts.append($0) }
    channel.onClose = { log.isClosed = true }
    world.run(for: .milliseconds(200))
    return (channel, { log.texts }, { log.isClosed })
  }

  @Test func `the first request brings the open packet, which offers WebSocket`() throws {
    let response = Browser(try KnotosWorld()).send("GET", Self.new)
    #expect(response?.status == 200)
    #expect(
      text(response)
        == #"0{"sid":"s3","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#)
  }

  @Test(
    arguments: [
      ("GET", "transport=polling", 5), ("GET", "EIO=abc&transport=polling", 5), ("GET", "EIO=4", 0),
      ("GET", "EIO=4&transport=abc", 0), ("POST", new, 2), ("GET", new + "&sid=nobody", 1),
      ("GET", "EIO=4&transport=websocket", 3),
    ])
  func `a bad request is refused with its number`(method: String, query: String, code: Int) throws {
    let response = Browser(try KnotosWorld()).send(method, query, method == "POST" ? "4x" : nil)
    #expect(response?.status == 400)
    #expect(text(response)?.hasPrefix(#"{"code":\#(code),"#) == true)
  }

  @Test func `another path is not found`() throws {
    #expect(Browser(try KnotosWorld()).send("GET", Self.new, path: "/chat/")?.status == 404)
  }

  @Test func `packets of one request and of one response are separated by 0x1e`() throws {
    let browser = Browser(try KnotosWorld())
    begin(browser)
    browser.send("POST", Self.own, "421[\"anything\",{}]\u{1E}422[\"anything\",{}]")
    #expect(text(browser.responses.last) == "ok")
    #expect(text(browser.send("GET", Self.own)) == "431[]\u{1E}432[]")
  }

  @Test func `a poll waits for a packet`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    begin(browser)
    #expect(browser.send("GET", Self.own) == nil)
    world.run(for: .seconds(25))
    #expect(text(browser.responses.last) == "2")
  }

  @Test func `without a pong the session ends after 45 s`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    begin(browser)
    world.run(for: .seconds(46))
    #expect(browser.send("GET", Self.own)?.status == 400)
  }

  @Test func `a second poll at a time ends the session`() throws {
    let world = try KnotosWorld()
    let (first, second) = (Browser(world), Browser(world))
    begin(first)
    first.send("GET", Self.own)
    #expect(second.send("GET", Self.own)?.status == 400)
    #expect(text(first.responses.last) == "1")
    #expect(text(second.send("GET", Self.own)) == #"{"code":1,"message":"Session ID unknown"}"#)
  }

  @Test func `a cancelled poll ends the session`() throws {
    let world = try KnotosWorld()
    let (first, second) = (Browser(world), Browser(world))
    begin(first)
    first.send("GET", Self.own)
    first.stream.abort()
    world.run(for: .milliseconds(100))
    #expect(second.send("GET", Self.own)?.status == 400)
  }

  @Test func `a request with no packets ends the session, and is counted`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    begin(browser)
    #expect(browser.send("POST", Self.own, "abc")?.status == 400)
    #expect(browser.send("GET", Self.own)?.status == 400)
    #expect(world.count("signal.malformed") == 1)
  }

  @Test func `a request above the limit is refused, and the session goes on`() throws {
    let world = try KnotosWorld()
    let (large, browser) = (Browser(world), Browser(world))
    begin(browser)
    large.stream.send(
      Array("POST /socket.io/?\(Self.own) HTTP/1.1\r\nHost: s\r\nContent-Length: 1000001\r\n\r\n".utf8))
    world.run(for: .seconds(3))
    #expect(large.responses.last?.status == 413)
    #expect(large.isClosed)
    #expect(text(browser.send("POST", Self.own, "3")) == "ok")
  }

  @Test func `many requests at once are answered one after the other`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    let request = HTTPMessage("GET", "/", host: "s").encoded
    browser.stream.send(Array(repeatElement(request, count: 2_000).joined()))
    world.run(for: .seconds(20))
    #expect(browser.responses.count == 2_000)
    #expect(browser.responses.allSatisfy { $0.status == 404 })
  }

  @Test func `a connection ends that sends without limit behind a poll`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    begin(browser)
    browser.send("GET", Self.own)
    for _ in 0..<3 {
      browser.stream.send([UInt8](repeating: 0x41, count: 30_000))
      world.run(for: .seconds(1))
    }
    world.run(for: .seconds(5))
    #expect(browser.isClosed)
  }

  @Test func `the close packet ends the session, and the poll that waits`() throws {
    let world = try KnotosWorld()
    let (polls, posts) = (Browser(world), Browser(world))
    begin(polls)
    polls.send("GET", Self.own)
    #expect(text(posts.send("POST", Self.own, "1")) == "ok")
    #expect(text(polls.responses.last) == "6")
    #expect(polls.send("GET", Self.own)?.status == 400)
  }

  // MARK: The upgrade

  @Test func `a session goes over to WebSocket, and its requests are refused from then on`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    begin(browser)
    browser.send("GET", Self.own)
    let (channel, texts, _) = probe(world)
    channel.send("2probe")
    world.run(for: .milliseconds(300))
    #expect(texts() == ["3probe"])
    #expect(text(browser.responses.last) == "6")
    channel.send("5")
    channel.send(#"427["anything",{}]"#)
    world.run(for: .milliseconds(100))
    #expect(texts() == ["3probe", "437[]"])
    #expect(browser.send("GET", Self.own)?.status == 400)
    let (_, _, isClosed) = probe(world)
    #expect(isClosed())
  }

  @Test func `a poll whose connection ends with it does not end the session`() throws {
    let world = try KnotosWorld()
    let (browser, polls) = (Browser(world), Browser(world))
    begin(browser)
    polls.stream.send(
      Array("GET /socket.io/?\(Self.own) HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n".utf8))
    let (channel, texts, _) = probe(world)
    channel.send("2probe")
    world.run(for: .milliseconds(300))
    #expect(text(polls.responses.last) == "6")
    channel.send("5")
    channel.send(#"427["anything",{}]"#)
    world.run(for: .milliseconds(100))
    #expect(texts() == ["3probe", "437[]"])
  }

  @Test func `a session stays with polling if the upgrade is not done in 10 s`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    begin(browser)
    let (channel, _, isClosed) = probe(world)
    channel.send("2probe")
    world.run(for: .seconds(11))
    #expect(isClosed())
    #expect(text(browser.send("POST", Self.own, "3")) == "ok")
  }

  @Test func `a WebSocket that says anything else before the upgrade is closed`() throws {
    let world = try KnotosWorld()
    let browser = Browser(world)
    begin(browser)
    let (channel, _, isClosed) = probe(world)
    channel.send("4hello")
    world.run(for: .milliseconds(100))
    #expect(isClosed())
    #expect(text(browser.send("POST", Self.own, "3")) == "ok")
  }

  @Test(arguments: [
    "EIO=4&transport=websocket&sid=nobody", "EIO=3&transport=websocket", "transport=websocket", "EIO=4",
  ])
  func `a WebSocket with bad parameters is refused`(query: String) throws {
    let world = try KnotosWorld()
    let channel = WebSocketChannel(
      stream: world.strangers.network.connect(to: world.serverEndpoint),
      socket: WebSocket(.client, host: "server", path: "/socket.io/?" + query, random: RandomStream(seed: 1)))
    var (isOpen, isClosed) = (false, false)
    channel.onOpen = { _ in isOpen = true }
    channel.onClose = { isClosed = true }
    world.run(for: .milliseconds(500))
    #expect(!isOpen && isClosed)
  }

  // MARK: The app

  private func world(_ transports: String) throws -> KnotosWorld {
    let settings = NamedValues([("socket-transports", .text(transports))])
    return try KnotosWorld(settings: ["alice": settings, "bob": settings])
  }

  private func call(_ world: KnotosWorld) {
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(3))
  }

  @Test(arguments: [("polling", ["none", "polling"]), ("both", ["none", "polling", "websocket"])])
  func `a call is set up by each transport`(transports: String, expected: [String]) throws {
    let world = try world(transports)
    world.run(for: .seconds(1))
    call(world)
    #expect(world.value("alice", "call.state") == "connected")
    #expect(world.values("alice", "socket.transport") == expected)
  }

  @Test func `an app stays connected by polling for as long as it answers pings`() throws {
    let world = try world("polling")
    world.run(for: .seconds(200))
    #expect(world.values("alice", "socket.state") == ["disconnected", "connecting", "connected"])
  }

  @Test func `an app that leaves says so, also where it has no connection for it`() throws {
    let world = try world("polling")
    world.run(for: .seconds(1))
    #expect(world.server.isConnected(user: "alice"))
    world.peers[0].shutDown()
    world.run(for: .seconds(1))
    #expect(!world.server.isConnected(user: "alice"))
    world.expectNothingIsLeftAfterShutdown()
  }

  @Test func `an app whose probe is lost goes on with polling`() throws {
    let world = try world("both")
    world.server.disconnect(user: nil)
    world.server.faults.add(SignallingFault(.drop, type: "probe"))
    world.run(for: .seconds(30))
    call(world)
    #expect(world.value("alice", "call.state") == "connected")
    #expect(world.value("alice", "socket.transport") == "polling")
    #expect(world.values("alice", "code").contains("kn.probe_failed"))
  }

  @Test func `an app whose server goes in the middle of the upgrade begins anew`() throws {
    let world = try world("both")
    world.server.disconnect(user: nil)
    // The upgrade packet is late, so that the session is neither here nor there.
    let fault = world.server.faults.add(SignallingFault(.delay(.seconds(5)), type: "upgrade"))
    world.run(for: .seconds(13))
    world.server.faults.remove(fault)
    world.server.disconnect(user: nil)
    world.run(for: .seconds(15))
    #expect(world.value("alice", "socket.state") == "connected")
    #expect(world.value("alice", "socket.transport") == "websocket")
  }

  @Test func `a black hole takes what is polled and posted, and the session goes on after it`() throws {
    let world = try world("polling")
    world.run(for: .seconds(1))
    let fault = world.server.faults.add(SignallingFault(.blackhole))
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(20))
    #expect(world.value("bob", "call.state") == "idle")
    world.server.faults.remove(fault)
    world.perform("alice", "hangup")
    world.run(for: .seconds(3))
    call(world)
    #expect(world.value("alice", "call.state") == "connected")
    #expect(world.values("alice", "socket.state") == ["disconnected", "connecting", "connected"])
  }
}
