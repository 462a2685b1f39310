import CallCore

/// Cuts a frame of AV1 into payloads (AV1 RTP specification sections 4 and 5).
///
/// Units share packets, and the size field is left out of each. Temporal delimiters, tile lists and padding do not
/// travel. Packets are filled; the last two of a frame share what is left evenly.
package struct AV1Packetizer: Sendable {
  private struct Packet: Sendable {
    /// The index of the first unit, and the bytes of it that earlier packets took.
    var unit: Int
    var skipped: Int
    var elements = 0
    /// The bytes of the last unit in the packet.
    var lastBytes = 0
    var size = 1
  }

  private var units: [AV1OBU] = []
  private var packets: [Packet] = []
  private var next = 0
  private var beginsSequence = false
  /// The number of packets of the prepared frame.
  package var packetCount: Int { packets.count }
  /// The number of elements in a packet that leaves out the size of the last one.
  private static let countedElements = 3

  package init() {}

  /// Prepares a frame, a temporal unit or the units of one frame in it. Returns false when it has no unit, a malformed
  /// one, or a packet has no room.
  ///
  /// - Parameter isKeyFrame: whether the frame begins a coded video sequence (N).
  package mutating func begin(_ frame: RawSpan, isKeyFrame: Bool, limits: PayloadLimits) -> Bool {
    units.removeAll(keepingCapacity: true)
    packets.removeAll(keepingCapacity: true)
    (next, beginsSequence) = (0, isKeyFrame)
    var offset = 0
    while let unit = AV1OBU(parsing: frame, at: &offset) {
      if !unit.isLeftOut { units.append(unit) }
    }
    guard offset == frame.byteCount, !units.isEmpty else { return false }
    // All packets get the room of the smallest, so that any may be the last.
    let room = limits.maximum - max(limits.firstReduction, limits.lastReduction, limits.singleReduction)
    guard room >= 4 else { return false }
    fill(room)
    balance()
    return true
  }

  private mutating func fill(_ room: Int) {
    var packet = Packet(unit: 0, skipped: 0)
    for index in units.indices {
      var left = units[index].transportSize
      while left > 0 {
        // The last element has no size while there are no more than three; making it an inner one costs its size.
        let overhead = overhead(byAddingTo: packet, bytes: left)
        let free = room - packet.size - overhead
        guard free > 0 else {
          packets.append(packet)
          packet = Packet(unit: index, skipped: units[index].transportSize - left)
          continue
        }
        let taken = min(left, free)
        packet.size += overhead + taken
        packet.elements += 1
        packet.lastBytes = taken
        left -= taken
      }
    }
    packets.append(packet)
  }

  /// Returns the bytes of size fields that one more element adds to a packet.
  private func overhead(byAddingTo packet: Packet, bytes: Int) -> Int {
    switch packet.elements {
    case 0: 0
    case ..<Self.countedElements: LEB128.size(of: packet.lastBytes)
    case Self.countedElements: LEB128.size(of: packet.lastBytes) + LEB128.size(of: bytes)
    default: LEB128.size(of: bytes)
    }
  }

  /// Moves bytes from the last packet but one to the last one, when they only share one unit.
  private mutating func balance() {
    guard packets.count >= 2 else { return }
    let (a, b) = (packets.count - 2, packets.count - 1)
    guard packets[b].elements == 1, packets[b].skipped > 0, packets[a].elements <= Self.countedElements else { return }
    let moved = min((packets[a].size - packets[b].size) / 2, packets[a].lastBytes - 1)
    guard moved > 0 else { return }
    packets[a].size -= moved
    packets[a].lastBytes -= moved
    packets[b].size += moved
    packets[b].lastBytes += moved
    packets[b].skipped -= moved
  }

  /// Writes the next payload of the prepared frame.
  ///
  /// - Returns: its place in the frame; nil after the last, or, with nothing written, when it does not fit or the frame
  ///   is another one.
  package mutating func next(of frame: RawSpan, into output: inout OutputSpan<UInt8>) -> PayloadPlace? {
    guard next < packets.count, let last = units.last, last.payload.upperBound <= frame.byteCount else { return nil }
    let packet = packets[next]
    guard output.freeCapacity >= packet.size else { return nil }
    let isLast = next == packets.count - 1
    let end = packet.unit + packet.elements - 1
    let endSkipped = packet.elements == 1 ? packet.skipped : 0
    let isCounted = packet.elements <= Self.countedElements
    output.append(
      AV1AggregationHeader(
        continuesUnit: packet.skipped > 0,
        isContinued: endSkipped + packet.lastBytes < units[end].transportSize,
        elementCount: isCounted ? UInt8(packet.elements) : 0, beginsSequence: beginsSequence && next == 0
      ).byte)
    for index in packet.unit...end {
      let skipped = index == packet.unit ? packet.skipped : 0
      let bytes = index == end ? packet.lastBytes : units[index].transportSize - skipped
      if !isCounted || index < end { LEB128.write(bytes, into: &output) }
      write(units[index], of: frame, skipping: skipped, bytes: bytes, into: &output)
    }
    next += 1
    return PayloadPlace(isFirst: next == 1, isLast: isLast)
  }

  /// Writes a part of a unit, whose header says that it has no size field.
  private func write(
    _ unit: AV1OBU, of frame: RawSpan, skipping skipped: Int, bytes: Int, into output: inout OutputSpan<UInt8>
  ) {
    var (left, position) = (bytes, skipped)
    if position == 0, left > 0 {
      output.append(unit.header & ~AV1OBU.sizeFlag)
      position += 1
      left -= 1
    }
    let headerSize = unit.extensionHeader == nil ? 1 : 2
    if let layers = unit.extensionHeader, position == 1, left > 0 {
      output.append(layers)
      position += 1
      left -= 1
    }
    guard left > 0 else { return }
    let start = unit.payload.lowerBound + position - headerSize
    output.append(contentsOf: frame.extracting(start..<start + left))
  }
}
