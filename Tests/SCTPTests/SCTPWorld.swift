import CallCore
import SCTP

/// A machine with the calls of an association.
protocol PacketMachine: ~Copyable {
  associatedtype Event
  mutating func receive(_ packet: RawSpan, at now: Instant)
  mutating func transmit(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool
  mutating func advance(to now: Instant)
  mutating func nextEvent() -> Event?
  var deadline: Instant? { get }
}

extension SCTPAssociation: PacketMachine {}
extension SCTPTransport: PacketMachine {}

/// One direction of a link.
struct Link {
  var delay = Interval.milliseconds(10)
  /// Bits a second, or nil for no limit.
  var rate: Int64?
  /// The bytes that wait at most for the link.
  var queueLimit = Int.max
  var loss = 0.0
  var duplication = 0.0
  /// The probability that a packet takes up to `reorderDelay` longer.
  var reordering = 0.0
  var reorderDelay = Interval.milliseconds(30)
  var freeAt = Instant.zero
}

enum Side: Int, CaseIterable {
  case left, right
  var other: Side { self == .left ? .right : .left }
}

/// Two machines on a link in virtual time.
final class SCTPWorld<Machine: PacketMachine & ~Copyable> {
  var left: Machine
  var right: Machine
  var now = Instant.zero
  var links = [Link(), Link()]
  /// Packets sent by each side, from the first.
  var sent: [[[UInt8]]] = [[], []]
  var keepsSent = true
  var sentCount = [0, 0]
  var events: [[Machine.Event]] = [[], []]
  /// Returns whether the numbered packet of a side is lost.
  var drops: (Side, Int, [UInt8]) -> Bool = { _, _, _ in false }
  private var random: RandomStream
  private var inFlight: [(arrival: Instant, number: Int, to: Side, bytes: [UInt8])] = []
  private var nextNumber = 0

  init(_ left: consuming Machine, _ right: consuming Machine, seed: UInt64 = 1) {
    self.left = left
    self.right = right
    random = RandomSource(seed: seed).stream("link")
  }

  /// Runs until nothing happens before `end`.
  func run(until end: Instant) {
    drain()
    while let time = nextTime, time <= end { step(to: time) }
    now = max(now, end)
  }

  func run(for interval: Interval) { run(until: now + interval) }

  /// Runs until a condition holds, and returns whether it does.
  func run(within limit: Interval, until condition: () -> Bool) -> Bool {
    let end = now + limit
    drain()
    while !condition() {
      guard let time = nextTime, time <= end else { return false }
      step(to: time)
    }
    return true
  }

  func takeEvents(_ side: Side) -> [Machine.Event] {
    defer { events[side.rawValue] = [] }
    return events[side.rawValue]
  }

  /// Takes the packets that are on their way to a side.
  func takeInFlight(to side: Side) -> [[UInt8]] {
    drain()
    let taken = inFlight.filter { $0.to == side }.map(\.bytes)
    inFlight.removeAll { $0.to == side }
    return taken
  }

  /// Delivers a packet at once.
  func deliver(_ bytes: [UInt8], to side: Side) {
    if side == .left { left.receive(bytes.span.bytes, at: now) } else { right.receive(bytes.span.bytes, at: now) }
    drain()
  }

  private var nextTime: Instant? {
    [inFlight.first?.arrival, left.deadline, right.deadline].compactMap { $0 }.min().map { max($0, now) }
  }

  private func step(to time: Instant) {
    now = max(now, time)
    if let first = inFlight.first, first.arrival <= now {
      inFlight.removeFirst()
      deliver(first.bytes, to: first.to)
      return
    }
    left.advance(to: now)
    right.advance(to: now)
    drain()
  }

  func drain() {
    while true {
      var packets: [[UInt8]] = []
      while let packet = Self.transmit(&left, at: now) { packets.append(packet) }
      for packet in packets { send(packet, from: .left) }
      packets = []
      while let packet = Self.transmit(&right, at: now) { packets.append(packet) }
      for packet in packets { send(packet, from: .right) }
      while let event = left.nextEvent() { events[0].append(event) }
      while let event = right.nextEvent() { events[1].append(event) }
      if packets.isEmpty { return }
    }
  }

