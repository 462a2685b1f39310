import CallCore
import CallSession
import Codecs
import DTLS
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
    let offer = try caller.session.createOffer()
    try caller.session.setLocalDescription(offer, at: now)
    try callee.session.setRemoteDescription(offer, at: now)
    let answer = try callee.session.createAnswer()
    try callee.session.setLocalDescription(answer, at: now)
    try caller.session.setRemoteDescription(answer, at: now)
    caller.drain()
    callee.drain()
    for (from, to) in [(caller, callee), (callee, caller)] {
      for candidate in from.candidates {
        try to.session.addICECandidate(candidate.text, mid: candidate.mid, mLineIndex: candidate.index, at: now)
      }
      to.drain()
    }
    while !isConnected, simulator.now < .zero + .seconds(10), simulator.step() {}
    precondition(isConnected, "the call does not connect")
  }

  private var isConnected: Bool {
    caller.session.connectionState == .connected && callee.session.connectionState == .connected
  }

  /// Both ends talk and listen.
  func talk(for duration: Interval) {
    let before = (caller.packetsReceived, callee.packetsReceived)
    for end in [caller, callee] { end.startAudio() }
    simulator.run(until: simulator.now + duration)
    let wanted = Int(duration.milliseconds / 20) * 9 / 10
    let heard = min(caller.packetsReceived - before.0, callee.packetsReceived - before.1)
    precondition(heard > wanted, "the media does not flow")
  }
}

/// One call session driven by a host's datagrams and timers.
private final class SessionHost: HostDelegate {
  private enum Token { static let session: UInt64 = 0, audio: UInt64 = 1 }
  private static let frame = Interval.milliseconds(20)

  var session: CallSession
  private(set) var candidates: [(text: String?, mid: String, index: Int)] = []
  private(set) var packetsReceived = 0

  private unowned let simulator: Simulator
  private let host: HostID
  private let socket: UDPSocket
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private let speaker = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
  private var timer: (id: TimerID, deadline: Instant)?

  init(simulator: Simulator, host: HostID, configuration: SessionConfiguration) throws {
    self.simulator = simulator
    self.host = host
    let address = simulator.interfaces(of: host)[0].addresses[0]
    socket = try simulator.bind(host, address: address)
    session = CallSession(
      configuration: configuration, random: simulator.random.scoped(configuration.cname), at: simulator.now)
    let local = simulator.localEndpoint(of: socket)
    session.setInterfaces(
      [LocalInterface(socket: local, name: "eth0", networkType: "ethernet")], at: simulator.now)
    try session.addTrack(.audio)
    simulator.setDelegate(self, of: host)
  }

  deinit {
    buffer.deallocate()
    speaker.deallocate()
  }

  func startAudio() { _ = simulator.schedule(host, at: simulator.now + Self.frame, token: Token.audio) }

  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {
    session.receive(datagram, on: path, at: simulator.now)
    drain()
  }

  func timerFired(_ token: UInt64) {
    if token == Token.audio {
      startAudio()
      session.sendAudio(AudioLevel(20), duration: Self.frame, at: simulator.now)
      var output = OutputSpan<Int16>(buffer: speaker, initializedCount: 0)
      _ = session.playAudio(sampleCount: speaker.count, into: &output, at: simulator.now)
      _ = output.finalize(for: speaker)
    } else {
      timer = nil
      session.advance(to: simulator.now)
    }
    drain()
  }

  func interfacesChanged() {}

  func drain() {
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    let wake = pump(
      &session, buffer: &output,
      send: { datagram, path in simulator.send(datagram, from: socket, to: path.remote, ecn: path.ecn) },
      event: { event in
        switch event {
        case .iceCandidate(let text, let mid, let index): candidates.append((text, mid, index))
        case .mediaReceived: packetsReceived += 1
        default: break
        }
      })
    _ = output.finalize(for: buffer)
    guard wake.deadline != timer?.deadline else { return }
    if let timer { simulator.cancel(timer.id) }
    timer = wake.deadline.map { (simulator.schedule(host, at: $0, token: Token.session), $0) }
  }
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
