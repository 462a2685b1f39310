import CallCore
import SCTP
import Testing

@Suite struct HostileInputTests {
  typealias World = SCTPWorld<SCTPTransport>

  /// Sends a packet and drains what it causes.
  private func feed(_ bytes: [UInt8], to world: World) {
    world.left.receive(bytes.span.bytes, at: world.now)
    world.drain()
    world.events = [[], []]
    world.sent = [[], []]
  }

  /// Repairs the checksum, so that the packet is read further.
  private func sealed(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 12 else { return bytes }
    var bytes = bytes
    bytes.replaceSubrange(8..<12, with: [0, 0, 0, 0])
    let checksum = CRC32C.checksum(of: bytes.span.bytes)
    for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
    return bytes
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func `random bytes behind a right header do no harm`(seed: UInt64) {
    let world = World.transports(seed: seed)
    let header = world.sent[1].last.map { Array($0[..<8]) } ?? []
    var random = RandomSource(seed: seed).stream("bytes")
    for _ in 0..<500 {
      var body = random.bytes(Int(random.uniform(below: 200)))
      // A known type, and a length that fits.
      if body.count >= 4 {
        let type = SCTPChunkType.allCases[Int(random.uniform(below: UInt64(SCTPChunkType.allCases.count)))]
        if type == .abort { continue }
        body[0] = type.rawValue
        body[2] = 0
        body[3] = UInt8(random.uniform(below: UInt64(body.count) + 1))
      }
      feed(sealed(header + [0, 0, 0, 0] + body), to: world)
      if random.chance(0.1) { world.run(for: .milliseconds(200)) }
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>) func `changed packets of a real exchange do no harm`(
    seed: UInt64
  ) throws {
    let world = World.transports(seed: seed)
    world.links[0].loss = 0.1
    world.links[1].loss = 0.1
    var random = RandomSource(seed: seed).stream("bytes")
    let ids = try (0..<3).map { number in
      try world.left.open(DataChannelParameters(isOrdered: number > 0, maximumRetransmits: 0), at: world.now)
    }
    for round in 0..<60 {
      for id in ids where world.left.state(of: id) == .open {
        try? world.left.send(.binary(payload(3_000, number: round)), on: id, at: world.now)
      }
      if round % 10 == 9, let id = world.right.channelIDs.first { world.right.close(id, at: world.now) }
      world.run(for: .milliseconds(30))
      let packets = world.sent[1]
      for packet in packets.suffix(8) {
        var changed = packet
        for _ in 0...random.uniform(below: 4) {
          let index = Int(random.uniform(below: UInt64(changed.count)))
          switch random.uniform(below: 4) {
          case 0: changed[index] = UInt8(truncatingIfNeeded: random.next())
          case 1: changed[index] ^= 1 << UInt8(random.uniform(below: 8))
          case 2: changed.remove(at: index)
          default: changed.insert([0, 0xFF, 0x7F, 0x80][Int(random.uniform(below: 4))], at: index)
          }
          if changed.count < 13 { break }
        }
        // Ports and tag of the original.
        changed.replaceSubrange(..<min(8, changed.count), with: packet[..<8])
        feed(sealed(changed), to: world)
      }
    }
    world.run(for: .seconds(10))
  }

  @Test func `SACKs of what was never sent are ignored`() throws {
    let world = SCTPWorld<SCTPAssociation>.connected()
    let peerTag = tag(of: world.sent[1].last ?? [])
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(20_000)), at: world.now)
    _ = world.takeInFlight(to: .right)
    let before = world.left.statistics
    #expect(before.unackData > 0)
    for tsn in stride(from: UInt32(0), to: .max - 70_000_000, by: 70_000_001) {
      let sack = SACKChunk(cumulativeTSN: tsn, receiverWindow: 1, gapBlocks: [.init(start: 1, end: .max)])
      world.deliver(packet(tag: peerTag, [.sack(sack)]), to: .left)
    }
    // Nothing was acknowledged; each packet lets more leave, up to the window.
    #expect(world.left.statistics.unackData == 10)
  }

