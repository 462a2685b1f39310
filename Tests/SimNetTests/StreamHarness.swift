import CallCore
import Testing

@testable import SimNet

/// Two hosts' stream tables back to back in virtual time, with a network between them that may do anything.
final class StreamPair {
  struct Weather {
    var loss = 0.0
    var duplication = 0.0
    /// Every segment takes 20 ms plus up to this much.
    var jitter = Interval.zero
  }

  private struct Flight {
    var arrival: Instant
    var number: Int
    var toServer: Bool
    var path: Path
    var bytes: [UInt8]
  }

  static let clientAddress = Endpoint("10.0.0.1:0")!
  static let serverEndpoint = Endpoint("10.0.0.2:443")!

  var client: StreamTable
  var server: StreamTable
  var weather: Weather
  var isCut = false
  var now = Instant.zero
  var sent: [(time: Instant, toServer: Bool, header: TCPHeader, payload: Int)] = []
  var clientEvents: [StreamTable.Event] = []
  var serverEvents: [StreamTable.Event] = []
  var accepted: StreamID?
  private var flights: [Flight] = []
  private var random: RandomStream
  /// Drops the segments for which it returns true.
  var dropping: (Int, Bool, TCPHeader) -> Bool = { _, _, _ in false }

  init(_ weather: Weather = Weather(), seed: UInt64 = 1, configuration: StreamConfiguration = StreamConfiguration()) {
    self.weather = weather
    client = StreamTable(configuration: configuration, random: RandomStream(seed: seed &* 3))
    server = StreamTable(configuration: configuration, random: RandomStream(seed: seed &* 5))
    random = RandomStream(seed: seed)
  }

  func connect() throws -> StreamID {
    try server.listen(on: Self.serverEndpoint.port)
    return try client.connect(from: Self.clientAddress, to: Self.serverEndpoint, at: now)
  }

  var received: [UInt8] { Self.data(serverEvents) }
  var answered: [UInt8] { Self.data(clientEvents) }

  static func data(_ events: [StreamTable.Event]) -> [UInt8] {
    events.flatMap { event -> [UInt8] in
      if case .stream(_, .data(let bytes)) = event { bytes } else { [] }
    }
  }

  static func others(_ events: [StreamTable.Event]) -> [StreamEvent] {
    events.compactMap {
      guard case .stream(_, let event) = $0 else { return nil }
      if case .data = event { return nil }
      return event
    }
  }

  /// Runs until nothing is left to do or `end` is reached.
  func run(until end: Instant) {
    settle()
    while true {
      let arrival = flights.map(\.arrival).min()
      let timer = Wake.earliest(client.wake, server.wake).deadline
      guard let next = [arrival, timer].compactMap({ $0 }).min(), next <= end else { break }
      now = max(now, next)
      if let index = flights.indices.min(by: {
        (flights[$0].arrival, flights[$0].number) < (flights[$1].arrival, flights[$1].number)
      }),
        flights[index].arrival <= now
      {
        let flight = flights.remove(at: index)
        if flight.toServer {
          server.receive(flight.bytes.span.bytes, on: flight.path.reversed, at: now)
        } else {
          client.receive(flight.bytes.span.bytes, on: flight.path.reversed, at: now)
        }
      } else {
        client.advance(to: now)
        server.advance(to: now)
      }
      settle()
    }
    now = max(now, end)
  }

  func settle() {
    drain(toServer: true)
    drain(toServer: false)
  }

  private func drain(toServer: Bool) {
    var outgoing: [([UInt8], Path)] = []
    var events: [StreamTable.Event] = []
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    var buffer = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    if toServer {
      _ = pump(&client, buffer: &buffer, send: { outgoing.append(($0.copied, $1)) }, event: { events.append($0) })
      clientEvents += events
    } else {
      _ = pump(&server, buffer: &buffer, send: { outgoing.append(($0.copied, $1)) }, event: { events.append($0) })
      serverEvents += events
    }
    buffer.removeAll()
    _ = buffer.finalize(for: memory)
    for case .accepted(let id, _) in events { accepted = id }
    for (bytes, path) in outgoing { carry(bytes, path, toServer: toServer) }
  }

  private func carry(_ bytes: [UInt8], _ path: Path, toServer: Bool) {
    guard let header = TCPHeader(parsing: bytes.span.bytes), let size = TCPHeader.size(of: bytes.span.bytes) else {
      Issue.record("an unreadable segment was sent")
      return
    }
    sent.append((now, toServer, header, bytes.count - size))
    if isCut || random.chance(weather.loss) || dropping(sent.count, toServer, header) { return }
    for _ in 0..<(random.chance(weather.duplication) ? 2 : 1) {
      let delay = Interval.milliseconds(20) + Interval(nanoseconds: random.uniform(in: 0...weather.jitter.nanoseconds))
      flights.append(
        Flight(arrival: now + delay, number: sent.count, toServer: toServer, path: path, bytes: bytes))
    }
  }
}

func pattern(_ count: Int, seed: UInt64 = 5) -> [UInt8] {
  var random = RandomStream(seed: seed)
  return random.bytes(count)
}
