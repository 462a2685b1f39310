import CallCore
import DTLS
import PeerSession
import SDP
import SimNet
import Statistics
import Testing

@testable import VirtualPeer

/// The peer connection that apps have, on two simulated devices: what it changes shows on the wire.
@Suite struct PeerConnectionTests {
  private final class Party: PeerConnectionDelegate {
    let runtime: HostRuntime
    let factory: PeerConnectionFactory
    let connection: any PeerConnection
    private(set) var candidates: [(String?, String, Int)] = []

    init(_ name: String, _ simulator: Simulator, _ network: NetworkID) throws {
      let host = try simulator.addHost(name)
      try simulator.attach(host, to: network, link: name)
      runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
      var settings = Device.Settings()
      settings.microphone = .tone(frequency: 440)
      settings.isSimulator = true
      let random = simulator.random.scoped(name)
      let certificate = Certificate.generate(
        name: name, entropy: .stream(random.stream("certificate")), wallClock: WallClock())
      factory = PeerConnectionFactory(
        configuration: SessionConfiguration(certificate: certificate, cname: name),
        environment: ConnectionEnvironment(
          clock: runtime.clock, network: runtime.network,
          device: Device(settings: settings, trace: simulator.trace, peer: name), random: random, media: .real,
          trace: simulator.trace, keyLog: nil, heard: nil),
        owner: name)
      connection = factory.make()
      connection.delegate = self
    }

    func connection(_ connection: any PeerConnection, did event: SessionEvent) {
      if case .iceCandidate(let text, let mid, let index) = event { candidates.append((text, mid, index)) }
    }

    var packetsSent: Int64 {
      if case .integer(let count)? = connection.statistics().first("outbound-rtp")?["packetsSent"] { return count }
      return 0
    }
  }

  private final class Call {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 3))
    let a: Party
    let b: Party

    init() throws {
      let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("10.0.0.0/24")!])
      a = try Party("a", simulator, network)
      b = try Party("b", simulator, network)
    }

    func run(for duration: Interval) { simulator.run(until: simulator.now + duration) }

    func negotiate() throws {
      let offer = try a.connection.createOffer()
      try a.connection.setLocalDescription(offer)
      try b.connection.setRemoteDescription(offer)
      let answer = try b.connection.createAnswer()
      try b.connection.setLocalDescription(answer)
      try a.connection.setRemoteDescription(answer)
      run(for: .milliseconds(100))
      for (from, to) in [(a, b), (b, a)] {
        for (text, mid, index) in from.candidates {
          try to.connection.addICECandidate(text, mid: mid, mLineIndex: index)
        }
      }
      run(for: .seconds(2))
    }
  }

  @Test func `a track is replaced by nothing and comes back, and an encoding is stopped, without negotiation`() throws {
    let call = try Call()
    let sender = try call.a.connection.addTrack()
    try call.b.connection.addTransceiver(.audio, TransceiverInit(direction: .recvonly))
    try call.negotiate()
    let connection = call.a.connection
    #expect(connection.connectionState == .connected && call.a.packetsSent > 50)
    #expect(connection.transceivers.map(\.id) == [sender] && connection.transceivers[0].mid == "0")

    try connection.replaceTrack(nil, of: sender)
    var sent = call.a.packetsSent
    call.run(for: .seconds(1))
    #expect(call.a.packetsSent == sent && connection.transceivers[0].sender.track == nil)
    try connection.replaceTrack(.microphone, of: sender)
    call.run(for: .seconds(1))
    #expect(call.a.packetsSent > sent + 40)

    var parameters = try connection.parameters(of: sender)
    parameters.encodings[0].isActive = false
    try connection.setParameters(parameters, of: sender)
    sent = call.a.packetsSent
    call.run(for: .seconds(1))
    #expect(call.a.packetsSent == sent && connection.signalingState == .stable)
  }

  @Test func `what this stack has not is refused by W3C's name`() throws {
    let call = try Call()
    let connection = call.a.connection
    func refusal(_ body: () throws(SessionError) -> Void) -> String? {
      do throws(SessionError) {
        try body()
        return nil
      } catch {
        return error.name
      }
    }
    #expect(
      refusal { () throws(SessionError) in try connection.addTrack(MediaStreamTrack(.video)) } == "NotSupportedError")
    #expect(refusal { () throws(SessionError) in try connection.addTransceiver(.video) } == "NotSupportedError")
    #expect(connection.codecs(for: .video).isEmpty)
    let sender = try connection.addTrack()
    connection.close()
    #expect(refusal { () throws(SessionError) in try connection.replaceTrack(nil, of: sender) } == "InvalidStateError")
    #expect(refusal { () throws(SessionError) in try connection.addTrack() } == "InvalidStateError")
  }
}
