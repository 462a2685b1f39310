import CallCore
import PeerSession
import SimNet
import Statistics
import Testing

@testable import Profiles
@testable import VirtualPeer

@Suite struct KnotosServerTests {
  /// A WebSocket client that says what the test wants and answers nothing by itself.
  private final class Stranger {
    let world: KnotosWorld
    let channel: WebSocketChannel
    var received: [(time: Instant, text: String)] = []
    var closedAt: Instant?

    init(_ world: KnotosWorld, seed: UInt64 = 1) {
      self.world = world
      channel = WebSocketChannel(
        stream: world.strangers.network.connect(to: world.serverEndpoint),
        socket: WebSocket(
          .client, host: "server", path: KnotosWorld.webSocketPath, random: RandomStream(seed: seed)))
      channel.onText = { [unowned self] text in received.append((self.world.simulator.now, text)) }
      channel.onClose = { [unowned self] in closedAt = self.world.simulator.now }
      world.run(for: .milliseconds(500))
    }

    var texts: [String] { received.map(\.text) }

    func connect(as user: String) {
      channel.send("40{\"userId\":\"\(user)\"}")
      world.run(for: .milliseconds(200))
    }
  }

  @Test func `the open packet promises a ping every 25 s and 20 s for the answer`() throws {
    let stranger = Stranger(try KnotosWorld())
    #expect(
      stranger.texts == [
        #"0{"sid":"s3","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#
      ])
    stranger.connect(as: "zoe")
    #expect(stranger.texts.last == #"40{"sid":"u-zoe"}"#)
  }

  @Test func `a ping comes after 25 s, and without a pong the connection ends after 45 s`() throws {
    let stranger = Stranger(try KnotosWorld())
    let opened = try #require(stranger.received.first).time
    stranger.connect(as: "zoe")
    stranger.world.run(for: .seconds(50))
    let ping = try #require(stranger.received.last)
    #expect(ping.text == "2")
    #expect(ping.time - opened == .seconds(25))
    let closed = try #require(stranger.closedAt)
    #expect(abs((closed - opened).seconds - 45) < 0.1)
  }

  @Test func `a client that never says who it is is closed after 45 s, pongs or not`() throws {
    let stranger = Stranger(try KnotosWorld())
    let opened = try #require(stranger.received.first).time
    stranger.world.run(for: .seconds(26))
    stranger.channel.send("3")
    stranger.world.run(for: .seconds(25))
    let closed = try #require(stranger.closedAt)
    #expect(abs((closed - opened).seconds - 45) < 0.1)
  }

  @Test func `pongs nobody asked for bring no more pings`() throws {
    let stranger = Stranger(try KnotosWorld())
    stranger.connect(as: "zoe")
    for _ in 0..<20 { stranger.channel.send("3") }
    stranger.world.run(for: .seconds(30))
    #expect(stranger.texts.count { $0 == "2" } == 1)
  }

  @Test func `a user who connects again replaces the older connection`() throws {
    let world = try KnotosWorld()
    let old = Stranger(world, seed: 1)
    old.connect(as: "zoe")
    let new = Stranger(world, seed: 2)
    new.connect(as: "zoe")
    #expect(old.closedAt != nil)
    #expect(new.closedAt == nil)
  }

  @Test(arguments: [
    "", "x", "9", "4", "42", "42[]", "42{}", "42[1]", "42[\"call_offer\"]", "42[\"call_offer\",{}]",
    "42[\"call_offer\",{\"toUserId\":7,\"offer\":\"s\",\"callId\":\"q\"}]",
    "42[\"call_hangup\",{\"callId\":\"alice-1\"}]",
    "42[\"ice_candidate\",{\"callId\":\"alice-1\",\"candidate\":\"c\",\"sdpMLineIndex\":-1}]", "451-[\"x\"]", "40",
    "42[\"call_hangup\",{\"fromUserId\":\"alice\",\"callId\":\"alice-1\"}]", "42[[[[[[", "5", "6", "3probe",
  ])
  func `what a stranger says disturbs no call`(text: String) throws {
    let world = try KnotosWorld()
    let stranger = Stranger(world)
    stranger.connect(as: "zoe")
    world.perform("alice", "call", to: "bob")
    world.run(for: .milliseconds(300))
    stranger.channel.send(text)
    world.run(for: .milliseconds(300))
    #expect(world.value("alice", "call.state") == "calling")
    #expect(world.value("bob", "call.state") == "ringing")
  }

  @Test func `an event with an acknowledgement number is acknowledged`() throws {
    let stranger = Stranger(try KnotosWorld())
    stranger.connect(as: "zoe")
    stranger.channel.send(#"4217["anything",{}]"#)
    stranger.world.run(for: .milliseconds(200))
    #expect(stranger.texts.last == "4317[]")
  }

  @Test(arguments: [-200.0, 200.0]) func `clocks that drift apart cost no more than a trifle of the sound`(
    drift: Double
  ) throws {
    var device = Device.Settings()
    device.microphone = .noise
    device.audioClockDriftPPM = drift
    let world = try KnotosWorld(device: device)
    world.perform("alice", "call", to: "bob")
    world.run(for: .seconds(1))
    world.perform("bob", "accept")
    world.run(for: .seconds(30))
    let inbound = try #require(world.peers[1].statistics()?.first("inbound-rtp"))
    guard case .integer(let concealed)? = inbound["concealedSamples"],
      case .integer(let total)? = inbound["totalSamplesReceived"]
    else {
      Issue.record("no playout statistics")
      return
    }
    #expect(total > 48_000 * 25)
    #expect(Double(concealed) < Double(total) * 0.02)
  }
}
