import CallCore
import STUN
import Testing

@Suite struct BindingServerTests {
  static let client = Endpoint("198.51.100.7:4000")!
  static let primary = Endpoint("203.0.113.1:3478")!
  static let alternate = Endpoint("203.0.113.2:3479")!

  /// Sends one datagram and collects the server's answer.
  static func exchange(
    _ bytes: [UInt8], with server: inout STUNBindingServer, at local: Endpoint = primary, from remote: Endpoint = client
  ) throws -> (message: STUNMessage, path: Path)? {
    try exchange(bytes, with: &server, on: Path(local: local, remote: remote))
  }

  static func exchange(
    _ bytes: [UInt8], with server: inout STUNBindingServer, on path: Path
  ) throws -> (message: STUNMessage, path: Path)? {
    server.receive(bytes.span.bytes, on: path, at: .zero)
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    guard let path = server.transmit(into: &output) else { return nil }
    return (try STUNMessage(parsing: output.span.bytes), path)
  }

  static func request(_ build: (inout STUNMessageBuilder) -> Void = { _ in }) -> [UInt8] {
    var builder = STUNMessageBuilder(.request, .binding, STUNTransactionID(high: 1, low: 2))
    build(&builder)
    return builder.bytes
  }

  @Test(arguments: [client, Endpoint("[2001:db8::9]:7")!])
  func `a request is answered with the source it came from`(remote: Endpoint) throws {
    var server = STUNBindingServer(software: "callsim")
    let answer = try #require(try Self.exchange(Self.request(), with: &server, from: remote))
    #expect(answer.message.messageClass == .successResponse)
    #expect(answer.message.transactionID == STUNTransactionID(high: 1, low: 2))
    #expect(answer.message[.xorMappedAddress] == remote && answer.message[.software] == "callsim")
    #expect(answer.path == Path(local: Self.primary, remote: remote))
    #expect(!answer.message.hasFingerprint && answer.message[.otherAddress] == nil)
  }

  @Test func `a request over a connection is answered over it, and never from elsewhere`() throws {
    var server = STUNBindingServer(
      behaviorDiscovery: .init(primary: Self.primary, alternate: Self.alternate))
    let path = Path(local: Self.primary, remote: Self.client, transport: .tcp)
    let plain = try #require(try Self.exchange(Self.request(), with: &server, on: path))
    #expect(plain.path == path && plain.message[.xorMappedAddress] == Self.client)
    let change = Self.request { $0.append(.changeRequest, .changeIP) }
    let refusal = try #require(try Self.exchange(change, with: &server, on: path))
    #expect(refusal.path == path && refusal.message[.errorCode]?.code == 420)
  }

  @Test func `a fingerprint is answered with a fingerprint`() throws {
    var server = STUNBindingServer()
    let bytes = Self.request { $0.appendFingerprint() }
    let answer = try #require(try Self.exchange(bytes, with: &server))
    #expect(answer.message.hasFingerprint)
  }

  @Test func `an attribute that must be understood and is not gives 420`() throws {
    var server = STUNBindingServer()
    let bytes = Self.request { $0.append(STUNAttribute<[UInt8]>(0x7ABC), [1]) }
    let answer = try #require(try Self.exchange(bytes, with: &server))
    #expect(answer.message[.errorCode]?.code == 420 && answer.message[.unknownAttributes]?.types == [0x7ABC])
  }

  @Test func `indications, responses and rubbish get no answer`() throws {
    var server = STUNBindingServer()
    let indication = STUNMessageBuilder(.indication, .binding, STUNTransactionID(high: 1, low: 1)).bytes
    let response = STUNMessageBuilder(.successResponse, .binding, STUNTransactionID(high: 1, low: 1)).bytes
    for bytes in [indication, response, [1, 2, 3]] {
      let answer = try Self.exchange(bytes, with: &server)
      #expect(answer == nil)
    }
    let counters = server.counters
    #expect(counters.indications == 1 && counters.ignored == 1 && counters.malformed == 1)
  }

  @Test(arguments: [
    (STUNChangeRequest(), "203.0.113.1:3478"), (STUNChangeRequest.changePort, "203.0.113.1:3479"),
    (.changeIP, "203.0.113.2:3478"), (STUNChangeRequest([.changeIP, .changePort]), "203.0.113.2:3479"),
  ])
  func `RFC 5780 - the answer comes from the address and port asked for`(
    change: STUNChangeRequest, origin: String
  ) throws {
    var server = STUNBindingServer(behaviorDiscovery: .init(primary: Self.primary, alternate: Self.alternate))
    let answer = try #require(try Self.exchange(Self.request { $0.append(.changeRequest, change) }, with: &server))
    #expect(answer.path.local == Endpoint(origin)! && answer.message[.responseOrigin] == Endpoint(origin)!)
    #expect(answer.message[.otherAddress] == Self.alternate && answer.message[.mappedAddress] == Self.client)
  }

  @Test func `RFC 5780 - the answer goes to the port asked for and names the one asked from`() throws {
    let bytes = Self.request { $0.append(.responsePort, 9_999) }
    var server = STUNBindingServer(behaviorDiscovery: .init(primary: Self.primary, alternate: Self.alternate))
    let answer = try #require(try Self.exchange(bytes, with: &server))
    #expect(answer.path.remote == Endpoint(Self.client.address, port: 9_999))
    #expect(answer.message[.xorMappedAddress] == Self.client)
    var plain = STUNBindingServer()
    let refusal = try #require(try Self.exchange(bytes, with: &plain))
    #expect(refusal.message[.errorCode]?.code == 420 && refusal.path.remote == Self.client)
  }

  @Test func `a server with one address answers CHANGE-REQUEST with 420`() throws {
    var server = STUNBindingServer()
    let bytes = Self.request { $0.append(.changeRequest, .changePort) }
    let answer = try #require(try Self.exchange(bytes, with: &server))
    #expect(answer.message[.errorCode]?.code == 420 && answer.message[.unknownAttributes]?.types == [0x0003])
  }
}
