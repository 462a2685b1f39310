import CallCore

/// The exclusive or of RTP packets, which ULPFEC (RFC 5109 section 8) and FlexFEC (RFC 8627 section 6.3) share: of the
/// header's fields but sequence number and SSRC, of the lengths, and of all bytes after the fixed header.
package struct PacketParity: Hashable, Sendable {
  /// P, X and CC recovery in the low six bits; the two bits of the version are clear.
  package private(set) var flags: UInt8 = 0
  /// M and PT recovery.
  package private(set) var type: UInt8 = 0
  /// The length recovery: of the bytes after the fixed header.
  package private(set) var length: UInt16 = 0
  /// The TS recovery.
  package private(set) var timestamp: UInt32 = 0
  /// The bytes after the fixed header; shorter packets count as filled up with zeros.
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Makes a received parity from the fields of its header and the bytes after that.
  init(flags: UInt8, type: UInt8, length: UInt16, timestamp: UInt32, bytes: [UInt8]) {
    self.flags = flags & 0x3F
    (self.type, self.length, self.timestamp, self.bytes) = (type, length, timestamp, bytes)
  }

  /// Adds an RTP packet, or removes it again.
  ///
  /// - Parameter isLimited: whether bytes beyond those present are left out, because a received parity does not cover
  ///   them.
  package mutating func add(_ packet: RawSpan, isLimited: Bool = false) {
    let size = packet.byteCount - RTPHeader.fixedSize
    guard size >= 0, size <= Int(UInt16.max), let first = packet.byte(at: 0), let second = packet.byte(at: 1),
      let time = packet.bigEndian(UInt32.self, at: 4)
    else { return }
    flags ^= first & 0x3F
    type ^= second
    length ^= UInt16(size)
    timestamp ^= time
    if size > bytes.count, !isLimited { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
    let count = min(size, bytes.count)
    bytes.withUnsafeMutableBufferPointer { target in
      for index in 0..<count {
        target[index] ^= packet.unsafeLoad(fromUncheckedByteOffset: RTPHeader.fixedSize + index, as: UInt8.self)
      }
    }
  }

  /// Returns the packet whose parity this is, or nil when the parity covers only a part of it.
  package func packet(sequenceNumber: UInt16, ssrc: UInt32) -> [UInt8]? {
    guard Int(length) <= bytes.count else { return nil }
    var packet: [UInt8] = []
    packet.reserveCapacity(RTPHeader.fixedSize + Int(length))
    packet.append(0x80 | flags)
    packet.append(type)
    packet.append(bigEndian: sequenceNumber)
    packet.append(bigEndian: timestamp)
    packet.append(bigEndian: ssrc)
    packet.append(contentsOf: bytes.prefix(Int(length)))
    return packet
  }
}
