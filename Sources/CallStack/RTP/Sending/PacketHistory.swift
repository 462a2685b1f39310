internal import CallCore

/// The last sent packets of a stream, kept for retransmission unchanged in one ring of memory, bounded by time and
/// bytes.
struct PacketHistory: ~Copyable {
  struct Packet {
    /// The sequence number, extended over wraps.
    fileprivate let number: Int64
    let header: RTPHeader
    let headerSize: Int
    let byteCount: Int
    let captured: Instant
    fileprivate let sent: Instant
    /// The time of its last retransmission.
    fileprivate var repeated: Instant?
    /// Whether a retransmission is waiting to be sent.
    fileprivate var isWaiting = false
    /// The offset of its bytes in the ring.
    fileprivate var position: Int

    var payloadSize: Int { byteCount - headerSize }
  }

  /// The minimum time for which packets are kept; three round trips if those are longer.
  let minimumAge: Interval
  private let byteLimit: Int
  private var packets: [Packet] = []
  /// The index of the oldest packet in `packets`; those before it are discarded.
  private var oldest = 0
  private var unwrapper = SequenceUnwrapper()
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The offset of the next packet in the ring.
  private var end = 0
  private static let firstCapacity = 8_192

  init(minimumAge: Interval = .seconds(1), byteLimit: Int = 2_000_000) {
    self.minimumAge = minimumAge
    self.byteLimit = byteLimit
  }

  deinit { memory.deallocate() }

  var count: Int { packets.count - oldest }

  /// Appends a sent packet.
  mutating func insert(
    _ packet: RawSpan, header: RTPHeader, headerSize: Int, captured: Instant, roundTrip: Interval?, at now: Instant
  ) {
    let number = unwrapper.peek(header.sequenceNumber)
    while count > 0, now - packets[oldest].sent > age(roundTrip) { dropOldest() }
    guard packet.byteCount <= byteLimit, count == 0 || number > packets[packets.count - 1].number else { return }
    _ = unwrapper.unwrap(header.sequenceNumber)
    let position = makeRoom(for: packet.byteCount)
    packet.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[position...]).copyMemory(from: $0) }
    end = position + packet.byteCount
    packets.append(
      Packet(
        number: number, header: header, headerSize: headerSize, byteCount: packet.byteCount, captured: captured,
        sent: now, position: position))
  }

  /// Returns a packet for retransmission; nil if it is too old, already waiting to be sent, or was retransmitted less
  /// than a round trip ago.
  mutating func take(_ sequence: UInt16, roundTrip: Interval?, at now: Instant) -> Packet? {
    guard let index = index(of: sequence), now - packets[index].sent <= age(roundTrip), !packets[index].isWaiting else {
      return nil
    }
    if let last = packets[index].repeated, now - last < roundTrip ?? .zero { return nil }
    packets[index].repeated = now
    packets[index].isWaiting = true
    return packets[index]
  }

  /// Notes that a retransmission was sent or dropped.
  mutating func release(_ sequence: UInt16) {
    if let index = index(of: sequence) { packets[index].isWaiting = false }
  }

  /// Appends a packet's bytes as they were sent, from the given offset on.
  func copy(_ packet: Packet, from first: Int = 0, into output: inout OutputSpan<UInt8>) {
    let range = packet.position + first..<packet.position + packet.byteCount
    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[range]).bytes)
  }

  // MARK: Steps

  private func age(_ roundTrip: Interval?) -> Interval { max(minimumAge, (roundTrip ?? .zero) * 3) }

  private func index(of sequence: UInt16) -> Int? {
    guard count > 0 else { return nil }
    let number = unwrapper.peek(sequence)
    // Packets are stored in order, mostly without a gap.
    var (low, high) = (oldest, packets.count)
    let guess = oldest + Int(max(0, min(number - packets[oldest].number, Int64(count - 1))))
    if packets[guess].number == number { return guess }
    while low < high {
      let middle = (low + high) / 2
      if packets[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < packets.count && packets[low].number == number ? low : nil
  }

  private mutating func dropOldest() {
    oldest += 1
    if oldest == packets.count {
      packets.removeAll(keepingCapacity: true)
      (oldest, end) = (0, 0)
    } else if oldest >= 32, oldest * 2 >= packets.count {
      packets.removeFirst(oldest)
      oldest = 0
    }
  }

  /// - Returns: the offset of `size` free bytes, after growing the memory or, at its limit, dropping the oldest
  ///   packets.
  private mutating func makeRoom(for size: Int) -> Int {
    while true {
      guard count > 0 else {
        if size <= memory.count { return 0 }
        grow(beyond: size - 1)
        continue
      }
      let begin = packets[oldest].position
      if end > begin {
        if end + size <= memory.count { return end }
        if size <= begin { return 0 }
      } else if end + size <= begin {
        return end
      }
      if memory.count < byteLimit { grow(beyond: memory.count) } else { dropOldest() }
    }
  }

  /// Moves the packets into memory twice as large, with the oldest at its start.
  private mutating func grow(beyond size: Int) {
    var capacity = max(memory.count, Self.firstCapacity)
    while capacity <= size { capacity *= 2 }
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: min(capacity, byteLimit), alignment: 16)
    packets.removeFirst(oldest)
    oldest = 0
    var position = 0
    for index in packets.indices {
      let range = packets[index].position..<packets[index].position + packets[index].byteCount
      UnsafeMutableRawBufferPointer(rebasing: larger[position...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[range]))
      packets[index].position = position
      position += range.count
    }
    end = position
    memory.deallocate()
    memory = larger
  }
}
