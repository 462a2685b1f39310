import CallCore
import DTLS
import StackWorlds
import Testing

struct HostileInputTests {
  @Test func `garbage at any moment never disturbs a handshake`() throws {
    for seed in 0..<20 as Range<UInt64> {
      let call = DTLSPair(seed: seed)
      var random = RandomSource(seed: seed).stream("garbage")
      try call.start()
      for step in 1...30 {
        for side in [Side.client, .server] {
          var bytes = random.bytes(Int(random.uniform(in: 1...200)))
          bytes[0] = UInt8(random.uniform(in: 20...63))
          if random.chance(0.5), bytes.count > 13 {  // well-formed outside, nonsense inside
            bytes = Records.record(type: 23, sequence: random.next(), Array(bytes[13...]))
          }
          call.inject(bytes, from: side)
        }
        call.run(until: .zero + .milliseconds(Int64(step) * 2))
      }
      call.run()
      let connected = call.bothConnected
      #expect(connected && call.keysAgree, "seed \(seed)")
      let malformed = call.server.statistics.malformed
      #expect(malformed > 0)
    }
  }

  @Test func `damaged copies of real datagrams never trap`() throws {
    let clean = DTLSPair()
    try clean.start()
    clean.run()
    var random = RandomSource(seed: 5).stream("damage")
    // A server that was never asked in a whole ClientHello has sent nothing, and so has no timer but this one.
    var patient = DTLSTransport.Configuration()
    patient.handshakeTimeout = .seconds(600)
    for datagram in clean.sent {
      for _ in 0..<40 {
        let call = DTLSPair(client: patient, server: patient)
        try call.start()
        var bytes = datagram.bytes
        for _ in 0..<4 { bytes[Int(random.uniform(below: UInt64(bytes.count)))] = UInt8(random.uniform(below: 256)) }
        bytes.removeLast(Int(random.uniform(below: UInt64(bytes.count))))
        call.inject(bytes, from: datagram.from)
        call.run()
        let states = [call.client.state, call.server.state]
        #expect(states.allSatisfy { [.connected, .failed, .closed].contains($0) })
      }
    }
  }

  @Test func `a ClientHello from elsewhere moves nothing`() throws {
    let call = DTLSPair()
    try call.startServer()
    let elsewhere = Path(local: DTLSPair.serverEndpoint, remote: try #require(Endpoint("203.0.113.66:4000")))
    let hello = Records.clientHello
    call.server.receive(hello.span.bytes, on: elsewhere, at: .zero)
    call.drain()
    #expect(call.sent.isEmpty)
    let offPath = call.server.statistics.offPath
    #expect(offPath == 1)
    try call.startClient()
    call.run()
    let connected = call.bothConnected
    #expect(connected)
  }

  @Test func `a forged alert after the handshake is not believed`() throws {
    let call = DTLSPair()
    try call.start()
    call.run()
    call.inject(Records.record(type: 21, sequence: 900, [2, 40]), from: .client)
    call.inject(Records.record(type: 21, sequence: 1 << 48 | 900, [2, 40]), from: .client)
    call.inject(Records.clientHello, from: .client)
    call.run()
    let state = call.server.state
    #expect(state == .connected)
  }

  @Test(arguments: 0..<40)
  func `an encrypted record of any length that nobody's key made is dropped`(length: Int) throws {
    let call = DTLSPair()
    try call.start()
    call.run()
    let forged = Records.record(type: 23, sequence: 1 << 48 | 900, [UInt8](repeating: 7, count: length))
    call.inject(forged, from: .client)
    call.inject(Records.record(type: 22, sequence: 901, [0]) + forged, from: .client)
    call.run()
    let state = call.server.state
    #expect(state == .connected)
  }

  @Test func `a client of a later version is answered with DTLS 1-2`() throws {
    var hello = Records.clientHello
    hello[25...26] = [0xFE, 0xFC]
    let call = DTLSPair()
    try call.startServer()
    call.inject(hello, from: .client)
    call.run(until: .zero + .milliseconds(1))
    let answer = try #require(call.sent.first?.bytes)
    #expect(answer[13] == 2, "a ServerHello")
    #expect(Array(answer[25...26]) == [0xFE, 0xFD])
  }

  @Test func `a client that knows DTLS 1-0 only is refused`() throws {
    var hello = Records.clientHello
    hello[25...26] = [0xFE, 0xFF]
    let call = DTLSPair()
    try call.startServer()
    call.inject(hello, from: .client)
    call.run()
    let failure = call.server.failure
    #expect(failure == .protocolViolation(.protocolVersion))
  }

  @Test func `DTLS 1-3 records are counted and dropped`() throws {
    let call = DTLSPair()
    try call.startServer()
    call.inject([0x2F] + [UInt8](repeating: 7, count: 60), from: .client)
    call.run(until: .zero + .milliseconds(1))
    let statistics = call.server.statistics
    #expect(statistics.malformed == 1 && statistics.datagramsReceived == 1)
  }
}
