import CallCore
import CallSession
import Codecs
import DTLS
import ICE
import SDP

/// Two sessions back to back in virtual time: what one sends the other receives `delay` later, unless `drops` says no.
final class SessionPair {
  final class Side {
    var session: CallSession
    let interface: LocalInterface
    var events: [SessionEvent] = []
    var candidates: [(text: String?, mid: String, index: Int)] = []
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)

    init(_ name: String, address: String, random: RandomSource, adjust: (inout SessionConfiguration) -> Void) {
      let certificate = Certificate.generate(
        name: name, entropy: .stream(random.stream("\(name)/certificate")), wallClock: WallClock())
      var configuration = SessionConfiguration(certificate: certificate, cname: name)
      configuration.media = .synthetic
      adjust(&configuration)
      session = CallSession(configuration: configuration, random: random.scoped(name), at: .zero)
      interface = LocalInterface(
        socket: Endpoint(IPAddress(address)!, port: 5_000), name: "eth0", networkType: "ethernet")
      session.setInterfaces([interface], at: .zero)
      session.addAudioTransceiver()
    }

    deinit { buffer.deallocate() }
  }

  let a: Side
  let b: Side
  var now = Instant.zero
  var delay = Interval.milliseconds(20)
  /// Says whether a datagram is lost, given whether it goes from a to b, and its bytes.
  var drops: (_ fromA: Bool, _ datagram: [UInt8]) -> Bool = { _, _ in false }
  private(set) var sent: [(time: Instant, fromA: Bool, bytes: [UInt8])] = []
  private var flying: [(arrival: Instant, toB: Bool, bytes: [UInt8], path: Path)] = []

  init(seed: UInt64 = 1, ipv6: Bool = false, adjust: (inout SessionConfiguration) -> Void = { _ in }) {
    let random = RandomSource(seed: seed)
    a = Side("a", address: ipv6 ? "2001:db8::a" : "192.0.2.1", random: random, adjust: adjust)
    b = Side("b", address: ipv6 ? "2001:db8::b" : "192.0.2.2", random: random, adjust: adjust)
  }

  /// Offer, answer, and every candidate at once.
  func negotiate() throws {
    let offer = try a.session.createOffer()
    try a.session.setLocalDescription(offer, at: now)
    drain(a)
    try b.session.setRemoteDescription(offer, at: now)
    let answer = try b.session.createAnswer()
    try b.session.setLocalDescription(answer, at: now)
    drain(b)
    try a.session.setRemoteDescription(answer, at: now)
    try exchangeCandidates()
  }

  func exchangeCandidates() throws {
    drain(a)
    drain(b)
    for (from, to) in [(a, b), (b, a)] {
      for candidate in from.candidates {
        try to.session.addICECandidate(candidate.text, mid: candidate.mid, mLineIndex: candidate.index, at: now)
      }
      from.candidates = []
    }
    drain(a)
    drain(b)
  }

  /// Runs for `duration`, with both microphones at work every 20 ms.
  func run(for duration: Interval, talking: Bool = true) {
    let end = now + duration
    var nextFrame = now
    while true {
      var next = min(end, talking ? nextFrame : end)
      for deadline in [a.session.wake.deadline, b.session.wake.deadline, flying.first?.arrival] {
        if let deadline { next = min(next, max(now, deadline)) }
      }
      now = next
      if now >= end { return }
      if talking, now >= nextFrame {
        nextFrame = nextFrame + .milliseconds(20)
        for side in [a, b] {
          side.session.sendAudio(AudioLevel(20), duration: .milliseconds(20), at: now)
          drain(side)
        }
      }
      deliver()
      for side in [a, b] {
        side.session.advance(to: now)
        drain(side)
      }
    }
  }

  private func deliver() {
    while let first = flying.first, first.arrival <= now {
      flying.removeFirst()
      let side = first.toB ? b : a
      side.session.receive(first.bytes.span.bytes, on: first.path, at: now)
      drain(side)
    }
  }

  func drain(_ side: Side) {
    var output = OutputSpan<UInt8>(buffer: side.buffer, initializedCount: 0)
    let fromA = side === a
    _ = pump(
      &side.session, buffer: &output,
      send: { datagram, path in
        let bytes = datagram.copied
        sent.append((now, fromA, bytes))
        guard !drops(fromA, bytes) else { return }
        flying.append((now + delay, fromA, bytes, path.reversed))
      },
      event: { event in
        if case .iceCandidate(let text, let mid, let index) = event { side.candidates.append((text, mid, index)) }
        side.events.append(event)
      })
    _ = output.finalize(for: side.buffer)
  }
}

extension SessionPair.Side {
  var connectionStates: [ConnectionState] {
    events.compactMap { if case .connectionStateChange(let state) = $0 { state } else { nil } }
  }

  var mediaReceived: Int { events.count { if case .mediaReceived = $0 { true } else { false } } }
  var mediaSent: Int { events.count { if case .mediaSent = $0 { true } else { false } } }
}
