import CallCore
import FuzzHarness
import STUN
import TURN

/// A TURN client whose server says anything, signed with the right key or not.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTURNClient(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    var world = World()
    var input = FuzzInput(input)
    world.begin()
    for _ in 0..<64 where !input.isEmpty { world.step(&input) }
    return Int(truncatingIfNeeded: world.client.counters.requests)
  }
}

private struct World: ~Copyable {
  static let server = Endpoint("203.0.113.1:3478")!
  static let key = STUNKey.longTerm(username: "alice", realm: "fuzz", password: "secret")
  static let peer = Endpoint("198.51.100.9:9")!

  var client: TURNClient
  private var now = Instant.zero
  private var requests: [STUNMessage] = []
  private let output = Datagrams()

  init() {
    client = TURNClient(
      configuration: .init(
        server: Self.server, credentials: TURNCredentials(username: "alice", password: "secret")),
      local: Endpoint("198.51.100.7:5000")!, random: RandomStream(seed: 1))
  }

  /// The first request and the challenge that every server answers it with.
  mutating func begin() {
    try? client.allocate(at: now)
    drain()
    guard let request = requests.last else { return }
    var challenge = STUNMessageBuilder(.errorResponse, to: request)
    challenge.append(.errorCode, .unauthenticated)
    challenge.append(.realm, "fuzz")
    challenge.append(.nonce, "nonce")
    deliver(challenge.bytes)
    drain()
  }

  mutating func step(_ input: inout FuzzInput) {
    let selector = input.byte()
    switch selector & 7 {
    case 0: deliver(input.chunk())
    case 1, 2: answer(&input)
    case 3:
      let payload = input.chunk()
      let path = client.path
      _ = client.payload(of: payload.span.bytes, on: path, at: now)
    case 4:
      now = now + .milliseconds(Int64(input.word()) * 20)
      client.advance(to: now)
    case 5:
      let payload = input.chunk()
      try? client.send(payload.span.bytes, to: Self.peer, at: now)
    case 6: try? client.bindChannel(to: Self.peer, at: now)
    default:
      switch selector >> 6 {
      case 0: client.release(at: now)
      case 1: client.connectionLost(at: now)
      case 2: client.renew(at: now)
      default: try? client.allocate(at: now)
      }
    }
    drain()
  }

  /// A response to one of the last requests.
  private mutating func answer(_ input: inout FuzzInput) {
    let kind = input.byte()
    guard !requests.isEmpty else { return }
    let request = requests[requests.count - 1 - Int(kind & 3) % requests.count]
    var message = STUNMessageBuilder(kind & 4 == 0 ? .successResponse : .errorResponse, to: request)
    if kind & 8 == 0 {
      message.append(.xorRelayedAddress, Endpoint("203.0.113.1:50000")!)
      message.append(.xorMappedAddress, Endpoint("198.51.100.7:6000")!)
      message.append(.lifetime, 600)
    }
    input.appendAttributes(to: &message)
    if kind & 16 == 0 { message.appendIntegrity(key: Self.key) }
    deliver(message.bytes)
  }

  private mutating func deliver(_ bytes: [UInt8]) {
    let path = client.path
    client.receive(bytes.span.bytes, on: path, at: now)
  }

  private mutating func drain() {
    for (bytes, _) in output.drain({ client.transmit(into: &$0) }) {
      let message = try? STUNMessage(parsing: bytes.span.bytes)
      require(message != nil || isChannelData(bytes.span.bytes), "the server gets neither STUN nor ChannelData")
      if let message, message.messageClass == .request {
        requests.append(message)
        if requests.count > 4 { requests.removeFirst() }
      }
    }
    while let event = client.nextEvent() {
      if case .data(_, let bytes) = event { observed &+= bytes.count }
    }
  }
}
