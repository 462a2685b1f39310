import CallCore
import Testing

@testable import SimNet

struct StreamTransferTests {
  @Test(arguments: [0.0, 0.05, 0.15, 0.3], [UInt64(1), 2, 3])
  func `bytes arrive exactly, both ways, whatever the network does`(_ loss: Double, _ seed: UInt64) throws {
    let pair = StreamPair(
      StreamPair.Weather(loss: loss, duplication: 0.1, jitter: .milliseconds(30)), seed: seed)
    let stream = try pair.connect()
    let request = pattern(150_000, seed: seed)
    let answer = pattern(70_000, seed: seed + 9)
    try pair.client.send(request, on: stream, at: .zero)
    pair.run(until: at(120))
    let accepted = try #require(pair.accepted)
    try pair.server.send(answer, on: accepted, at: pair.now)
    pair.server.close(accepted, at: pair.now)
    pair.client.close(stream, at: pair.now)
    pair.run(until: at(1_200))
    let isExact = pair.received == request && pair.answered == answer
    #expect(isExact)
    let left = (pair.client.count, pair.server.count)
    #expect(left == (0, 0))
    let ends = (pair.clientEvents.last, pair.serverEvents.last)
    #expect(ends.0 == .stream(stream, .closed(.normal)))
    #expect(ends.1 == .stream(accepted, .closed(.normal)))
  }

  @Test func `a handshake takes three segments and data follows at once`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    try pair.client.send([1, 2, 3], on: stream, at: .zero)
    pair.run(until: at(1))
    let flags = pair.sent.prefix(3).map(\.header.flags)
    #expect(flags == [.syn, [.syn, .ack], [.ack, .psh]])
    let received = pair.received
    #expect(received == [1, 2, 3])
  }

  @Test func `a lost segment is repaired by the third duplicate acknowledgment, before the timeout`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    let before = pair.sent.count
    pair.dropping = { number, toServer, _ in toServer && number == before + 2 }
    try pair.client.send(pattern(12_000), on: stream, at: pair.now)
    pair.run(until: at(1) + .milliseconds(150))
    let received = pair.received
    #expect(received == pattern(12_000))
  }

  @Test func `a lone segment's acknowledgment waits 40 ms`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    try pair.client.send([1], on: stream, at: pair.now)
    pair.run(until: at(2))
    let acknowledgment = try #require(pair.sent.last)
    #expect(acknowledgment.time == at(1) + .milliseconds(60))
    #expect(acknowledgment.header.flags == .ack && !acknowledgment.toServer)
  }

  @Test func `the first flight is ten segments and the next twice as many`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    try pair.client.send(pattern(60_000), on: stream, at: pair.now)
    pair.run(until: at(3))
    let data = pair.sent.filter { $0.toServer && $0.payload > 0 }
    let first = data.filter { $0.time == at(1) }
    let second = data.filter { $0.time > at(1) && $0.time <= at(1) + .milliseconds(40) }
    #expect(first.count == 10)
    #expect((15...20).contains(second.count))
    #expect(data.allSatisfy { $0.payload <= 1_200 })
  }

  @Test func `a reader that stops shuts the window, and the writer probes until it opens`() throws {
    let pair = StreamPair(configuration: StreamConfiguration(receiveCapacity: 5_000))
    let stream = try pair.connect()
    pair.run(until: at(1))
    let accepted = try #require(pair.accepted)
    pair.server.setReading(false, on: accepted, at: pair.now)
    try pair.client.send(pattern(20_000), on: stream, at: pair.now)
    pair.run(until: at(30))
    let shut = try #require(pair.sent.last { !$0.toServer })
    #expect(shut.header.window == 0)
    let probes = pair.sent.filter { $0.toServer && $0.payload == 1 && $0.time > at(2) }
    #expect(probes.count >= 4)
    let nothing = pair.received
    #expect(nothing.isEmpty)
    // Even the announcement that the window is open again may get lost.
    pair.isCut = true
    pair.server.setReading(true, on: accepted, at: pair.now)
    pair.settle()
    pair.isCut = false
    pair.run(until: at(200))
    let received = pair.received
    #expect(received == pattern(20_000))
  }

  @Test func `one side may close and go on receiving`() throws {
    let pair = StreamPair()
    let stream = try pair.connect()
    pair.run(until: at(1))
    pair.client.close(stream, at: pair.now)
    pair.run(until: at(2))
    let accepted = try #require(pair.accepted)
    #expect(StreamPair.others(pair.serverEvents) == [.peerClosed])
    try pair.server.send([7], on: accepted, at: pair.now)
    pair.run(until: at(3))
    let answered = pair.answered
    #expect(answered == [7])
    #expect(throws: StreamError.closed) { try pair.client.send([1], on: stream, at: at(2)) }
  }

  @Test func `sequence numbers wrap without notice`() throws {
    let path = Path(local: Endpoint("10.0.0.1:1")!, remote: Endpoint("10.0.0.2:2")!)
    var connection = StreamConnection(connecting: path, initialSequence: .max - 5, at: .zero)
    let syn = try #require(transmitted(&connection).first)
    let accepted = StreamConnection(
      accepting: syn.span.bytes, path: path.reversed, initialSequence: .max - 1, at: .zero)
    var peer = try #require(accepted)
    try connection.send(pattern(5_000), at: .zero)
    var bytes: [UInt8] = []
    for _ in 0..<20 {
      for segment in transmitted(&peer) { connection.receive(segment.span.bytes, on: path, at: .zero) }
      for segment in transmitted(&connection) { peer.receive(segment.span.bytes, on: path.reversed, at: .zero) }
      while let event = peer.nextEvent() { if case .data(let more) = event { bytes += more } }
    }
    let isExact = bytes == pattern(5_000)
    #expect(isExact)
  }
}

/// Everything a connection wants to send now.
func transmitted(_ connection: inout StreamConnection) -> [[UInt8]] {
  let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  defer { memory.deallocate() }
  var all: [[UInt8]] = []
  var buffer = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
  while connection.transmit(into: &buffer) != nil {
    all.append(buffer.span.bytes.copied)
    buffer.removeAll()
  }
  _ = buffer.finalize(for: memory)
  return all
}
