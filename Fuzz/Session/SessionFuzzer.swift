import CallCore
import Codecs
import DTLS
import FuzzHarness
import ICE
import PeerSession
import STUN
import Statistics

/// Two whole sessions in a call, and somebody who sends to one of them what he likes, from where he likes: datagrams,
/// checks with the right credentials, media, descriptions and candidates.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSession(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    var input = FuzzInput(input)
    // A call with crypto takes fifty times as long to set up, and without it everything gets past the door.
    let call = Call(isProtected: input.byte() == 0xFF)
    call.run(for: .milliseconds(400))
    for _ in 0..<48 where !input.isEmpty { call.step(&input) }
    call.run(for: .seconds(1))
    return call.sent
  }
}

private let certificate = Certificate.generate(
  name: "fuzz", entropy: .stream(RandomSource(seed: 1).stream("certificate")), wallClock: WallClock())

private final class Side {
  let socket: Endpoint
  let world = World()
  let driver: SessionDriver<World>
  var session: CallSession { driver.session }
  var description = ""

  init(_ name: String, _ socket: Endpoint, isProtected: Bool) {
    self.socket = socket
    var configuration = SessionConfiguration(certificate: certificate, cname: name)
    configuration.media = .synthetic
    configuration.audio.nack = true
    configuration.protection = isProtected ? .dtlsSRTP : .none
    driver = SessionDriver(configuration: configuration, random: RandomSource(seed: 3).scoped(name), environment: world)
    setNetwork("ethernet")
    _ = try? driver.session.addTransceiver(.microphone)
  }

  /// Has an interface of this type, or with nil none.
  func setNetwork(_ type: String?) {
    driver.setAddresses(type.map { [DeviceAddress(socket.address, name: "eth0", networkType: $0)] } ?? [])
  }

  /// The value of an `a=` line of our last description.
  func attribute(_ name: String) -> String {
    let line = description.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=\(name):") }
    return line.map { String($0.dropFirst(name.count + 3)) } ?? ""
  }
}

/// A side's sockets, from which datagrams fly to the other.
private final class World: SessionEnvironment {
  var now = Instant.zero
  let wallClock = WallClock()
  var candidates: [(text: String?, mid: String, index: Int)] = []
  /// What was sent and has not been taken to the wire.
  var sent: [(bytes: [UInt8], path: Path)] = []
  /// Those that are open, with the ones that ICE restarts asked for.
  private var sockets: [Endpoint] = []
  private var nextPort: UInt16 = 10_000

  func owns(_ local: Endpoint) -> Bool { sockets.contains(local) }

  func openSocket(
    on address: IPAddress, beside base: Endpoint?, receive: @escaping (RawSpan, Path) -> Void
  ) -> (socket: Endpoint, local: Endpoint)? {
    if base != nil { nextPort &+= 1 }
    let local = Endpoint(address, port: base == nil ? 5_000 : nextPort)
    sockets.append(local)
    require(sockets.count < 200, "sockets of earlier restarts are never closed")
    return (local, local)
  }

  func close(_ socket: Endpoint) { sockets.removeAll { $0 == socket } }

  func send(_ datagram: RawSpan, from socket: Endpoint, on path: Path) { sent.append((datagram.copied, path)) }

  func happened(_ event: SessionEvent) {
    if case .iceCandidate(let text, let mid, let index) = event { candidates.append((text, mid, index)) }
  }

  func observed(_ observation: SessionObservation) {}
  func settled(_ wake: Wake) {}
}

private final class Call {
  let a: Side
  let b: Side
  var sent = 0
  private var now: Instant {
    get { a.world.now }
    set { (a.world.now, b.world.now) = (newValue, newValue) }
  }
  private var flying: [(at: Instant, bytes: [UInt8], path: Path)] = []
  private var transactions: UInt64 = 0

  init(isProtected: Bool) {
    a = Side("a", Endpoint("192.0.2.1:5000")!, isProtected: isProtected)
    b = Side("b", Endpoint("192.0.2.2:5000")!, isProtected: isProtected)
    negotiate()
  }

  private func negotiate() {
    do {
      let offer = try a.session.createOffer()
      try a.session.setLocalDescription(offer, at: now)
      try b.session.setRemoteDescription(offer, at: now)
      let answer = try b.session.createAnswer()
      try b.session.setLocalDescription(answer, at: now)
      try a.session.setRemoteDescription(answer, at: now)
      (a.description, b.description) = (offer.sdp, answer.sdp)
      drain()
      for (from, to) in [(a, b), (b, a)] {
        for (text, mid, index) in from.world.candidates {
          try to.session.addICECandidate(text, mid: mid, mLineIndex: index, at: now)
        }
      }
    } catch {
      fatalError("two equal sessions do not agree: \(error)")
    }
    drain()
  }

  // MARK: Time

