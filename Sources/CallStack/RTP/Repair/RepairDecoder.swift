import CallCore

/// Recovers lost packets of one stream from repair packets, and by the recovered ones further packets (libwebrtc
/// `ForwardErrorCorrection`).
///
/// Memory is bounded: it keeps the packets among the last ``windowSize`` numbers, and the last
/// ``pendingLimit`` repair packets that may still recover something.
package struct RepairDecoder: Sendable {
  private struct Pending: Sendable {
    var base: Int64
    /// The packets that are missing.
    var mask: PacketMask
    /// The parity of the missing packets.
    var parity: PacketParity
  }

  /// The number of sequence numbers behind the newest whose packets are kept.
  package static let windowSize = 256
  /// The number of repair packets that wait for packets; libwebrtc keeps as many.
  package static let pendingLimit = 48
  /// The largest packet that is kept or recovered.
  package static let packetLimit = 2_048
  /// The number of sequence numbers beyond the newest that a repair packet may protect.
  private static let reach = Int64(PacketMask.capacity)
  /// The number of recovered packets that wait to be taken.
  private static let recoveredLimit = 256

  package let format: RepairFormat
  /// The SSRC of the protected stream.
  package let ssrc: UInt32
  /// The IDs of header extensions that count as zeros, see ``RepairEncoder/unprotectedExtensions``. They are zeros in
  /// recovered packets.
  package var unprotectedExtensions: [UInt8] = []
  /// The repair packets received.
  package private(set) var repairCount = 0
  /// Those that were malformed, of an unsupported kind, or about another stream.
  package private(set) var refusedCount = 0
  /// Those that repaired nothing, because everything had arrived.
  package private(set) var unusedCount = 0
  /// Those that were dropped because the window or the limit had passed them.
  package private(set) var discardedCount = 0
  /// The recovered packets.
  package private(set) var recoveredCount = 0
  private var packets: [(number: Int64, bytes: [UInt8])?] = []
  private var pending: [Pending] = []
  private var recovered = FIFO<[UInt8]>()
  private var unwrapper = SequenceUnwrapper()
  private var highest: Int64?
  /// The number far from the newest that the last packet had.
  private var jumped: UInt16?

  package init(format: RepairFormat, ssrc: UInt32) {
    (self.format, self.ssrc) = (format, ssrc)
    packets = Array(repeating: nil, count: Self.windowSize)
  }

  /// The bytes that are kept.
  package var memory: Int {
    packets.reduce(0) { $0 + ($1?.bytes.count ?? 0) } + pending.reduce(0) { $0 + $1.parity.bytes.count }
  }

  /// The number of repair packets that wait for packets.
  package var pendingCount: Int { pending.count }

  /// Takes a received media packet, without RED. A retransmission may be given as the original.
  package mutating func receive(media packet: RawSpan) {
    guard let parsed = RTPPacket(parsing: packet), parsed.header.ssrc == ssrc, packet.byteCount <= Self.packetLimit
    else { return }
    guard let number = place(parsed.header.sequenceNumber) else { return }
    guard insert(parsed.copy(of: packet, clearing: unprotectedExtensions), number) else { return }
    settle()
  }

  /// Takes the payload of a repair packet of the stream.
  package mutating func receive(repair payload: RawSpan) {
    repairCount += 1
    guard let repair = RepairPayload(parsing: payload, format: format), repair.ssrc.map({ $0 == ssrc }) ?? true,
      repair.parity.bytes.count <= Self.packetLimit
    else {
      refusedCount += 1
      return
    }
    guard let highest, let first = repair.mask.first, let last = repair.mask.last else {
      // Nothing is known of the stream yet: the repair packet would recover the packets before its beginning.
      discardedCount += 1
      return
    }
    let base = unwrapper.peek(repair.base)
    // The window must hold the packets, and the last ones before the repair packet may be lost.
    guard base + Int64(first) > highest - Int64(Self.windowSize), base + Int64(last) <= highest + Self.reach else {
      discardedCount += 1
      return
    }
    var waiting = Pending(base: base, mask: repair.mask, parity: repair.parity)
    for offset in first...last where waiting.mask.contains(offset) {
      guard let packet = packets[slot(base + Int64(offset))], packet.number == base + Int64(offset) else { continue }
      waiting.parity.add(packet.bytes.span.bytes, isLimited: true)
      waiting.mask.remove(offset)
    }
    guard !waiting.mask.isEmpty else {
      unusedCount += 1
      return
    }
    if pending.contains(where: { $0.base == waiting.base && $0.mask == waiting.mask && $0.parity == waiting.parity }) {
      unusedCount += 1
      return
    }
    if pending.count == Self.pendingLimit {
      pending.removeFirst()
      discardedCount += 1
    }
    pending.append(waiting)
    settle()
  }

  /// Returns the next recovered packet, in the order of recovery.
  package mutating func next() -> [UInt8]? { recovered.popFirst() }

  // MARK: Steps

  private func slot(_ number: Int64) -> Int { Int(number & Int64(Self.windowSize - 1)) }

  /// Returns the extended number of a received packet, or nil when it is too old. A number far away begins the stream
  /// anew if the next packet continues it.
  private mutating func place(_ sequence: UInt16) -> Int64? {
    guard let highest else {
      let number = unwrapper.unwrap(sequence)
      highest = number
      return number
    }
    let number = unwrapper.peek(sequence)
    guard abs(number - highest) > Int64(Self.windowSize) else {
      jumped = nil
      guard number > highest - Int64(Self.windowSize) else { return nil }
      if number > highest { advance(to: number) }
      return number
    }
    defer { jumped = sequence }
    guard let before = jumped, sequence == before &+ 1 else { return nil }
    discardedCount += pending.count
    pending.removeAll(keepingCapacity: true)
    for index in packets.indices { packets[index] = nil }
    unwrapper = SequenceUnwrapper()
    let restarted = unwrapper.unwrap(sequence)
    self.highest = restarted
    return restarted
  }

  private mutating func advance(to number: Int64) {
    highest = number
    _ = unwrapper.unwrap(UInt16(truncatingIfNeeded: number))
    let count = pending.count
    let limit = number - Int64(Self.windowSize)
    pending.removeAll { entry in entry.mask.first.map { entry.base + Int64($0) <= limit } ?? true }
    discardedCount += count - pending.count
  }

  /// Keeps a packet and removes it from the repair packets that wait for it. Returns false for a duplicate.
  private mutating func insert(_ bytes: [UInt8], _ number: Int64) -> Bool {
    guard packets[slot(number)]?.number != number else { return false }
    packets[slot(number)] = (number, bytes)
    for index in pending.indices {
      let offset = number - pending[index].base
      guard offset >= 0, offset < Int64(PacketMask.capacity), pending[index].mask.contains(Int(offset)) else {
        continue
      }
      pending[index].mask.remove(Int(offset))
      pending[index].parity.add(bytes.span.bytes, isLimited: true)
    }
    return true
  }

  /// Recovers packets until no repair packet lacks one packet alone.
  private mutating func settle() {
    while let index = pending.firstIndex(where: { $0.mask.count <= 1 }) {
      let repair = pending.remove(at: index)
      guard let offset = repair.mask.first else {
        unusedCount += 1
        continue
      }
      let number = repair.base + Int64(offset)
      let bytes = repair.parity.packet(sequenceNumber: UInt16(truncatingIfNeeded: number), ssrc: ssrc)
      guard let bytes, bytes.count <= Self.packetLimit, RTPPacket(parsing: bytes.span.bytes) != nil else {
        refusedCount += 1
        continue
      }
      if let highest, number > highest { advance(to: number) }
      guard insert(bytes, number) else { continue }
      recoveredCount += 1
      if recovered.count == Self.recoveredLimit { _ = recovered.popFirst() }
      recovered.append(bytes)
    }
  }
}
