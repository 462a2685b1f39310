package import CallCore

/// Writes a capture that Wireshark reads: pcapng (draft-ietf-opsawg-pcapng), one little-endian section, raw IP packets,
/// nanosecond times, one interface for each virtual network card, and the TLS secrets to decrypt them.
///
/// Every call hands one whole block to the sink; nothing is kept but the buffer it is built in.
package struct PcapngWriter: ~Copyable {
  /// Names an interface of the capture.
  package struct Interface: Hashable, Sendable, BitwiseCopyable {
    /// Counts interfaces from 0 in the order they were added.
    package let index: UInt32
  }

  /// The direction in which a packet crossed its interface.
  package enum Direction: UInt32, Sendable {
    case inbound = 1
    case outbound = 2
  }

  private enum BlockType {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    static let packet: UInt32 = 6
    static let secrets: UInt32 = 10
  }

  /// LINKTYPE_RAW: the packet begins with its IPv4 or IPv6 header.
  private static let linkType: UInt16 = 101
  private static let tlsKeyLog: UInt32 = 0x544C_534B

  /// The number of packets written.
  package private(set) var packetCount: UInt64 = 0
  /// The number of packets without a valid IP header: mixed address families, or too long.
  package private(set) var skippedCount: UInt64 = 0
  private var interfaceCount: UInt32 = 0
  private let wallClock: WallClock
  private let sink: (RawSpan) -> Void
  private var block: [UInt8] = []

  /// Begins the capture with its section header.
  ///
  /// - Parameters:
  ///   - wallClock: turns virtual time into the dates of the capture.
  ///   - sink: takes the bytes of one block; they are valid during the call only.
  package init(wallClock: WallClock = WallClock(), sink: @escaping (RawSpan) -> Void) {
    self.wallClock = wallClock
    self.sink = sink
    block.reserveCapacity(2_048)
    begin(BlockType.section)
    append(UInt32(0x1A2B_3C4D))
    append(UInt16(1))
    append(UInt16(0))
    append(UInt64.max)
    appendOption(4, "callsim")
    endOptions()
    finish()
  }

  /// Declares an interface, with the name that Wireshark shows.
  package mutating func addInterface(name: String) -> Interface {
    begin(BlockType.interface)
    append(Self.linkType)
    append(UInt16(0))
    append(UInt32(0))
    appendOption(2, name)
    // if_tsresol: 10^-9 seconds.
    append(UInt16(9))
    append(UInt16(1))
    block.append(9)
    pad()
    endOptions()
    finish()
    defer { interfaceCount += 1 }
    return Interface(index: interfaceCount)
  }

  /// Writes one packet with the IP and transport headers it would have on a wire.
  ///
  /// - Parameters:
  ///   - payload: the datagram of a UDP packet; the whole segment with its header of a TCP packet.
  ///   - comment: shown by Wireshark next to the packet, such as why it was dropped.
  package mutating func write(
    _ payload: RawSpan, source: Endpoint, destination: Endpoint, protocol transport: TransportProtocol,
    ecn: ECN = .notECT, on interface: Interface, direction: Direction? = nil, at time: Instant,
    comment: String? = nil
  ) {
    begin(BlockType.packet)
    append(interface.index)
    let timestamp = UInt64(bitPattern: wallClock.unixNanoseconds(at: time))
    append(UInt32(truncatingIfNeeded: timestamp >> 32))
    append(UInt32(truncatingIfNeeded: timestamp))
    let lengths = block.count
    append(UInt64(0))
    let start = block.count
    guard
      IPPacket.append(
        payload, source: source, destination: destination, transport: transport, ecn: ecn, to: &block)
    else {
      skippedCount &+= 1
      return
    }
    let length = UInt32(block.count - start)
    store(length, at: lengths)
    store(length, at: lengths + 4)
    pad()
    if let direction {
      append(UInt16(2))
      append(UInt16(4))
      append(direction.rawValue)
    }
    if let comment { appendOption(1, comment) }
    if direction != nil || comment != nil { endOptions() }
    finish()
    packetCount &+= 1
  }

  /// Writes secrets in the NSS key log format (`CLIENT_RANDOM …`), which decrypt TLS and DTLS.
  ///
  /// They must precede the packets they decrypt for readers that read once.
  package mutating func writeSecrets(keyLog text: String) {
    begin(BlockType.secrets)
    append(Self.tlsKeyLog)
    append(UInt32(text.utf8.count))
    block.append(contentsOf: text.utf8)
    pad()
    finish()
  }

  // MARK: Blocks

  private mutating func begin(_ type: UInt32) {
    block.removeAll(keepingCapacity: true)
    append(type)
    append(UInt32(0))
  }

  private mutating func finish() {
    let length = UInt32(block.count + 4)
    append(length)
    store(length, at: 4)
    sink(block.span.bytes)
  }

  private mutating func appendOption(_ code: UInt16, _ text: String) {
    let bytes = text.utf8.prefix(Int(UInt16.max))
    append(code)
    append(UInt16(bytes.count))
    block.append(contentsOf: bytes)
    pad()
  }

  private mutating func endOptions() { append(UInt32(0)) }

  private mutating func pad() {
    while block.count % 4 != 0 { block.append(0) }
  }

  private mutating func append<T: FixedWidthInteger>(_ value: T) { block.append(bigEndian: value.byteSwapped) }

  private mutating func store(_ value: UInt32, at offset: Int) {
    for index in 0..<4 { block[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index)) }
  }
}
