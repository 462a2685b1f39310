import CallCore
import DTLS
import PeerSession
import SCTP
import SimNet
import Testing

@testable import VirtualPeer

/// Data channels between two simulated devices whose network loses packets.
@Suite struct DataChannelTests {
  private final class Party: PeerConnectionDelegate {
    let runtime: HostRuntime
    let factory: PeerConnectionFactory
    let connection: any PeerConnection
    private(set) var candidates: [(String?, String, Int)] = []
    private(set) var received: [DataChannelMessage] = []
    private(set) var open: [DataChannelID] = []

    init(_ name: String, _ simulator: Simulator, _ network: NetworkID, losing share: Double) throws {
      let host = try simulator.addHost(name)
      let link = LinkSettings(delay: .milliseconds(30), loss: .random(share))
      try simulator.attach(host, to: network, link: name, tx: link, rx: link)
      runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
      let random = simulator.random.scoped(name)
      let certificate = Certificate.generate(
        name: name, entropy: .stream(random.stream("certificate")), wallClock: WallClock())
      factory = PeerConnectionFactory(
        configuration: SessionConfiguration(certificate: certificate, cname: name),
        environment: ConnectionEnvironment(
          clock: runtime.clock, network: runtime.network,
          device: Device(settings: Device.Settings(), trace: simulator.trace, peer: name), random: random,
          media: .synthetic, trace: simulator.trace, keyLog: nil, heard: nil),
        owner: name)
      connection = factory.make()
      connection.delegate = self
    }

    func connection(_ connection: any PeerConnection, did event: SessionEvent) {
      switch event {
      case .iceCandidate(let text, let mid, let index): candidates.append((text, mid, index))
      case .dataChannelStateChange(let channel, .open): open.append(channel)
      case .dataChannelMessage(_, let message): received.append(message)
      default: break
      }
    }
  }

  /// Sends a hundred messages over a network that loses a tenth of all packets in each direction of each link.
  private static func play(
    _ settings: DataChannelInit = DataChannelInit()
  ) throws -> (received: [DataChannelMessage], hash: UInt64) {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 5))
    let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("10.0.0.0/24")!])
    let a = try Party("a", simulator, network, losing: 0.1)
    let b = try Party("b", simulator, network, losing: 0.1)
    let channel = try a.connection.createDataChannel("chat", settings)
    let offer = try a.connection.createOffer()
    try a.connection.setLocalDescription(offer)
    try b.connection.setRemoteDescription(offer)
    let answer = try b.connection.createAnswer()
    try b.connection.setLocalDescription(answer)
    try a.connection.setRemoteDescription(answer)
    simulator.run(until: simulator.now + .milliseconds(100))
    for (from, to) in [(a, b), (b, a)] {
      for (text, mid, index) in from.candidates { try to.connection.addICECandidate(text, mid: mid, mLineIndex: index) }
    }
    simulator.run(until: simulator.now + .seconds(10))
    #expect(a.open == [channel] && b.open.count == 1)
    for message in messages { try a.connection.send(message, on: channel) }
    simulator.run(until: simulator.now + .seconds(30))
    for party in [a, b] { party.connection.close() }
    return (b.received, simulator.trace.hash)
  }

  private static let messages = (0..<100).map { number in
    number % 2 == 0 ? DataChannelMessage.string("message \(number)") : .binary([UInt8](repeating: 7, count: 2_000))
  }

  @Test func `a reliable channel delivers every message in order`() throws {
    #expect(try Self.play().received == Self.messages)
  }

  @Test func `an unreliable channel loses messages and repeats none`() throws {
    var settings = DataChannelInit()
    (settings.ordered, settings.maxRetransmits) = (false, 0)
    let received = try Self.play(settings).received
    #expect((20..<100).contains(received.count))
    let texts = received.filter { if case .string = $0 { true } else { false } }
    #expect(Set(texts).count == texts.count)
  }

  @Test func `the same seed makes the same trace`() throws {
    #expect(try Self.play().hash == Self.play().hash)
  }
}
