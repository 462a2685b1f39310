import CallCore
import DTLS
import StackWorlds
import Testing

struct LossTests {
  /// Bit n of the pattern loses datagram n: every subset of the first ten, so every single and pair among them.
  @Test(arguments: 0..<8)
  func `every pattern of losses among the first ten datagrams ends in equal keys`(part: Int) throws {
    for pattern in (part * 128)..<(part * 128 + 128) {
      let call = DTLSPair(seed: UInt64(pattern))
      call.fate = { number, _ in number < 10 && pattern >> number & 1 == 1 ? .lose : .deliver }
      try call.start()
      call.run()
      let connected = call.bothConnected
      #expect(connected && call.keysAgree, "pattern \(String(pattern, radix: 2))")
    }
  }

  @Test func `a lost last server flight is repeated when the client repeats its own`() throws {
    let call = DTLSPair()
    var lost = false
    call.fate = { _, datagram in
      // The server's first ChangeCipherSpec opens its last flight.
      guard !lost, datagram.from == .server, Self.contentTypes(of: datagram.bytes).contains(20) else { return .deliver }
      lost = true
      return .lose
    }
    try call.start()
    call.run(until: .zero + .milliseconds(900))
    let between = [call.client.state, call.server.state]
    #expect(between == [.connecting, .connected])
    call.run()
    let connected = call.bothConnected
    #expect(lost && connected && call.keysAgree)
    let retransmissions = [call.client.statistics.retransmissions, call.server.statistics.retransmissions]
    #expect(retransmissions == [1, 0])
  }

  @Test(arguments: [Side.client, .server])
  func `a repeated flight has as few datagrams as its first transmission`(side: Side) throws {
    let call = DTLSPair()
    // The client's second flight and the server's first have several messages each.
    var first: [Int] = []
    var repeated: [Int] = []
    var begin: Instant?
    call.fate = { _, datagram in
      guard datagram.from == side, datagram.bytes.count > 300 || begin == datagram.sentAt else { return .deliver }
      if begin == nil || begin == datagram.sentAt {
        begin = datagram.sentAt
        first.append(datagram.bytes.count)
        return .lose
      }
      if first.count > 0, repeated.isEmpty || call.sent.last?.sentAt == datagram.sentAt {
        repeated.append(datagram.bytes.count)
      }
      return .deliver
    }
    try call.start()
    call.run()
    let connected = call.bothConnected
    #expect(connected && call.keysAgree && !repeated.isEmpty)
    #expect(repeated.count <= first.count, "\(first) \(repeated)")
  }

  private static func contentTypes(of datagram: [UInt8]) -> [UInt8] {
    var types: [UInt8] = []
    var offset = 0
    while offset + 13 <= datagram.count {
      types.append(datagram[offset])
      offset += 13 + Int(datagram[offset + 11]) << 8 + Int(datagram[offset + 12])
    }
    return types
  }

  @Test func `an unanswered ClientHello is repeated after 1 s and then at doubled intervals up to 60 s`() throws {
    let call = DTLSPair()
    call.fate = { _, _ in .lose }
    try call.startClient()
    call.run()
    let seconds = call.sent.map { $0.sentAt.nanoseconds / 1_000_000 }
    #expect(seconds.prefix(8) == [0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000])
    let failure = call.client.failure
    #expect(failure == .handshakeTimeout)
    #expect(call.sent.count == 13, "the first and twelve repetitions")
  }

  @Test(arguments: [(1, 50), (40, 80), (500, 1_000), (9_000, 3_000)] as [(Int64, Int64)])
  func `the first timer is two round trips between 50 ms and 3 s`(roundTrip: Int64, expected: Int64) throws {
    let call = DTLSPair()
    call.fate = { _, _ in .lose }
    call.client.setRoundTripTime(.milliseconds(roundTrip))
    try call.startClient()
    let first = call.client.wake
    #expect(first == .at(.zero + .milliseconds(expected), reason: DTLSTransport.WakeReason.retransmission.rawValue))
    call.run(until: .zero + .milliseconds(expected * 3))
    #expect(call.sent.map(\.sentAt.nanoseconds) == [0, expected * 1_000_000, expected * 3_000_000])
  }

  @Test func `a wake just before the timer does not fire it early`() throws {
    let call = DTLSPair()
    try call.startClient()
    call.client.advance(to: .zero + .milliseconds(995))
    let garbage: [UInt8] = [1, 2, 3]
    call.client.receive(garbage.span.bytes, on: DTLSPair.clientPath, at: .zero + .milliseconds(996))
    let wake = call.client.wake.deadline
    #expect(wake == .zero + .seconds(1))
  }

  @Test func `every datagram twice changes nothing`() throws {
    let call = DTLSPair()
    call.fate = { _, _ in .duplicate }
    try call.start()
    call.run()
    let connected = call.bothConnected
    #expect(connected && call.keysAgree)
  }

  @Test func `any datagram overtaken by its followers changes nothing`() throws {
    for late in 0..<8 {
      var small = DTLSTransport.Configuration()
      small.maximumDatagramSize = 400
      let call = DTLSPair(client: small, server: small)
      call.fate = { number, _ in number == late ? .delay(.milliseconds(35)) : .deliver }
      try call.start()
      call.run()
      let connected = call.bothConnected
      #expect(connected && call.keysAgree, "late \(late)")
    }
  }

  @Test(arguments: [(0, 256), (256, 256), (400, 400), (700, 700), (9_000, 1_500)])
  func `datagrams keep to the configured size by fragmenting`(configured: Int, most: Int) throws {
    var sized = DTLSTransport.Configuration()
    sized.maximumDatagramSize = configured
    let call = DTLSPair(client: sized, server: sized)
    try call.start()
    call.run()
    let connected = call.bothConnected
    #expect(connected && call.keysAgree)
    let largest = call.sent.map(\.bytes.count).max() ?? 0
    #expect(largest <= most && largest > min(most, 600) * 3 / 4)
  }

  @Test func `a small datagram size survives losses of fragments`() throws {
    var small = DTLSTransport.Configuration()
    small.maximumDatagramSize = 256
    for lost in 0..<16 {
      let call = DTLSPair(client: small, server: small)
      call.fate = { number, _ in number == lost || number == lost + 3 ? .lose : .deliver }
      try call.start()
      call.run()
      let connected = call.bothConnected
      #expect(connected && call.keysAgree, "lost \(lost)")
    }
  }

  @Test func `a ClientHello in fragments is put together in any order`() throws {
    let call = DTLSPair()
    try call.startServer()
    for fragment in Records.fragmented(Records.clientHello, size: 60).reversed() {
      call.inject(fragment, from: .client)
    }
    call.run(until: .zero + .milliseconds(1))
    let answered = call.sent.contains { $0.from == .server && $0.bytes[13] == 2 }
    #expect(answered, "the server must answer with a ServerHello")
  }
}
