package import CallCore
package import Codecs
import DTLS
import ICE
package import PeerSession
package import Pictures
package import SDP
package import TURN

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Two sessions in virtual time, and a TURN server when asked for: what one sends arrives `delay` later, unless `drops`
/// says no.
package final class SessionPair {
  package final class Side {
    private let driver: SessionDriver<SessionWorld>
    let world: SessionWorld
    package var session: CallSession { driver.session }
    package var interface: LocalInterface { driver.interfaces[0] }
    /// Which socket is opened when another is needed: the next port, or none.
    package var nextSocket: (Endpoint) -> Endpoint? {
      get { world.nextSocket }
      set { world.nextSocket = newValue }
    }
    /// Those that are open beside the interfaces' own.
    package var furtherSockets: [Endpoint] { world.furtherSockets.map(\.local) }
    /// Those of the device now.
    private var addresses: [DeviceAddress]
    private let isReal: Bool
    /// What was played since the last reset: the loudest 20 ms.
    package var loudest = AudioLevel.silence
    /// The first track, which every side begins with.
    package let microphone: Transceiver.ID
    /// The tone of each track, in Hz; nil means every track.
    package var tones: [(sender: Transceiver.ID?, frequency: Double)] = [(nil, 440)]
    /// What was played since it was last emptied, when media is real.
    package var heard: [Int16] = []
    private var toneSample = 0
    package var events: [SessionEvent] {
      get { world.events }
      set { world.events = newValue }
    }
    package var observations: [SessionObservation] {
      get { world.observations }
      set { world.observations = newValue }
    }
    /// The names that were asked for.
    package var namesAsked: [String] { world.namesAsked }
    package var candidates: [(text: String?, mid: String, index: Int)] {
      get { world.candidates }
      set { world.candidates = newValue }
    }

    package init(_ name: String, address: String, random: RandomSource, adjust: (inout SessionConfiguration) -> Void) {
      let certificate = Certificate.generate(
        name: name, entropy: .stream(random.stream("\(name)/certificate")), wallClock: WallClock())
      var configuration = SessionConfiguration(certificate: certificate, cname: name)
      configuration.media = .synthetic
      adjust(&configuration)
      world = SessionWorld()
      driver = SessionDriver(configuration: configuration, random: random.scoped(name), environment: world)
      addresses = [DeviceAddress(IPAddress(address)!, name: "eth0", networkType: "ethernet")]
      driver.setAddresses(addresses)
      do throws(SessionError) {
        microphone = try driver.session.addTrack()
      } catch {
        preconditionFailure("a new session refused a track: \(error)")
      }
      isReal = configuration.media == .real
    }

    /// The device moves to another address; the old socket is gone.
    package func move(to address: String, networkType: String = "cellular", at now: Instant) {
      addresses = [DeviceAddress(IPAddress(address)!, name: "wwan0", networkType: networkType)]
      driver.setAddresses(addresses)
    }

    /// Another interface comes up.
    package func bringUp(_ address: String, at now: Instant) {
      addresses.append(
        DeviceAddress(IPAddress(address)!, name: "wwan\(addresses.count - 1)", networkType: "cellular"))
      driver.setAddresses(addresses)
    }

    /// The first interface is gone; those that came up stay.
    package func loseFirstInterface(at now: Instant) {
      addresses.removeFirst()
      driver.setAddresses(addresses)
    }

    /// Tells a name instead of the address from now on.
    package func obfuscate(as name: String) {
      var interface = interface
      interface.mdnsName = name
      driver.session.setInterfaces([interface], at: .zero)
    }

    package func drain() { driver.drain() }

    /// The camera, whose pictures are sent on every video track; nil films nothing.
    package var camera: GeneratedVideo?
    /// The pictures of the source in a second; nil for as many as the settings say.
    package var sourceFrameRate: Int?
    private var filmed: UInt32 = 0
    /// The pictures that were shown.
    package var shown: [RenderedVideoFrame] {
      get { world.shown }
      set { world.shown = newValue }
    }

    /// Takes the next picture of the camera.
    func film(at now: Instant) {
      guard let camera else { return }
      let number = filmed
      filmed += 1
      driver.sendVideo(
        VideoInput(contentID: number, size: camera.size, captured: now, frameRate: sourceFrameRate) {
          camera.frame(number, at: now)
        })
    }

    /// How many sockets were asked for beside those of the interfaces.
    package var socketsAsked: Int { world.socketsAsked }
    /// The paths of connections that this side has closed.
    package var streamsClosed: [Path] { world.streamsClosed }

    /// 20 ms of the device's audio, both ways: a 440 Hz tone when media is real.
    package func talk(at now: Instant) {
      if isReal {
        for (sender, frequency) in tones {
          let samples = (0..<960).map { index -> Int16 in
            Int16(8_000 * sin(2 * Double.pi * frequency * Double(toneSample + index) / 48_000))
          }
          session.sendAudio(samples.span, to: sender, at: now)
        }
        toneSample += 960
      } else {
        session.sendAudio(AudioLevel(20), duration: .milliseconds(20), at: now)
      }
      let memory = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
      defer { memory.deallocate() }
      var output = OutputSpan<Int16>(buffer: memory, initializedCount: 0)
      if let level = session.playAudio(sampleCount: 960, into: &output, at: now) { loudest = max(loudest, level) }
      for index in output.span.indices { heard.append(output.span[index]) }
      _ = output.finalize(for: memory)
    }
  }

  package let a: Side
  package private(set) var b: Side
  package var now = Instant.zero
  package var delay = Interval.milliseconds(20)
  /// The delay of a path that differs, as its sender sees the path.
  package var delayOf: (Path) -> Interval? = { _ in nil }
  /// The rate of the link in each direction; nil is without limit. What waits longer than ``queueLimit`` is dropped.
  package var rate: DataRate?
  package var queueLimit = Interval.milliseconds(300)
  /// The time at which the link is free again, for each direction.
  private var linkFree = [Instant.zero, Instant.zero]

  package struct Sent {
    package let time: Instant
    package let fromA: Bool
    package let bytes: [UInt8]
    package let path: Path

    package var isDTLS: Bool { (20...63).contains(bytes.first ?? 0) }
    package var isMedia: Bool { (128...191).contains(bytes.first ?? 0) }
  }

  /// Says whether a datagram of a session is lost.
  package var drops: (Sent) -> Bool = { _ in false }
  /// Says how much longer than others a datagram of a session takes.
  package var holdsUp: (Sent) -> Interval = { _ in .zero }
  package private(set) var sent: [Sent] = []
  /// How often a session wanted to be woken at once again, after all that was due had been done.
  package private(set) var hotWakes = 0
  package var server: TURNServer?
  package var allocationCount: Int { server?.allocationCount ?? 0 }
  /// Whether the server sees clients at addresses other than their own, as behind a NAT.
  package var translates = false
  private var relays: [Endpoint] = []
  private var nextPicture = Instant.zero
  private var flying: [(arrival: Instant, bytes: [UInt8], path: Path)] = []

  package static let turnServer = Endpoint(IPAddress("203.0.113.1")!, port: 3_478)

  /// Another address of the same server.
  package static let otherTurnServer = Endpoint(IPAddress("203.0.113.2")!, port: 3_478)

  /// The same server, for clients that have IPv6 only.
  package static let turnServerIPv6 = Endpoint(IPAddress("2001:db8:53::1")!, port: 3_478)
  private static let turnServers = [turnServer, otherTurnServer, turnServerIPv6]
  package static let turnIPv6 = ICEServer(
    kind: .turn, endpoint: turnServerIPv6, username: "alice", credential: "secret")

  /// What a configuration needs to use the server of ``startServer()``.
  package static let turn = ICEServer(kind: .turn, endpoint: turnServer, username: "alice", credential: "secret")

  package func startServer(adjust: (inout TURNServer.Configuration) -> Void = { _ in }) {
    let alice = TURNCredentials(username: "alice", password: "secret")
    var configuration = TURNServer.Configuration(
      realm: "test", credentials: TURNCredentialStore(users: [alice]), relays: [.init(Self.turnServer.address)])
    adjust(&configuration)
    server = TURNServer(configuration: configuration, random: RandomStream(seed: 77))
  }

  package init(seed: UInt64 = 1, ipv6: Bool = false, adjust: (inout SessionConfiguration) -> Void = { _ in }) {
    let random = RandomSource(seed: seed)
    a = Side("a", address: ipv6 ? "2001:db8::a" : "192.0.2.1", random: random, adjust: adjust)
    b = Side("b", address: ipv6 ? "2001:db8::b" : "192.0.2.2", random: random, adjust: adjust)
    for side in [a, b] { side.world.pair = self }
  }

  /// Puts a device with a certificate and credentials of its own in the place of `b`, at its address.
  package func replaceB(adjust: (inout SessionConfiguration) -> Void = { _ in }) {
    b = Side("b2", address: "192.0.2.2", random: RandomSource(seed: 99), adjust: adjust)
    b.world.pair = self
  }

  /// Ends every connection to the server that a session uses, as an RST to both ends does.
  package func resetStreams() {
    for side in [a, b] {
      for path in side.world.openPaths {
        server?.streamClosed(translated(path.reversed), at: now)
        drainServer()
        side.world.endStream(path)
      }
    }
  }

  /// A path at the server, with the client's address as the server sees it; the same call takes it back.
  private func translated(_ path: Path) -> Path {
    guard translates, path.local == Self.turnServer else { return path }
    var path = path
    path.remote.port ^= 0x4000
    return path
  }

  /// Offer, answer, and every candidate at once.
  package func negotiate() throws { try negotiate(from: a, to: b) }

  package func negotiate(from offerer: Side, to answerer: Side) throws {
    let offer = try offerer.session.createOffer()
    try offerer.session.setLocalDescription(offer, at: now)
    drain(offerer)
    try answer(offer, of: offerer, by: answerer)
    try exchangeCandidates()
  }

  /// ICE restarts with an offer of `offerer`.
  package func restart(from offerer: Side, to answerer: Side) throws {
    offerer.session.restartICE()
    try negotiate(from: offerer, to: answerer)
  }

  /// The second half of a negotiation: an offer that is out is taken and answered, and the answer taken.
  package func answer(_ offer: SessionDescriptionText, of offerer: Side, by answerer: Side) throws {
    try answerer.session.setRemoteDescription(offer, at: now)
    let answer = try answerer.session.createAnswer()
    try answerer.session.setLocalDescription(answer, at: now)
    drain(answerer)
    try offerer.session.setRemoteDescription(answer, at: now)
  }

  package func exchangeCandidates() throws {
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

  /// Runs for `duration`, with both devices' audio at work every 20 ms.
  package func run(for duration: Interval, talking: Bool = true) {
    let end = now + duration
    var nextFrame = now
    let films = a.camera != nil || b.camera != nil
    while true {
      var next = min(end, talking ? nextFrame : end)
      if films { next = min(next, max(now, nextPicture)) }
      let wakes = [a.session.wake.deadline, b.session.wake.deadline, server?.wake.deadline, flying.first?.arrival]
      for case let deadline? in wakes { next = min(next, max(now, deadline)) }
      now = next
      if now >= end { return }
      deliver()
      if talking, now >= nextFrame {
        nextFrame = nextFrame + .milliseconds(20)
        for side in [a, b] {
          side.talk(at: now)
          drain(side)
        }
      }
      if films, now >= nextPicture {
        nextPicture = now + .nanoseconds(33_333_333)
        for side in [a, b] { side.film(at: now) }
      }
      for side in [a, b] {
        side.session.advance(to: now)
        drain(side)
        if let deadline = side.session.wake.deadline, deadline <= now { hotWakes += 1 }
      }
      // A machine that never comes to rest would hang the test instead of failing it.
      if hotWakes > 1_000 { return }
      server?.advance(to: now)
      drainServer()
    }
  }

  private func deliver() {
    while let first = flying.first, first.arrival <= now {
      flying.removeFirst()
      if [a, b].contains(where: { $0.world.take(first.bytes, on: first.path) }) { continue }
      if Self.turnServers.contains(first.path.local) || relays.contains(first.path.local) {
        server?.receive(first.bytes.span.bytes, on: translated(first.path), at: now)
        drainServer()
      }
    }
  }

  package func drain(_ side: Side) { side.drain() }

  /// Puts what a side sends on the wire, and what of it is not lost on its way.
  func carry(_ bytes: [UInt8], on path: Path, of world: SessionWorld) {
    let datagram = Sent(time: now, fromA: world === a.world, bytes: bytes, path: path)
    sent.append(datagram)
    if !drops(datagram), let wait = occupyLink(datagram) { fly(bytes, on: path, after: wait + holdsUp(datagram)) }
  }

  /// Returns the time until a datagram has left; nil when the queue is full.
  private func occupyLink(_ datagram: Sent) -> Interval? {
    guard let rate else { return .zero }
    let direction = datagram.fromA ? 0 : 1
    let start = max(linkFree[direction], now)
    guard start - now <= queueLimit else { return nil }
    linkFree[direction] = start + rate.transmissionTime(byteCount: datagram.bytes.count + 28)
    return linkFree[direction] - now
  }

  private func drainServer() {
    guard server != nil else { return }
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    var moved = true
    while moved {
      moved = false
      while let path = server?.transmit(into: &output) {
        fly(output.span.bytes.copied, on: translated(path))
        output.removeAll()
      }
      while let event = server?.nextEvent() {
        moved = true
        switch event {
        case .openRelay(let relay, _, _):
          relays.append(relay)
          server?.relayOpened(relay, at: now)
        case .closeRelay(let relay, _, _): relays.removeAll { $0 == relay }
        }
      }
    }
    _ = output.finalize(for: memory)
  }

  private func fly(_ bytes: [UInt8], on path: Path, after wait: Interval = .zero) {
    let arrival = now + wait + (delayOf(path) ?? delay)
    let index = flying.firstIndex { $0.arrival > arrival } ?? flying.count
    flying.insert((arrival, bytes, path.reversed), at: index)
  }
}

extension SessionPair.Side {
  package var connectionStates: [ConnectionState] {
    events.compactMap { if case .connectionStateChange(let state) = $0 { state } else { nil } }
  }

  package var mediaReceived: Int { observations.count { if case .mediaReceived = $0 { true } else { false } } }
  package var mediaSent: Int { observations.count { if case .mediaSent = $0 { true } else { false } } }
}