  @Test func `gap blocks out of order, upside down and beyond everything do no harm`() throws {
    let world = SCTPWorld<SCTPAssociation>.connected()
    let peerTag = tag(of: world.sent[1].last ?? [])
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(20_000)), at: world.now)
    let data = world.takeInFlight(to: .right).flatMap { chunks(of: $0) }
    guard case .data(let first)? = data.first(where: { if case .data = $0 { true } else { false } }) else {
      Issue.record("no data")
      return
    }
    let blocks: [SACKChunk.GapBlock] = [
      .init(start: 9, end: 60_000), .init(start: 3, end: 2), .init(start: 0, end: 1), .init(start: 2, end: 2),
      .init(start: 2, end: 4),
    ]
    for _ in 0..<10 {
      let sack = SACKChunk(cumulativeTSN: first.tsn &- 1, receiverWindow: 100_000, gapBlocks: blocks)
      world.deliver(packet(tag: peerTag, [.sack(sack)]), to: .left)
    }
    // The chunks before and between the blocks are missing, and are sent again.
    #expect(world.left.statistics.retransmittedPackets > 0)
    world.run(for: .seconds(20))
    #expect(world.left.state == .established)
  }

  @Test func `fragments that are never completed take bounded memory`() {
    var settings = SCTPSettings()
    settings.receiveBuffer = 100_000
    let world = SCTPWorld<SCTPAssociation>.connected(settings: settings)
    world.keepsSent = false
    let peerTag = tag(of: world.sent[1].last ?? [])
    guard case .initiation(let initiation)? = world.sent[1].flatMap({ chunks(of: $0) }).first else {
      Issue.record("no INIT")
      return
    }
    var accepted = 0
    for number in 0..<20_000 as Range<UInt32> {
      // One byte of a message that has no end, in many streams.
      let chunk = DataChunk(
        flags: .beginning, tsn: initiation.initialTSN &+ number, stream: UInt16(number % 1_000), ssn: 1, ppid: 53,
        payload: [1])
      world.deliver(packet(tag: peerTag, [.data(chunk)]), to: .left)
      if world.left.state == .ended { break }
      accepted += 1
    }
    // 65 bytes each.
    #expect(accepted == 1_539)
    #expect(world.events[0] == [.closed(.failed(.outOfResource))])
  }

  @Test func `many requests in one packet get a bounded number of answers`() {
    let world = SCTPWorld<SCTPAssociation>.connected()
    let peerTag = tag(of: world.sent[1].last ?? [])
    world.sent = [[], []]
    let heartbeats = [SCTPChunk](repeating: .heartbeat([0, 1, 0, 4]), count: 1_000)
    world.deliver(packet(tag: peerTag, heartbeats), to: .left)
    #expect(world.sent[0].flatMap { chunks(of: $0) }.count == 64)
    #expect(world.left.counters.droppedAnswers == 936)
  }

  @Test func `the largest chunks and larger packets do no harm`() {
    let world = SCTPWorld<SCTPAssociation>.connected()
    let peerTag = tag(of: world.sent[1].last ?? [])
    for size in [65_520, 65_532] {
      let header = [0xFF, 0, UInt8(size >> 8), UInt8(size & 0xFF)] as [UInt8]
      let chunk = header + [UInt8](repeating: 0, count: size - 4)
      world.deliver(packet(tag: peerTag, [.unknown(type: 0xFF, bytes: chunk)]), to: .left)
    }
    #expect(world.left.counters.unknownChunks == 1)
    #expect(world.left.counters.malformed == 1)
    // Its report fits no packet.
    #expect(world.left.counters.droppedAnswers == 1)
  }

  @Test func `TSNs far ahead are refused`() {
    let world = SCTPWorld<SCTPAssociation>.connected()
    let peerTag = tag(of: world.sent[1].last ?? [])
    guard case .initiation(let initiation)? = world.sent[1].flatMap({ chunks(of: $0) }).first else {
      Issue.record("no INIT")
      return
    }
    for ahead in [65_535, 1_000_000, 0x7FFF_FFFE] as [UInt32] {
      let chunk = DataChunk(
        flags: [.beginning, .end], tsn: initiation.initialTSN &+ ahead, stream: 0, ssn: 0, ppid: 53, payload: [1])
      world.deliver(packet(tag: peerTag, [.data(chunk)]), to: .left)
      world.deliver(
        packet(tag: peerTag, [.forwardTSN(ForwardTSNChunk(newCumulativeTSN: initiation.initialTSN &+ ahead))]),
        to: .left)
    }
    #expect(world.left.counters.refusedData == 6)
  }

  @Test func `DATA without payload and of a stream beyond the limit are refused`() {
    var settings = SCTPSettings()
    settings.inboundStreams = 10
    let world = SCTPWorld<SCTPAssociation>.connected(settings: settings)
    let peerTag = tag(of: world.sent[1].last ?? [])
    guard case .initiation(let initiation)? = world.sent[1].flatMap({ chunks(of: $0) }).first else {
      Issue.record("no INIT")
      return
    }
    world.sent = [[], []]
    var chunk = DataChunk(
      flags: [.beginning, .end], tsn: initiation.initialTSN, stream: 10, ssn: 0, ppid: 53, payload: [1])
    world.deliver(packet(tag: peerTag, [.data(chunk)]), to: .left)
    let answers = world.sent[0].flatMap { chunks(of: $0) }
    #expect(answers.contains(.error([SCTPErrorCause(.invalidStreamIdentifier, information: [0, 10, 0, 0])])))
    #expect(world.events[0].isEmpty)
    chunk.payload = []
    world.deliver(packet(tag: peerTag, [.data(chunk)]), to: .left)
    #expect(world.events[0] == [.closed(.failed(.noUserData))])
  }

  @Test func `an unknown chunk is reported, skipped or ends the packet by its type`() {
    let world = SCTPWorld<SCTPAssociation>.connected()
    let peerTag = tag(of: world.sent[1].last ?? [])
    func answers(_ type: UInt8) -> [SCTPChunk] {
      world.sent = [[], []]
      world.deliver(
        packet(tag: peerTag, [.unknown(type: type, bytes: [type, 0, 0, 4]), .heartbeat([0, 1, 0, 4])]), to: .left)
      return world.sent[0].flatMap { chunks(of: $0) }
    }
    let report = { (type: UInt8) in
      SCTPChunk.error([SCTPErrorCause(.unrecognizedChunkType, information: [type, 0, 0, 4])])
    }
    #expect(answers(0x3F) == [])
    #expect(answers(0x7F) == [report(0x7F)])
    #expect(answers(0xBF) == [.heartbeatAck([0, 1, 0, 4])])
    #expect(answers(0xFF) == [report(0xFF), .heartbeatAck([0, 1, 0, 4])])
  }
}
