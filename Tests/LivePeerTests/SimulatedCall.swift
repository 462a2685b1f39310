import CallCore
import DTLS
import PeerSession
import SimNet

@testable import VirtualPeer

/// Two peers of the simulator in a call over a network that loses packets. What one of them is given and what it says
/// is written down.
final class SimulatedCall: PacketTap, PeerConnectionDelegate {
  static let end = Instant.zero + .seconds(4)
  /// The recorded peer's name, and the name of its interface.
  static let name = "eth0"

  let transcript = Transcript()
  private(set) var script: [(at: Instant, input: Input)] = []
  private(set) var local: Endpoint?

  let session: SessionConfiguration
  let random: RandomSource
  private let isRecordedOfferer: Bool
  private let simulator: Simulator
  /// The recorded peer's interface, which is the first.
  private var interfaceID: InterfaceID?
  private var recorded: Peer!
  private var other: Peer!

  private final class Peer {
    let runtime: HostRuntime
    let connection: any PeerConnection
    let address: IPAddress
    let device: Device

    init(
      _ name: String, _ simulator: Simulator, _ network: NetworkID, _ session: SessionConfiguration,
      heard: ((Span<Int16>) -> Void)?
    ) throws {
      let host = try simulator.addHost(name)
      let lossy = LinkSettings(delay: .microseconds(15_371), loss: .random(0.03))
      try simulator.attach(host, to: network, link: name, type: .ethernet, tx: lossy, rx: lossy)
      address = simulator.interfaces(of: host)[0].addresses[0]
      runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
      var settings = Device.Settings()
      settings.microphone = .speech
      settings.isSimulator = true
      device = Device(settings: settings, trace: simulator.trace, peer: name)
      let factory = PeerConnectionFactory(
        configuration: session,
        environment: ConnectionEnvironment(
          clock: runtime.clock, network: runtime.network, device: device,
          random: simulator.random.scoped(name), media: .real, trace: simulator.trace, keyLog: nil, heard: heard),
        owner: name)
      connection = factory.make()
      keep = factory
    }

    private let keep: PeerConnectionFactory
  }

  init(isRecordedOfferer: Bool) throws {
    self.isRecordedOfferer = isRecordedOfferer
    let source = RandomSource(seed: 7)
    random = source.scoped(Self.name)
    simulator = Simulator(trace: Trace(), random: source)
    session = Self.configuration(Self.name, source)
    let prefix = IPPrefix(IPAddress(v4: 0xCB00_7100), length: 24)
    let network = try simulator.addNetwork("lan", prefixes: [prefix])
    simulator.tap = self
    recorded = try Peer(
      Self.name, simulator, network, session,
      heard: { [unowned self] in transcript.heard($0, at: simulator.now) })
    other = try Peer("eth1", simulator, network, Self.configuration("eth1", source), heard: nil)
    recorded.connection.delegate = self
    other.connection.delegate = self
  }

  private static func configuration(_ name: String, _ random: RandomSource) -> SessionConfiguration {
    let certificate = Certificate.generate(
      name: name, entropy: .stream(random.stream("certificate/\(name)")), wallClock: WallClock())
    return SessionConfiguration(certificate: certificate, cname: name)
  }

  // MARK: The call: at times that are nobody else's, so that no input meets a timer in the same instant

  func run() {
    at(.microseconds(5_003)) { [self] in
      give(.addAudio)
      try other.connection.addTrack()
    }
    at(.microseconds(40_007)) { [self] in
      if isRecordedOfferer {
        signal(offer: try offerOfRecorded())
      } else {
        let offer = try other.connection.createOffer()
        try other.connection.setLocalDescription(offer)
        at(.microseconds(60_011)) { [self] in
          give(.remoteDescription(offer))
          let answer = try answerOfRecorded()
          at(.microseconds(80_021)) { [self] in try other.connection.setRemoteDescription(answer) }
        }
      }
    }
    at(.microseconds(3_000_037)) { [self] in give(.statistics) }
    at(.microseconds(3_500_041)) { [self] in give(.close) }
    simulator.run(until: Self.end)
  }

  private func offerOfRecorded() throws -> SessionDescriptionText {
    let offer = try recorded.connection.createOffer()
    script.append((simulator.now, .createOffer))
    transcript.note("offer \(offer.sdp)", at: simulator.now)
    try recorded.connection.setLocalDescription(offer)
    return offer
  }

  private func answerOfRecorded() throws -> SessionDescriptionText {
    let answer = try recorded.connection.createAnswer()
    script.append((simulator.now, .createAnswer))
    transcript.note("answer \(answer.sdp)", at: simulator.now)
    try recorded.connection.setLocalDescription(answer)
    return answer
  }

  private func signal(offer: SessionDescriptionText) {
    at(.microseconds(60_011)) { [self] in
      try other.connection.setRemoteDescription(offer)
      let answer = try other.connection.createAnswer()
      try other.connection.setLocalDescription(answer)
      at(.microseconds(80_021)) { [self] in give(.remoteDescription(answer)) }
    }
  }

  /// Gives the recorded peer an input, and writes it down.
  private func give(_ input: Input) {
    script.append((simulator.now, input))
    let connection = recorded.connection
    switch input {
    case .addAudio: _ = try? connection.addTrack()
    case .remoteDescription(let description): try? connection.setRemoteDescription(description)
    case .candidate(let text, let mid, let index): try? connection.addICECandidate(text, mid: mid, mLineIndex: index)
    case .statistics: transcript.note("\(connection.statistics())", at: simulator.now)
    case .close: connection.close()
    case .createOffer, .createAnswer, .datagram: break
    }
  }

  private func at(_ time: Interval, _ body: @escaping () throws -> Void) {
    other.runtime.clock.schedule(at: .zero + time) { try? body() }
  }

  func connection(_ connection: any PeerConnection, did event: SessionEvent) {
    let isRecorded = connection === recorded.connection
    if isRecorded { transcript.event(event, at: simulator.now) }
    guard case .iceCandidate(let text, let mid, let index) = event else { return }
    at(.nanoseconds(simulator.now.nanoseconds) + .microseconds(30_029)) { [self] in
      if isRecorded {
        try other.connection.addICECandidate(text, mid: mid, mLineIndex: index)
      } else {
        give(.candidate(text, mid: mid, mLineIndex: index))
      }
    }
  }

  // MARK: PacketTap

  func added(_ interface: InterfaceID, name: String) { if interfaceID == nil { interfaceID = interface } }

  func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection,
    isDamaged: Bool, at now: Instant
  ) {
    guard interface == interfaceID else { return }
    switch direction {
    case .tx:
      local = header.source
      transcript.sent(payload, from: header.source, to: header.destination, at: now)
    case .rx: script.append((now, .datagram(payload.copied, from: header.source)))
    }
  }
}
