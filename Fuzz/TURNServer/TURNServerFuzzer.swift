import CallCore
import FuzzHarness
import STUN
import TURN

/// Clients with and without credentials, peers, and the passing of time, at one TURN server.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTURNServer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    var world = World()
    var input = FuzzInput(input)
    for _ in 0..<64 where !input.isEmpty { world.step(&input) }
    return Int(truncatingIfNeeded: world.server.counters.requests) + world.server.allocationCount
  }
}

private struct World: ~Copyable {
  static let address = Endpoint("203.0.113.1:3478")!
  static let methods: [STUNMethod] = [.allocate, .refresh, .createPermission, .channelBind, .binding, .send]
  static let key = STUNKey.longTerm(username: "alice", realm: "fuzz", password: "secret")

  var server: TURNServer
  private var now = Instant.zero
  private var nonce = ""
  private var relays: [Endpoint] = []
  private var transactions: UInt64 = 0
  private let output = Datagrams()

  init() {
    let users = TURNCredentialStore(users: [TURNCredentials(username: "alice", password: "secret")])
    server = TURNServer(
      configuration: .init(
        realm: "fuzz", credentials: users, relays: [.init(Self.address.address), .init(IPAddress("2001:db8::1")!)],
        userQuota: 8),
      random: RandomStream(seed: 1))
  }

  mutating func step(_ input: inout FuzzInput) {
    let selector = input.byte()
    let path = Path(
      local: Self.address, remote: Endpoint(IPAddress(v4: 0xC633_6400 | UInt32(selector >> 6)), port: 5_000),
      transport: selector & 0x20 == 0 ? .udp : .tcp)
    switch selector & 7 {
    case 0: deliver(input.chunk(), path)
    case 1, 2, 3: deliver(request(&input), path)
    case 4:
      guard let relay = relays.last else { return }
      deliver(input.chunk(), Path(local: relay, remote: Endpoint(IPAddress(v4: 0x0A00_0001), port: 7)))
    case 5:
      now = now + .seconds(Int64(input.word()))
      server.advance(to: now)
    case 6:
      let payload = input.chunk()
      let length = UInt16(truncatingIfNeeded: payload.count)
      deliver(
        [0x40, input.byte() & 3, UInt8(length >> 8), UInt8(truncatingIfNeeded: length)] + payload, path)
    default:
      if selector & 8 == 0 { server.streamClosed(path, at: now) } else { server.restart(at: now) }
    }
    drain(&input)
  }

  private mutating func request(_ input: inout FuzzInput) -> [UInt8] {
    let kind = input.byte()
    transactions += kind & 0x80 == 0 ? 1 : 0
    var message = STUNMessageBuilder(
      kind & 0x40 == 0 ? .request : .indication, Self.methods[Int(kind & 0x0F) % Self.methods.count],
      STUNTransactionID(high: 0, low: transactions))
    if kind & 0x10 == 0 { message.append(.requestedTransport, 17) }
    input.appendAttributes(to: &message)
    guard kind & 0x20 == 0 else { return message.bytes }
    message.append(.username, "alice")
    message.append(.realm, "fuzz")
    message.append(.nonce, nonce)
    message.appendIntegrity(key: Self.key)
    return message.bytes
  }

  private mutating func deliver(_ bytes: [UInt8], _ path: Path) {
    server.receive(bytes.span.bytes, on: path, at: now)
  }

  private mutating func drain(_ input: inout FuzzInput) {
    repeat {
      for (bytes, path) in output.drain({ server.transmit(into: &$0) }) {
        let message = try? STUNMessage(parsing: bytes.span.bytes)
        if let fresh = message?[.nonce] { nonce = fresh }
        guard path.local == Self.address else { continue }
        let isClassic = isClassicBindingAnswer(bytes.span.bytes)
        require(
          message != nil || isClassic || isChannelData(bytes.span.bytes), "clients get neither STUN nor ChannelData")
      }
    } while takeEvents(&input)
    require(relays.count == server.allocationCount, "allocations and open relays differ")
  }

  /// Opens and closes relays as told; one in eight has a port that is taken.
  private mutating func takeEvents(_ input: inout FuzzInput) -> Bool {
    var isMoved = false
    while let event = server.nextEvent() {
      isMoved = true
      switch event {
      case .openRelay(let relay, _, _):
        relays.append(relay)
        if input.byte() & 7 == 7 {
          server.relayUnavailable(relay, at: now)
        } else {
          server.relayOpened(relay, at: now)
        }
      case .closeRelay(let relay, _, _):
        require(relays.contains(relay), "a relay is closed that was never opened")
        relays.removeAll { $0 == relay }
      }
    }
    return isMoved
  }
}
