import CallCore
import Codecs
import DTLS
import PeerSession
import SDP
import SimNet

/// Two call sessions on two hosts of one network, 20 ms apart, and nothing else: no app, no scenario, no judge.
final class SessionCall {
  private let simulator: Simulator
  private let caller: SessionHost
  private let callee: SessionHost

  /// Identities of the two ends, made once: a handshake is measured, not the generation of keys.
  static let certificates = ["a", "b"].map { name in
    Certificate.generate(
      name: name, entropy: .stream(RandomSource(seed: 1).stream(name)), wallClock: WallClock())
  }

  init(seed: UInt64, protection: MediaProtection) throws {
    simulator = Simulator(trace: Trace(), random: RandomSource(seed: seed))
    simulator.tracesPackets = false
    let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("10.0.0.0/24")!])
    let line = LinkSettings(delay: .milliseconds(10))
    var hosts: [SessionHost] = []
    for (index, name) in ["a", "b"].enumerated() {
      let host = try simulator.addHost(name)
      try simulator.attach(host, to: network, link: name, tx: line, rx: line)
      var configuration = SessionConfiguration(certificate: Self.certificates[index], cname: name)
      configuration.media = .synthetic
      configuration.protection = protection
      hosts.append(try SessionHost(simulator: simulator, host: host, configuration: configuration))
    }
    (caller, callee) = (hosts[0], hosts[1])
  }

  /// Offer, answer and candidates change hands at once; then ICE and DTLS run until both ends are connected.
  func connect() throws {
    let now = simulator.now
    let offer = try caller.driver.session.createOffer()
    try caller.driver.session.setLocalDescription(offer, at: now)
    try callee.driver.session.setRemoteDescription(offer, at: now)
    let answer = try callee.driver.session.createAnswer()
    try callee.driver.session.setLocalDescription(answer, at: now)
    try caller.driver.session.setRemoteDescription(answer, at: now)
    caller.driver.drain()
    callee.driver.drain()
    for (from, to) in [(caller, callee), (callee, caller)] {
      for candidate in from.environment.candidates {
        try to.driver.session.addICECandidate(candidate.text, mid: candidate.mid, mLineIndex: candidate.index, at: now)
      }
      to.driver.drain()
    }
    while !isConnected, simulator.now < .zero + .seconds(10), simulator.step() {}
    precondition(isConnected, "the call does not connect")
  }

  private var isConnected: Bool {
    caller.driver.session.connectionState == .connected && callee.driver.session.connectionState == .connected
  }

  /// Both ends talk and listen.
  func talk(for duration: Interval) {
    let before = (caller.environment.packetsReceived, callee.environment.packetsReceived)
    for end in [caller, callee] { end.environment.startAudio() }
    simulator.run(until: simulator.now + duration)
    let wanted = Int(duration.milliseconds / 20) * 9 / 10
    let heard = min(caller.environment.packetsReceived - before.0, callee.environment.packetsReceived - before.1)
    precondition(heard > wanted, "the media does not flow")
  }
}

/// One call session on a simulated host.
private final class SessionHost {
  let environment: HostEnvironment
  let driver: SessionDriver<HostEnvironment>

  init(simulator: Simulator, host: HostID, configuration: SessionConfiguration) throws {
    environment = HostEnvironment(simulator: simulator, host: host)
    driver = SessionDriver(
      configuration: configuration, random: simulator.random.scoped(configuration.cname), environment: environment)
    environment.driver = driver
    let addresses = simulator.interfaces(of: host)[0].addresses
    driver.setAddresses([DeviceAddress(addresses[0], name: "eth0", networkType: "ethernet")])
    try driver.session.addTrack()
    simulator.setDelegate(environment, of: host)
  }
}

/// A simulated host's datagrams, timers and audio.
private final class HostEnvironment: SessionEnvironment, HostDelegate {
  private enum Token { static let session: UInt64 = 0, audio: UInt64 = 1 }
  private static let frame = Interval.milliseconds(20)

  unowned var driver: SessionDriver<HostEnvironment>!
  private(set) var candidates: [(text: String?, mid: String, index: Int)] = []
  private(set) var packetsReceived = 0

  private unowned let simulator: Simulator
  private let host: HostID
  private let speaker = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
  private var timer: (id: TimerID, deadline: Instant)?

  init(simulator: Simulator, host: HostID) {
    self.simulator = simulator
    self.host = host
  }

  deinit { speaker.deallocate() }

  var now: Instant { simulator.now }
  let wallClock = WallClock()

  // MARK: SessionEnvironment

  func openSocket(
    on address: IPAddress, beside base: Endpoint?, receive: @escaping (RawSpan, Path) -> Void
  ) -> (socket: UDPSocket, local: Endpoint)? {
    guard let socket = try? simulator.bind(host, address: address) else { return nil }
    return (socket, simulator.localEndpoint(of: socket))
  }

  func close(_ socket: UDPSocket) { simulator.close(socket) }

  func send(_ datagram: RawSpan, from socket: UDPSocket, on path: Path) {
    simulator.send(datagram, from: socket, to: path.remote, ecn: path.ecn)
  }

  func happened(_ event: SessionEvent) {
    if case .iceCandidate(let text, let mid, let index) = event { candidates.append((text, mid, index)) }
  }

  func observed(_ observation: SessionObservation) {
    if case .mediaReceived = observation { packetsReceived += 1 }
  }

  func settled(_ wake: Wake) {
    guard wake.deadline != timer?.deadline else { return }
    if let timer { simulator.cancel(timer.id) }
    timer = wake.deadline.map { (simulator.schedule(host, at: $0, token: Token.session), $0) }
  }

  // MARK: HostDelegate

  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) { driver.receive(datagram, on: path) }

  func timerFired(_ token: UInt64) {
    guard token == Token.audio else {
      timer = nil
      return driver.advance()
    }
    startAudio()
    driver.sendAudio(AudioLevel(20), duration: Self.frame) { _ in }
    var output = OutputSpan<Int16>(buffer: speaker, initializedCount: 0)
    _ = driver.playAudio(sampleCount: speaker.count, into: &output)
    _ = output.finalize(for: speaker)
  }

  func interfacesChanged() {}

  func startAudio() { _ = simulator.schedule(host, at: now + Self.frame, token: Token.audio) }
}

/// - Returns: calls brought from offer to connected at both ends, per second.
func callSetups(_ count: Int) -> Double {
  do {
    _ = SessionCall.certificates
    let seconds = try cost {
      for seed in 0..<count { try SessionCall(seed: UInt64(seed), protection: .dtlsSRTP).connect() }
    }
    return Double(count) / seconds
  } catch {
    preconditionFailure("\(error)")
  }
}

/// - Returns: seconds of a two-way call with synthetic audio simulated per second.
func syntheticTalk(for duration: Interval, protection: MediaProtection) -> Double {
  do {
    let call = try SessionCall(seed: 1, protection: protection)
    try call.connect()
    return Double(duration.milliseconds) / 1_000 / cost { call.talk(for: duration) }
  } catch {
    preconditionFailure("\(error)")
  }
}
