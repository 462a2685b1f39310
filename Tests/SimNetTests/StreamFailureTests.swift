import CallCore
import Testing

@testable import SimNet

struct StreamFailureTests {
  @Test func `a lost SYN is sent again after 1, 2, 4, 8 and 16 s, and the attempt times out at 63 s`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.isCut = true
    pair.run(until: at(63) - .nanoseconds(1))
    let times = pair.sent.map(\.time)
    #expect(times == [0, 1, 3, 7, 15, 31].map(at))
    let early = pair.clientEvents
    #expect(early.isEmpty)
    pair.run(until: at(63))
    let events = pair.clientEvents
    #expect(events == [.stream(stream, .closed(.timedOut))])
    let left = pair.client.count
    #expect(left == 0)
  }

  @Test func `a lost SYN-ACK and a lost handshake acknowledgment are both repaired`() throws {
    for lost in [2, 3] {
      let pair = StreamPair()
      let stream = try pair.connect()
      pair.dropping = { number, _, _ in number == lost }
      pair.run(until: at(2))
      try pair.client.send([9], on: stream, at: pair.now)
      pair.run(until: at(5))
      let received = pair.received
      #expect(received == [9], "segment \(lost) lost")
    }
  }

  @Test func `a closed port refuses`() throws {
    let pair = StreamPair()
    let stream = try pair.client.connect(
      from: StreamPair.clientAddress, to: StreamPair.serverEndpoint, at: .zero)
    pair.run(until: at(1))
    let events = pair.clientEvents
    #expect(events == [.stream(stream, .closed(.refused))])
    let arrival = pair.sent.map(\.header.flags)
    #expect(arrival == [.syn, [.rst, .ack]])
  }

  @Test func `an abort resets the peer`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    pair.client.abort(stream, at: pair.now)
    pair.run(until: at(2))
    #expect(StreamPair.others(pair.serverEvents) == [.closed(.reset)])
    #expect(StreamPair.others(pair.clientEvents) == [.connected, .closed(.aborted)])
    let left = (pair.client.count, pair.server.count)
    #expect(left == (0, 0))
  }

  @Test func `a peer that lost its state resets the writer`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    pair.server.reset()
    try pair.client.send([1], on: stream, at: pair.now)
    pair.run(until: at(2))
    #expect(StreamPair.others(pair.clientEvents) == [.connected, .closed(.reset)])
  }

  @Test func `half-open: the writer learns after the user timeout, the reader never`() throws {
    let pair = StreamPair(configuration: StreamConfiguration(userTimeout: .seconds(30)))
    let stream = try pair.connect()
    pair.run(until: at(1))
    pair.isCut = true
    try pair.client.send([1], on: stream, at: pair.now)
    pair.run(until: at(31) - .nanoseconds(1))
    #expect(StreamPair.others(pair.clientEvents) == [.connected])
    pair.run(until: at(31))
    #expect(StreamPair.others(pair.clientEvents) == [.connected, .closed(.timedOut)])
    pair.run(until: at(100_000))
    #expect(StreamPair.others(pair.serverEvents).isEmpty)
  }

  @Test func `without a user timeout the fifteenth retransmission is the last`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    pair.isCut = true
    let before = pair.sent.count
    try pair.client.send([1], on: stream, at: pair.now)
    pair.run(until: at(10_000))
    let times = pair.sent.dropFirst(before).map(\.time)
    #expect(times.count == 16)
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.first == .milliseconds(200))
    #expect(zip(gaps.dropFirst(), gaps).allSatisfy { $0 == min($1 * 2, .seconds(60)) })
    #expect(gaps.last == .seconds(60))
    #expect(StreamPair.others(pair.clientEvents).last == .closed(.timedOut))
  }

  @Test func `an idle connection has no timer, and with keep-alive it notices that the peer is gone`() throws {
    let idle = StreamPair()
    _ = try idle.connect()
    idle.run(until: at(1))
    let wakes = (idle.client.wake, idle.server.wake)
    #expect(wakes == (.never, .never))
    let probing = StreamConfiguration(keepAlive: .init(idle: .seconds(10), interval: .seconds(5), count: 3))
    let pair = StreamPair(configuration: probing)
    _ = try pair.connect()
    pair.run(until: at(60))
    #expect(StreamPair.others(pair.clientEvents) == [.connected])
    pair.isCut = true
    pair.run(until: at(100))
    #expect(StreamPair.others(pair.clientEvents) == [.connected, .closed(.timedOut)])
  }

  @Test func `an RST outside the expected number is only challenged`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    let found = pair.client.path(of: stream)
    let path = try #require(found)
    let last = try #require(pair.sent.last { $0.toServer })
    let forged = segment(
      TCPHeader(
        path: path, sequence: last.header.sequence + 1_000, acknowledgment: SequenceNumber(0), flags: .rst, window: 0))
    pair.server.receive(forged.span.bytes, on: path.reversed, at: pair.now)
    pair.run(until: at(2))
    #expect(StreamPair.others(pair.serverEvents).isEmpty)
    #expect(pair.sent.last?.header.flags == .ack)
  }

  @Test func `rubbish is counted and answered with nothing or an RST, never a trap`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    let found = pair.client.path(of: stream)
    let path = try #require(found).reversed
    var random = RandomStream(seed: 4)
    for _ in 0..<20_000 {
      let rubbish = random.bytes(Int(random.uniform(below: 64)))
      pair.server.receive(rubbish.span.bytes, on: path, at: pair.now)
      pair.server.receive(
        rubbish.span.bytes, on: Path(local: path.local, remote: Endpoint("192.0.2.9:9")!), at: pair.now)
      if random.chance(0.01) { pair.run(until: pair.now + .seconds(1)) }
    }
    let count = pair.server.malformedCount
    #expect(count > 0)
  }

  @Test func `forged segments near the window neither trap nor set off a storm`() throws {
    for seed in UInt64(1)...8 {
      let pair = StreamPair(seed: seed)
      let stream = try pair.connect()
      pair.run(until: at(1))
      let found = pair.client.path(of: stream)
      let path = try #require(found)
      let last = try #require(pair.sent.last { $0.toServer }).header
      var random = RandomStream(seed: seed)
      let before = pair.sent.count
      for _ in 0..<200 {
        let forged = segment(
          TCPHeader(
            path: path, sequence: last.sequence + Int(random.uniform(in: -3_000...3_000)),
            acknowledgment: last.acknowledgment + Int(random.uniform(in: -3_000...3_000)),
            flags: TCPFlags(rawValue: UInt8(random.uniform(below: 32))),
            window: UInt16(random.uniform(below: 65_536))))
        let payload = random.bytes(Int(random.uniform(below: 40)))
        pair.server.receive((forged + payload).span.bytes, on: path.reversed, at: pair.now)
        pair.settle()
        if random.chance(0.1) { try? pair.client.send(payload, on: stream, at: pair.now) }
        pair.run(until: pair.now + .milliseconds(30))
      }
      pair.run(until: at(4_000))
      #expect(pair.sent.count - before < 2_000)
      let wakes = (pair.client.wake, pair.server.wake)
      #expect(wakes == (.never, .never))
    }
  }

  @Test func `ports in use and full buffers are the caller's mistakes`() throws {
    var table = StreamTable(
      configuration: StreamConfiguration(sendCapacity: 10), random: RandomStream(seed: 1))
    try table.listen(on: 80)
    #expect(throws: StreamError.portInUse) { try table.listen(on: 80) }
    let stream = try table.connect(from: StreamPair.clientAddress, to: StreamPair.serverEndpoint, at: .zero)
    #expect(throws: StreamError.sendBufferFull) { try table.send(pattern(11), on: stream, at: .zero) }
    table.reset()
    #expect(throws: StreamError.closed) { try table.send([1], on: stream, at: .zero) }
  }

  @Test func `both sides may open at once`() throws {
    let path = Path(local: Endpoint("[2001:db8::1]:5000")!, remote: Endpoint("[2001:db8::2]:5000")!)
    var a = StreamConnection(connecting: path, initialSequence: 100, at: .zero)
    var b = StreamConnection(connecting: path.reversed, initialSequence: 900, at: .zero)
    var count = 0
    for _ in 0..<10 {
      let (fromA, fromB) = (transmitted(&a), transmitted(&b))
      count += fromA.count + fromB.count
      for segment in fromA { b.receive(segment.span.bytes, on: path.reversed, at: .zero) }
      for segment in fromB { a.receive(segment.span.bytes, on: path, at: .zero) }
    }
    #expect(a.state == .established && b.state == .established)
    #expect(count <= 8)
  }

  private func segment(_ header: TCPHeader) -> [UInt8] {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)
    defer { memory.deallocate() }
    var buffer = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    header.encode(into: &buffer)
    let bytes = buffer.span.bytes.copied
    _ = buffer.finalize(for: memory)
    return bytes
  }
}
