import CallCore
import Codecs

/// The packets that wait for playout, in a ring of reusable slots indexed by sequence number.
struct PacketBuffer: Sendable {
  struct Slot: Sendable {
    fileprivate enum State: Sendable { case empty, waiting, played }

    fileprivate(set) var sequence: Int64 = -1
    fileprivate var state = State.empty
    fileprivate(set) var timestamp: Int64 = 0
    fileprivate(set) var arrival = Instant.zero
    fileprivate(set) var info = AudioPayload(samplesPerChannel: 0, redundantSamples: 0, isDTX: false)
    fileprivate(set) var payload: [UInt8] = []
    /// The index of the decoder.
    fileprivate(set) var format = 0
    /// Whether the payload came as redundancy in a later packet (RFC 2198).
    fileprivate(set) var isRedundant = false
  }

  enum Insertion: Hashable, Sendable { case inserted, duplicate, late, overflow }

  private var slots: [Slot]
  private let mask: Int64
  /// The sequence number after the last removed packet; nil before the first.
  private(set) var expected: Int64?
  private var head: Int64 = 0
  private(set) var highest: Int64 = 0
  private(set) var count = 0

  /// - Parameter capacity: the number of packets, rounded up to a power of two.
  init(capacity: Int) {
    var size = 16
    while size < min(capacity, 4_096) { size *= 2 }
    slots = Array(repeating: Slot(), count: size)
    mask = Int64(size - 1)
  }

  /// The index of the packet with the lowest sequence number.
  var first: Int? { count > 0 ? Int(head & mask) : nil }

  /// The index of the packet with the highest sequence number.
  var last: Int? { count > 0 ? Int(highest & mask) : nil }

  subscript(index: Int) -> Slot { _read { yield slots[index] } }

  /// Returns whether the slot of a packet holds its copy from the redundancy of a later one.
  func isRestored(_ sequence: Int64) -> Bool {
    let slot = slots[Int(sequence & mask)]
    return slot.sequence == sequence && slot.state != .empty && slot.isRedundant
  }

  mutating func insert(
    _ payload: RawSpan, sequence: Int64, timestamp: Int64, info: AudioPayload, format: Int = 0,
    isRedundant: Bool = false, at now: Instant
  ) -> Insertion {
    let index = Int(sequence & mask)
    if slots[index].sequence == sequence, slots[index].state != .empty { return .duplicate }
    if let expected, sequence < expected { return .late }
    let lowest = expected ?? (count > 0 ? min(head, sequence) : sequence)
    let top = count > 0 ? max(highest, sequence) : sequence
    guard top - lowest <= mask else { return .overflow }
    slots[index].sequence = sequence
    slots[index].state = .waiting
    slots[index].timestamp = timestamp
    slots[index].arrival = now
    slots[index].info = info
    slots[index].format = format
    slots[index].isRedundant = isRedundant
    slots[index].payload.removeAll(keepingCapacity: true)
    payload.withUnsafeBytes { slots[index].payload.append(contentsOf: $0) }
    head = count > 0 ? min(head, sequence) : sequence
    highest = top
    count += 1
    return .inserted
  }

  /// Removes the first packet; all packets before it are now late.
  mutating func removeFirst(played: Bool) {
    guard count > 0 else { return }
    slots[Int(head & mask)].state = played ? .played : .empty
    expected = head + 1
    count -= 1
    guard count > 0 else { return }
    repeat { head += 1 } while !isWaiting(head)
  }

  /// Removes everything; the next packet may have any sequence number.
  mutating func reset() {
    for index in slots.indices { slots[index].state = .empty }
    expected = nil
    count = 0
  }

  private func isWaiting(_ sequence: Int64) -> Bool {
    let slot = Int(sequence & mask)
    return slots[slot].state == .waiting && slots[slot].sequence == sequence
  }
}
