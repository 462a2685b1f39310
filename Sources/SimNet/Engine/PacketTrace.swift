internal import CallCore

/// Writes packet events: the most frequent events of the trace.
struct PacketTrace: ~Copyable {
  let trace: Trace
  /// Whether packets leave events. Without them, consequences of a packet name the cause of its sending.
  var isEnabled = true
  private let sent: TraceKind
  private let delivered: TraceKind
  private let dropped: TraceKind
  private let reasons: [UInt64]
  /// A cache of interned endpoints: a packet must not cost two dictionary look-ups.
  private var known: [(endpoint: Endpoint, word: UInt64)?] = Array(repeating: nil, count: 1_024)

  init(_ trace: Trace) {
    self.trace = trace
    sent = trace.declare(NetworkEvents.packetSent)
    delivered = trace.declare(NetworkEvents.packetDelivered)
    dropped = trace.declare(NetworkEvents.packetDropped)
    reasons = DropReason.allCases.map { $0.rawValue.word(in: trace) }
  }

  /// - Returns: the event that causes the packet's delivery or drop.
  mutating func sent(_ flight: borrowing Flight, by subject: TraceSubject) -> EventNumber {
    guard isEnabled else { return trace.cause }
    return write(sent, subject, cause: trace.cause, flight)
  }

  mutating func delivered(_ flight: borrowing Flight, to subject: TraceSubject) -> EventNumber {
    guard isEnabled else { return flight.cause }
    return write(delivered, subject, cause: flight.cause, flight)
  }

  mutating func dropped(_ flight: borrowing Flight, _ reason: DropReason, by subject: TraceSubject) {
    guard isEnabled else { return }
    var words = InlineArray<6, UInt64>(repeating: 0)
    words[0] = reasons[reason.index]
    words[1] = flight.number
    words[2] = word(for: flight.header.source)
    words[3] = word(for: flight.header.destination)
    words[4] = UInt64(flight.byteCount)
    trace.write(dropped, subject, cause: flight.cause, fieldCount: 5, words)
  }

  private mutating func write(
    _ kind: TraceKind, _ subject: TraceSubject, cause: EventNumber, _ flight: borrowing Flight
  ) -> EventNumber {
    var words = InlineArray<6, UInt64>(repeating: 0)
    words[0] = flight.number
    words[1] = word(for: flight.header.source)
    words[2] = word(for: flight.header.destination)
    words[3] = UInt64(flight.byteCount)
    return trace.write(kind, subject, cause: cause, fieldCount: 4, words)
  }

  private mutating func word(for endpoint: Endpoint) -> UInt64 {
    let slot = Int((endpoint.quickHash >> 32) & 1_023)
    if let entry = known[slot], entry.endpoint == endpoint { return entry.word }
    let word = trace.word(for: endpoint)
    known[slot] = (endpoint, word)
    return word
  }
}

extension DropReason {
  /// The position in ``allCases``.
  var index: Int {
    switch self {
    case .loss: 0
    case .queue: 1
    case .natFilter: 2
    case .natNoMapping: 3
    case .natPortsExhausted: 4
    case .mtu: 5
    case .linkDown: 6
    case .blackhole: 7
    case .firewall: 8
    case .noRoute: 9
    case .noSocket: 10
    case .corrupt: 11
    case .rule: 12
    case .natHairpin: 13
    case .isolated: 14
    case .suspended: 15
    }
  }
}