  static func transmit(_ machine: inout Machine, at now: Instant) -> [UInt8]? {
    var isWritten = false
    let bytes = [UInt8](unsafeUninitializedCapacity: 1_500) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      isWritten = machine.transmit(into: &output, at: now)
      count = output.finalize(for: buffer)
    }
    return isWritten ? bytes : nil
  }

  private func send(_ bytes: [UInt8], from side: Side) {
    let number = sentCount[side.rawValue]
    sentCount[side.rawValue] += 1
    if keepsSent { sent[side.rawValue].append(bytes) }
    guard !drops(side, number, bytes), !random.chance(links[side.rawValue].loss) else { return }
    var link = links[side.rawValue]
    var departure = max(now, link.freeAt)
    if let rate = link.rate {
      let waiting = (departure - now).nanoseconds / 1_000 * rate / 8_000_000
      guard Int(waiting) + bytes.count <= link.queueLimit else { return }
      departure += .nanoseconds(Int64(bytes.count) * 8_000_000_000 / rate)
      link.freeAt = departure
    }
    links[side.rawValue] = link
    for _ in 0..<(random.chance(link.duplication) ? 2 : 1) {
      var arrival = departure + link.delay
      if random.chance(link.reordering) { arrival += link.reorderDelay.scaled(by: random.unit()) }
      enqueue((arrival, nextNumber, side.other, bytes))
      nextNumber += 1
    }
  }

  private func enqueue(_ packet: (arrival: Instant, number: Int, to: Side, bytes: [UInt8])) {
    var index = inFlight.count
    while index > 0, inFlight[index - 1].arrival > packet.arrival { index -= 1 }
    inFlight.insert(packet, at: index)
  }
}

extension SCTPWorld where Machine == SCTPAssociation {
  static func associations(
    seed: UInt64 = 1, settings: SCTPSettings = SCTPSettings(), rightSettings: SCTPSettings? = nil
  ) -> SCTPWorld {
    let source = RandomSource(seed: seed)
    return SCTPWorld(
      SCTPAssociation(settings: settings, random: source.stream("left")),
      SCTPAssociation(settings: rightSettings ?? settings, random: source.stream("right")), seed: seed)
  }

  /// Opens the association from both sides.
  static func connected(
    seed: UInt64 = 1, settings: SCTPSettings = SCTPSettings(), rightSettings: SCTPSettings? = nil
  ) -> SCTPWorld {
    let world = associations(seed: seed, settings: settings, rightSettings: rightSettings)
    world.left.start(at: .zero)
    world.right.start(at: .zero)
    _ = world.run(within: .seconds(5)) { world.left.state == .established && world.right.state == .established }
    _ = world.takeEvents(.left)
    _ = world.takeEvents(.right)
    return world
  }

  func messages(_ side: Side) -> [SCTPMessage] {
    events[side.rawValue].compactMap { event in
      if case .message(let message) = event { message } else { nil }
    }
  }
}

extension SCTPWorld where Machine == SCTPTransport {
  /// Starts the transports of both sides; the left one is the DTLS client.
  static func transports(
    seed: UInt64 = 1, configuration: SCTPTransport.Configuration = .init(), isStarted: Bool = true
  ) -> SCTPWorld {
    let source = RandomSource(seed: seed)
    let world = SCTPWorld(
      SCTPTransport(configuration: configuration, random: source.stream("left")),
      SCTPTransport(configuration: configuration, random: source.stream("right")), seed: seed)
    if isStarted { world.connect() }
    return world
  }

  func connect() {
    left.start(as: .client, at: now)
    right.start(as: .server, at: now)
    _ = run(within: .seconds(5)) { left.state == .connected && right.state == .connected }
  }

  func messages(_ side: Side) -> [DataChannelMessage] {
    events[side.rawValue].compactMap { event in
      if case .message(_, let message) = event { message } else { nil }
    }
  }
}

/// Bytes that differ by place and number.
func payload(_ count: Int, number: Int = 0) -> [UInt8] {
  var state = UInt32(truncatingIfNeeded: number &* 2_654_435_761) | 1
  return (0..<count).map { _ in
    state = state &* 1_664_525 &+ 1_013_904_223
    return UInt8(truncatingIfNeeded: state >> 24)
  }
}
