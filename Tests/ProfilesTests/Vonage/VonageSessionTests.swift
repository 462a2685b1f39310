import CallCore
import SimNet
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

@Suite struct VonageSessionTests {
  @Test func `two clients connect, hear and see each other, and leave`() throws {
    let world = try VonageWorld()
    world.connect("alice")
    world.connect("bob")
    for (one, other) in [("alice", "bob"), ("bob", "alice")] {
      #expect(world.value(one, "session.state") == "connected")
      #expect(world.value(one, "subscribed") == other && world.value(one, "views") == other)
      #expect(world.value(one, "audible") == "true" && world.value(one, "visible") == "true")
    }
    world.perform("alice", "disconnect")
    world.run(for: .seconds(1))
    #expect(
      world.values("alice", "callback") == [
        "sessionDidConnect", "publisherStreamCreated", "sessionConnectionCreated", "sessionStreamCreated",
        "subscriberDidConnectToStream", "sessionDidDisconnect", "sessionStreamDestroyed", "publisherStreamDestroyed",
      ])
    #expect(world.value("bob", "streams") == "none" && world.value("bob", "connections") == "none")
    #expect(world.value("alice", "call.ended") == "disconnected")
  }

  @Test func `both who connect at once see each other`() throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    for (one, other) in [("alice", "bob"), ("bob", "alice")] { #expect(world.value(one, "subscribed") == other) }
  }

  @Test func `both who connect at once to a relayed session see each other, without the router`() throws {
    let world = try VonageWorld()
    world.createRelayed("pair")
    world.connect("alice", "bob", to: "pair")
    for (one, other) in [("alice", "bob"), ("bob", "alice")] {
      #expect(world.value(one, "subscribed") == other && world.value(one, "visible") == "true")
    }
    #expect(world.server.openConnectionCount == 0)
  }

  @Test func `a relayed client that gave up its media begins anew with the other`() throws {
    let world = try VonageWorld()
    world.createRelayed("pair")
    world.connect("alice", "bob", to: "pair")
    world.perform("alice", "unpublish")
    world.perform("alice", "unsubscribe", [("user", .text("bob"))])
    world.run(for: .seconds(2))
    #expect(world.value("alice", "connections.open") == "0")
    world.perform("alice", "subscribe", [("user", .text("bob"))])
    world.run(for: .seconds(3))
    #expect(world.value("alice", "subscribed") == "bob" && world.value("alice", "audible") == "true")
    world.perform("alice", "publish")
    world.run(for: .seconds(3))
    #expect(world.value("bob", "subscribed") == "alice" && world.value("bob", "visible") == "true")
  }

  @Test func `three clients have two subscribers each`() throws {
    let world = try VonageWorld(["alice", "bob", "carol"])
    world.connect("alice", "bob", "carol")
    #expect(world.value("alice", "subscribed") == "bob carol" && world.value("carol", "subscribed") == "alice bob")
  }

  @Test func `a callback is never called within the action that causes it`() throws {
    let world = try VonageWorld()
    world.connect("alice")
    world.perform("alice", "disconnect")
    #expect(world.value("alice", "callback") == "publisherStreamCreated")
    world.run(for: .milliseconds(1))
    #expect(world.values("alice", "callback").suffix(2) == ["sessionDidDisconnect", "publisherStreamDestroyed"])
  }

  @Test func `without publisher and subscriber no connection and no audio is kept`() throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    world.perform("alice", "unpublish")
    world.perform("alice", "unsubscribe", [("user", .text("bob"))])
    world.run(for: .seconds(1))
    #expect(world.value("alice", "connections.open") == "0" && world.value("alice", "mic.open") == "false")
    #expect(world.value("alice", "session.state") == "connected" && world.value("bob", "streams") == "none")
  }

  @Test func `an offer that was lost is said again`() throws {
    let world = try VonageWorld()
    world.connect("alice")
    world.server.faults.add(SignallingFault(.drop, type: "media", to: "alice", count: 1))
    world.connect("bob")
    world.run(for: .seconds(8))
    #expect(world.value("alice", "subscribed") == "bob")
  }

  @Test func `a keepalive leaves every three seconds`() throws {
    let world = try VonageWorld()
    world.connect("alice")
    world.run(for: .seconds(20))
    let times = world.times("alice", "signal.sent", "keepalive")
    #expect(times.count >= 6)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == .seconds(3) })
  }

  @Test func `a signal that was not confirmed is sent again after a reconnection, and comes once`() throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    world.server.faults.add(SignallingFault(.drop, type: "signalConfirmed", to: "alice", count: 1))
    world.perform("alice", "signal", [("type", .text("chat")), ("data", .text("once"))])
    world.run(for: .seconds(1))
    world.server.disconnect(user: "alice")
    world.run(for: .seconds(4))
    #expect(world.times("alice", "signal.sent", "signal").count == 2)
    #expect(world.values("bob", "callback").count { $0 == "sessionReceivedSignal" } == 1)
  }

  @Test func `a message with a stranger's secret takes nobody's place`() throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    let channel = world.connectStranger("/session/mallory")
    var answers: [String] = []
    channel.onText = { answers.append($0) }
    channel.send(#"{"type":"resume","secret":"00","received":0,"streams":[],"subscriptions":[]}"#)
    world.run(for: .seconds(1))
    #expect(answers == [#"{"type":"error","domain":"session","code":1022}"#])
    #expect(world.value("bob", "subscribed") == "alice")
  }

  @Test func `the server itself refuses to moderate for a publisher`() throws {
    let world = try VonageWorld()
    world.connect("bob")
    let channel = world.connectStranger("/session/mallory")
    var answers: [String] = []
    channel.onText = { answers.append($0) }
    let token = VonageToken.text(
      .valid, user: "mallory", session: "daily", role: .publisher,
      at: world.strangers.clock.wallClock.unixSeconds(at: world.strangers.clock.now))
    channel.send(
      VonageWire.text(MessageContent("connect", [.init("session", "daily"), .init("token", .string(token))])))
    world.run(for: .seconds(1))
    for request in ["disconnect", "mute"] {
      channel.send(#"{"type":"moderate","request":"\#(request)","connection":"c1"}"#)
    }
    world.run(for: .seconds(1))
    #expect(answers.suffix(2).map { $0.contains("1520") } == [true, false])
    #expect(answers.last?.contains("1540") == true)
    #expect(world.value("bob", "session.state") == "connected" && world.value("bob", "publish.audio") == "true")
  }

  @Test func `a token of a subscriber publishes nothing, whatever its client asks for`() throws {
    let world = try VonageWorld()
    world.connect("bob")
    let channel = world.connectStranger("/session/mallory")
    let token = VonageToken.text(
      .valid, user: "mallory", session: "daily", role: .subscriber,
      at: world.strangers.clock.wallClock.unixSeconds(at: world.strangers.clock.now))
    channel.send(
      VonageWire.text(MessageContent("connect", [.init("session", "daily"), .init("token", .string(token))])))
    world.run(for: .seconds(1))
    var answers: [String] = []
    channel.onText = { answers.append($0) }
    channel.send(#"{"type":"publish","publisher":"1","name":"x","hasAudio":true,"hasVideo":false,"fallback":true}"#)
    world.run(for: .seconds(1))
    #expect(answers == [])
  }

  @Test func `nothing is left when the apps have shut down`() throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    world.expectNothingIsLeftAfterShutdown()
  }

  @Test func `equal seeds give equal traces and other seeds others`() throws {
    func hash(seed: UInt64) throws -> UInt64 {
      let world = try VonageWorld(seed: seed)
      world.connect("alice", "bob")
      return world.simulator.trace.hash
    }
    #expect(try hash(seed: 5) == hash(seed: 5))
    #expect(try hash(seed: 5) != hash(seed: 6))
  }

  @Test func `a signal that is one too many for its receiver is told to the sender`() throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    // Nothing that arrives at Bob is confirmed.
    world.server.faults.add(SignallingFault(.drop, type: "signal", to: "bob"))
    for number in 0...VonageClient.signalLimit {
      world.perform("alice", "signal", [("data", .text("\(number)")), ("to", .text("bob"))])
    }
    world.run(for: .seconds(2))
    #expect(world.values("alice", "code") == ["1550"])
    #expect(world.fields("session", "signal.undeliverable") == [["signal", "bob"]])
  }

  @Test func `a request that no server answers is refused in the end`() throws {
    let world = try VonageWorld()
    world.server.faults.add(SignallingFault(.drop, type: "restAnswer", to: "alice"))
    world.perform("alice", "create-session", [("session", .text("pair")), ("mode", .text("relayed"))])
    world.run(for: .seconds(9))
    #expect(world.values("alice", "action-refused") == [])
    world.run(for: .seconds(2))
    #expect(world.values("alice", "action-refused") == ["create-session"])
  }

  // MARK: What comes from others

  @Test(arguments: [
    "garbage", "{}", "[1]", #"{"type":"connect"}"#, #"{"type":"connect","session":"daily","token":"x"}"#,
    #"{"type":"resume"}"#, #"{"type":"media","number":1}"#, #"{"type":"subscribe","stream":"s1"}"#,
    #"{"type":"signal","number":1,"name":"a","data":"b"}"#, #"{"type":"disconnect"}"#,
  ])
  func `an unusable frame of a stranger leaves a session alone`(_ text: String) throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    for path in ["/session/mallory", "/rest/mallory", "/"] {
      let channel = world.connectStranger(path)
      channel.send(text)
      channel.send(#"{"type":"keepalive"}"#)
      world.run(for: .seconds(1))
      channel.close()
    }
    #expect(world.value("alice", "subscribed") == "bob" && world.value("bob", "subscribed") == "alice")
    #expect(world.value("alice", "connections") == "bob")
  }

  @Test func `an unknown media mode cannot be used`() throws {
    let world = try VonageWorld()
    world.server.faults.add(SignallingFault(.drop, type: "connected", to: "alice"))
    world.perform("alice", "connect", [("session", .text("daily"))])
    world.run(for: .seconds(1))
    let connected = MessageContent(
      "connected",
      [
        .init("connection", ["id": "c1", "user": "alice"]), .init("secret", "s"), .init("role", "publisher"),
        .init("mode", "unheard-of"), .init("connections", []), .init("streams", []),
      ])
    world.server.faults.removeAll()
    world.server.inject(connected, from: "server", to: "alice")
    world.run(for: .seconds(1))
    #expect(world.value("alice", "call.ended") == "2000")
  }

  @Test(arguments: ["publisher", "subscriber"])
  func `an unknown code of the server is told as other`(_ domain: String) throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    let stream: JSON = domain == "publisher" ? "s3" : "s4"
    for stream in [stream, "s1", "s2", "s3", "s4", "s5"] {
      world.server.inject(
        MessageContent("error", [.init("domain", .string(domain)), .init("code", 9_999), .init("stream", stream)]),
        from: "server", to: "alice")
    }
    world.run(for: .seconds(1))
    #expect(world.values("alice", "callback").contains("\(domain)DidFailWithError"))
    #expect(world.values("alice", "callback.error").contains("other"))
    #expect(world.value("alice", "session.state") == "connected")
  }

  @Test(arguments: [
    "connected", "resumed", "error", "connection", "stream", "published", "subscribe", "unsubscribe", "media",
    "videoQuality", "signal", "signalConfirmed", "keepalive", "unknown",
  ])
  func `a message that nobody waits for changes nothing`(_ type: String) throws {
    let world = try VonageWorld()
    world.connect("alice", "bob")
    world.server.inject(MessageContent(type), from: "server", to: "alice")
    world.run(for: .seconds(2))
    #expect(world.value("alice", "session.state") == "connected" && world.value("alice", "subscribed") == "bob")
  }
}
