import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// A server with two users, and just enough of a client to make it talk.
final class ServerBench {
  static let server = TURNWorld.serverAddress
  static let client = Endpoint("198.51.100.7:5000")!
  static let other = Endpoint("198.51.100.8:5000")!
  static let peer = Endpoint("192.0.2.9:7000")!

  var server: TURNServer
  var now = Instant.zero
  var events: [TURNServer.Event] = []
  var nonce: String?
  var random = RandomStream(seed: 3)
  var sent: [(bytes: [UInt8], path: Path)] = []
  /// How clients come.
  var transport = Path.Transport.udp
  /// Whether a relay's socket can be opened.
  var isPortFree: (Endpoint) -> Bool = { _ in true }

  init(_ configure: (inout TURNServer.Configuration) -> Void = { _ in }) {
    var configuration = TURNServer.Configuration(
      realm: "callsim",
      credentials: TURNCredentialStore(users: [
        .init(username: "alice", password: "secret"), .init(username: "bob", password: "secret"),
      ]),
      relays: [.init(IPAddress("203.0.113.1")!), .init(IPAddress("2001:db8::1")!)], software: "callsim")
    configure(&configuration)
    server = TURNServer(configuration: configuration, random: RandomStream(seed: 4))
  }

  func receive(_ bytes: [UInt8], from client: Endpoint = ServerBench.client, at local: Endpoint = ServerBench.server) {
    server.receive(bytes.span.bytes, on: Path(local: local, remote: client, transport: transport), at: now)
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    sent.removeAll()
    var moved = true
    while moved {
      moved = false
      while let path = server.transmit(into: &output) {
        sent.append((output.span.bytes.copied, path))
        output.removeAll()
      }
      while let event = server.nextEvent() {
        events.append(event)
        guard case .openRelay(let relay, _, _) = event else { continue }
        moved = true
        if isPortFree(relay) { server.relayOpened(relay, at: now) } else { server.relayUnavailable(relay, at: now) }
      }
    }
  }

  func answer() throws -> STUNMessage {
    let last = try #require(sent.last)
    return try STUNMessage(parsing: last.bytes.span.bytes)
  }

  func request(
    _ method: STUNMethod, user: String = "alice", password: String = "secret",
    _ build: (inout STUNMessageBuilder) -> Void = { _ in }
  ) -> [UInt8] {
    var builder = STUNMessageBuilder(.request, method, STUNTransactionID(from: &random))
    build(&builder)
    if let nonce {
      builder.append(.username, user)
      builder.append(.realm, "callsim")
      builder.append(.nonce, nonce)
      builder.appendIntegrity(key: .longTerm(username: user, realm: "callsim", password: password))
    }
    return builder.bytes
  }

  /// Gets a nonce for `client`.
  func challenge(_ client: Endpoint = ServerBench.client) throws {
    nonce = nil
    receive(request(.allocate) { $0.append(.requestedTransport, 17) }, from: client)
    nonce = try answer()[.nonce]
  }

  @discardableResult
  func allocate(
    from client: Endpoint = ServerBench.client, user: String = "alice",
    _ build: (inout STUNMessageBuilder) -> Void = { _ in }
  ) throws -> STUNMessage {
    try challenge(client)
    receive(
      request(.allocate, user: user) {
        $0.append(.requestedTransport, 17)
        build(&$0)
      }, from: client)
    return try answer()
  }

  /// The error code an authenticated request gets, or nil for success.
  func code(
    _ method: STUNMethod, user: String = "alice", password: String = "secret",
    _ build: (inout STUNMessageBuilder) -> Void = { _ in }
  ) throws -> UInt16? {
    receive(request(method, user: user, password: password, build))
    let message = try answer()
    return message.messageClass == .successResponse ? nil : message[.errorCode]?.code
  }
}
