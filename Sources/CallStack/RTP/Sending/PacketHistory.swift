internal import CallCore

/// The last packets of a stream that have left, for those that are asked for again: as they were, one behind the other in
/// one ring of memory, bounded by time and bytes.
struct PacketHistory: ~Copyable {
  struct Packet {
    /// Its number, extended over wraps.
    fileprivate let number: Int64
    let header: RTPHeader
    let headerSize: Int
    let byteCount: Int
    let captured: Instant
    fileprivate let sent: Instant
    /// When it was last taken to be sent again.
    fileprivate var repeated: Instant?
    /// Whether it has been taken and not left yet.
    fileprivate var isWaiting = false
    /// Where its bytes begin.
    fileprivate var position: Int

    var payloadSize: Int { byteCount - headerSize }
  }

  /// How long packets are kept at least; three round trips when those are longer.
  let minimumAge: Interval
  private let byteLimit: Int
  private var packets: [Packet] = []
  /// The place of the oldest in `packets`: what lies before it is over.
  private var oldest = 0
  private var unwrapper = SequenceUnwrapper()
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// Where the next packet goes.
  private var end = 0
  private static let firstCapacity = 8_192

  init(minimumAge: Interval = .seconds(1), byteLimit: Int = 2_000_000) {
    self.minimumAge = minimumAge
    self.byteLimit = byteLimit
  }

  deinit { memory.deallocate() }

  var count: Int { packets.count - oldest }

  /// Keeps a packet that leaves, behind those there are.
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

  /// Takes a packet that is asked for again: not one that is over, one that waits to leave, or one that was taken less than
  /// a round trip ago.
  mutating func take(_ sequence: UInt16, roundTrip: Interval?, at now: Instant) -> Packet? {
    guard let index = index(of: sequence), now - packets[index].sent <= age(roundTrip), !packets[index].isWaiting else {
      return nil
    }
    if let last = packets[index].repeated, now - last < roundTrip ?? .zero { return nil }
    packets[index].repeated = now
    packets[index].isWaiting = true
    return packets[index]
  }

  /// Notes that a packet that was taken has left, or never will.
  mutating func release(_ sequence: UInt16) {
    if let index = index(of: sequence) { packets[index].isWaiting = false }
  }

  /// Appends a packet's bytes as they were sent, from one of them on.
  func copy(_ packet: Packet, from first: Int = 0, into output: inout OutputSpan<UInt8>) {
    let range = packet.position + first..<packet.position + packet.byteCount
    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[range]).bytes)
  }

  // MARK: Steps

  private func age(_ roundTrip: Interval?) -> Interval { max(minimumAge, (roundTrip ?? .zero) * 3) }

  private func index(of sequence: UInt16) -> Int? {
    guard count > 0 else { return nil }
    let number = unwrapper.peek(sequence)
    // Numbers leave in order, mostly without a gap.
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

  /// - Returns: where so many bytes may be put, after growing, and when that is at its end after dropping the oldest.
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

  /// Moves to memory twice as large, with the oldest packet at its begin.
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