  func run(for duration: Interval) {
    let end = now + duration
    var wakes = 0
    var nextFrame = now
    while now < end {
      var next = min(end, nextFrame)
      for case let due? in [a.session.wake.deadline, b.session.wake.deadline, flying.first?.at] {
        next = min(next, max(now, due))
      }
      now = next
      wakes += 1
      require(wakes < 20_000, "a session never comes to rest")
      while let first = flying.first, first.at <= now {
        flying.removeFirst()
        for side in [a, b] where side.world.owns(first.path.local) {
          side.session.receive(first.bytes.span.bytes, on: first.path, at: now)
        }
        drain()
      }
      if now >= nextFrame {
        nextFrame = nextFrame + .milliseconds(20)
        for side in [a, b] { talk(side) }
      }
      a.session.advance(to: now)
      b.session.advance(to: now)
      drain()
    }
  }

  private func talk(_ side: Side) {
    side.session.sendAudio(AudioLevel(20), duration: .milliseconds(20), at: now)
    let memory = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
    defer { memory.deallocate() }
    var samples = OutputSpan<Int16>(buffer: memory, initializedCount: 0)
    _ = side.session.playAudio(sampleCount: 960, into: &samples, at: now)
    _ = samples.finalize(for: memory)
  }

  private func drain() {
    for side in [a, b] {
      side.driver.drain()
      for (bytes, path) in side.world.sent {
        sent += 1
        flying.append((now + .milliseconds(10), bytes, path.reversed))
      }
      side.world.sent = []
    }
  }

  // MARK: Actions

  func step(_ input: inout FuzzInput) {
    let selector = input.byte()
    let remote = selector & 0x80 == 0 ? a.socket : Endpoint(IPAddress(v4: 0xC633_6401), port: 6_000)
    let path = Path(local: b.socket, remote: remote)
    switch selector & 0x0F {
    case 0: deliver(input.chunk(), path)
    case 1, 2: deliver(check(&input), path)
    case 3, 4: deliver(media(&input), path)
    case 5: deliver(input.chunk(), path)
    case 6: run(for: .milliseconds(Int64(input.byte()) * 10))
    case 7: describe(&input, kind: selector & 0x10 == 0 ? .offer : .answer)
    case 8:
      try? b.session.addICECandidate(
        input.text(), mid: selector & 0x20 == 0 ? "0" : nil, mLineIndex: Int(selector >> 6), at: now)
    case 9: b.session.restartICE()
    case 10: b.setNetwork(nil)
    case 11: b.setNetwork("wifi")
    case 12: if let offer = try? b.session.createOffer() { try? b.session.setLocalDescription(offer, at: now) }
    case 13: try? b.session.setRemoteDescription(SessionDescriptionText(.rollback, sdp: ""), at: now)
    case 14: sent += b.session.statistics(at: now).entries.count
    default: if selector & 0xF0 == 0xF0 { b.driver.close() }
    }
    drain()
  }

  private func deliver(_ bytes: [UInt8], _ path: Path) {
    b.session.receive(bytes.span.bytes, on: path, at: now)
  }

  /// A connectivity check, or an answer to one, of somebody who knows the credentials.
  private func check(_ input: inout FuzzInput) -> [UInt8] {
    let kind = input.byte()
    transactions += 1
    var message = STUNMessageBuilder(
      STUNClass(rawValue: UInt16(kind & 3)) ?? .request, .binding, STUNTransactionID(high: 7, low: transactions))
    if kind & 4 == 0 { message.append(.username, "\(b.attribute("ice-ufrag")):\(a.attribute("ice-ufrag"))") }
    if kind & 8 == 0 { message.append(.priority, 1_862_270_975) }
    if kind & 16 == 0 { message.append(.iceControlling, UInt64(input.byte()) << 56) }
    if kind & 32 == 0 { message.append(.useCandidate) }
    input.appendAttributes(to: &message)
    if kind & 64 == 0 { message.appendIntegrity(key: .shortTerm(password: b.attribute("ice-pwd"))) }
    message.appendFingerprint()
    return message.bytes
  }

  /// An RTP or RTCP packet with a header that is right.
  private func media(_ input: inout FuzzInput) -> [UInt8] {
    let kind = input.byte()
    var bytes: [UInt8] = [0x80 | (kind & 0x3F), kind & 0x40 == 0 ? 111 : input.byte()]
    bytes.append(bigEndian: input.word())
    bytes.append(bigEndian: UInt32(input.word()) << 4)
    bytes.append(bigEndian: UInt32(kind >> 7))
    return bytes + input.chunk()
  }

  /// A description of the other side with a part replaced, or entirely another text.
  private func describe(_ input: inout FuzzInput, kind: SessionDescriptionText.Kind) {
    var text = Array(a.description.utf8)
    let start = Int(input.word()) % (text.count + 1)
    let end = min(text.count, start + Int(input.byte()))
    text.replaceSubrange(start..<end, with: input.chunk())
    let description = SessionDescriptionText(kind, sdp: String(decoding: text, as: UTF8.self))
    guard (try? b.session.setRemoteDescription(description, at: now)) != nil, kind == .offer,
      let answer = try? b.session.createAnswer()
    else { return }
    do {
      try b.session.setLocalDescription(answer, at: now)
    } catch SessionError.invalidDescription {
      // What a session finds out only when it begins to use the description.
    } catch {
      fatalError("our own answer is refused: \(error)")
    }
  }
}
