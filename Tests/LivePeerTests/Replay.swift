import CallCore
import Codecs
import PeerSession

@testable import LivePeer
@testable import VirtualPeer

/// The socket driver in a world of which every input is scripted.
final class Replay: LiveWorld {
  let transcript = Transcript()
  private(set) var now = Instant.zero
  let addresses: [InterfaceAddress]

  private let script: [(at: Instant, input: Input)]
  private let local: Endpoint
  private var timers: [LoopTimer] = []
  private var receive: ((RawSpan, Path) -> Void)?
  private var connection: LiveConnection!

  private final class Socket: LiveSocket {
    let local: Endpoint
    unowned let world: Replay

    init(local: Endpoint, world: Replay) {
      self.local = local
      self.world = world
    }

    func send(_ datagram: RawSpan, to remote: Endpoint, ecn: ECN) {
      world.transcript.sent(datagram, from: local, to: remote, at: world.now)
    }

    func close() { world.receive = nil }
  }

  init(of call: SimulatedCall) throws {
    script = call.script
    local = call.local ?? Endpoint(.anyIPv4, port: 0)
    addresses = [InterfaceAddress(name: SimulatedCall.name, address: local.address, index: 1)]
    var configuration = LiveConfiguration(session: call.session, random: call.random.scoped("connection/1"))
    var phases = call.random.stream("audio-phase")
    configuration.audioPhase = Interval(nanoseconds: Int64(phases.uniform(below: 10_000_000)))
    connection = LiveConnection(configuration, world: self)
    connection.microphone = .recording(Self.speech(call.random))
    connection.onAudio = { [unowned self] in transcript.heard($0, at: now) }
    connection.onEvent = { [unowned self] event in transcript.event(event, at: now) }
  }

  /// What the simulated microphone says: longer than the call.
  private static func speech(_ random: RandomSource) -> [Int16] {
    var generator = SampleGenerator(.speech, random: random.stream("microphone"))
    let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 48_000 * 5)
    defer { samples.deallocate() }
    for start in stride(from: 0, to: samples.count, by: 960) {
      generator.fill(UnsafeMutableBufferPointer(rebasing: samples[start..<start + 960]))
    }
    return Array(samples)
  }

  func run() {
    var rest = script[...]
    while true {
      let deadline = timers.compactMap(\.deadline).min()
      let next = rest.first?.at
      guard let earliest = [deadline, next].compactMap({ $0 }).min(), earliest <= SimulatedCall.end else { return }
      now = max(now, earliest)
      if let next, next <= deadline ?? next, next <= now {
        perform(rest.removeFirst().input)
      } else {
        fire()
      }
    }
  }

  private func fire() {
    let next = timers.filter { $0.deadline != nil }.min { ($0.deadline ?? now) < ($1.deadline ?? now) }
    next?.fire(ifDueAt: now)
  }

  private func perform(_ input: Input) {
    switch input {
    case .addAudio: _ = try? connection.addTrack()
    case .createOffer:
      guard let offer = try? connection.createOffer() else { return }
      transcript.note("offer \(offer.sdp)", at: now)
      try? connection.setLocalDescription(offer)
    case .createAnswer:
      guard let answer = try? connection.createAnswer() else { return }
      transcript.note("answer \(answer.sdp)", at: now)
      try? connection.setLocalDescription(answer)
    case .remoteDescription(let description): try? connection.setRemoteDescription(description)
    case .candidate(let text, let mid, let index): try? connection.addICECandidate(text, mid: mid, mLineIndex: index)
    case .datagram(let bytes, let remote):
      guard remote != local else { return }
      receive?(bytes.span.bytes, Path(local: local, remote: remote))
    case .statistics: transcript.note("\(connection.statistics())", at: now)
    case .close: connection.close()
    }
  }

  // MARK: LiveWorld

  func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(handler)
    timers.append(timer)
    return timer
  }

  func remove(_ timer: LoopTimer) { timers.removeAll { $0 === timer } }

  func openSocket(
    on address: InterfaceAddress, ports: ClosedRange<UInt16>, receive: @escaping (RawSpan, Path) -> Void
  ) throws(SystemError) -> any LiveSocket {
    self.receive = receive
    return Socket(local: local, world: self)
  }

  func openStream(from address: InterfaceAddress, to remote: Endpoint) -> any ByteStream {
    preconditionFailure("the scripted call has no TURN server")
  }
}
