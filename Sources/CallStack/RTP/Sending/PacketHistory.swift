import CallCore

/// The last packets sent, for answering NACKs: a ring of reusable slots.
struct PacketHistory: Sendable {
  private struct Slot {
    var sequence: UInt16 = 0
    var sent: Instant?
    var lastRetransmission: Instant?
    var headerSize = 0
    var bytes: [UInt8] = []
  }

  private var slots: [Slot]
  private let maximumAge: Interval

  /// - Parameter capacity: rounded up to a power of two, so that sequence numbers map to slots across the wrap.
  init(capacity: Int, maximumAge: Interval) {
    var size = 1
    while size < min(capacity, 32_768) { size *= 2 }
    slots = capacity > 0 ? Array(repeating: Slot(), count: size) : []
    self.maximumAge = maximumAge
  }

  var isEnabled: Bool { !slots.isEmpty }

  mutating func insert(_ packet: RawSpan, headerSize: Int, sequence: UInt16, at now: Instant) {
    guard isEnabled else { return }
    let index = Int(sequence) & (slots.count - 1)
    slots[index].sequence = sequence
    slots[index].headerSize = headerSize
    slots[index].sent = now
    slots[index].lastRetransmission = nil
    slots[index].bytes.removeAll(keepingCapacity: true)
    packet.withUnsafeBytes { slots[index].bytes.append(contentsOf: $0) }
  }

  /// Copies the packet into `output` when it is still held and was not already sent again within a round trip.
  ///
  /// - Returns: the bytes written, header and payload, or nil.
  mutating func retransmit(
    _ sequence: UInt16, roundTrip: Interval, into output: inout OutputSpan<UInt8>, at now: Instant
  ) -> (header: Int, payload: Int)? {
    guard isEnabled else { return nil }
    let index = Int(sequence) & (slots.count - 1)
    guard slots[index].sequence == sequence, let sent = slots[index].sent, now - sent <= maximumAge else { return nil }
    if let last = slots[index].lastRetransmission, now - last < roundTrip { return nil }
    let count = slots[index].bytes.count
    guard output.freeCapacity >= count else { return nil }
    let bytes = slots[index].bytes
    output.append(contentsOf: bytes.span.bytes)
    slots[index].lastRetransmission = now
    return (slots[index].headerSize, count - slots[index].headerSize)
  }
}
