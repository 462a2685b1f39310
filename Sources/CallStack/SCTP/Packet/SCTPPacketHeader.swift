internal import CallCore

/// The common header of a packet (RFC 9260 section 3.1).
package struct SCTPPacketHeader: Hashable, Sendable, BitwiseCopyable {
  package var sourcePort: UInt16
  package var destinationPort: UInt16
  package var verificationTag: UInt32

  package init(sourcePort: UInt16, destinationPort: UInt16, verificationTag: UInt32) {
    self.sourcePort = sourcePort
    self.destinationPort = destinationPort
    self.verificationTag = verificationTag
  }

  /// The size of the header in bytes.
  package static let size = 12

  /// The state of a packet's checksum.
  package enum Checksum: Hashable, Sendable {
    case correct, wrong
    /// The field is zero, which a peer may send after negotiation (RFC 9653), and the packet's CRC is another.
    case zero
  }

  /// Reads the header and checks the checksum of the whole packet, or returns nil if the packet is too short.
  package static func parse(_ packet: RawSpan) -> (header: SCTPPacketHeader, checksum: Checksum)? {
    guard let source = packet.bigEndian(UInt16.self, at: 0), let destination = packet.bigEndian(UInt16.self, at: 2),
      let tag = packet.bigEndian(UInt32.self, at: 4), let field = packet.bigEndian(UInt32.self, at: 8)
    else { return nil }
    let header = SCTPPacketHeader(sourcePort: source, destinationPort: destination, verificationTag: tag)
    let isCorrect = field.byteSwapped == checksum(of: packet)
    return (header, isCorrect ? .correct : field == 0 ? .zero : .wrong)
  }

  /// Appends the header with a checksum of zero.
  ///
  /// - Precondition: there is room for ``size`` bytes.
  package func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: sourcePort)
    output.append(bigEndian: destinationPort)
    output.append(bigEndian: verificationTag)
    output.append(bigEndian: UInt32(0))
  }

  /// Sets the checksum of the packet that begins at `start` and ends with the output.
  package static func sealChecksum(of output: inout OutputSpan<UInt8>, from start: Int) {
    let checksum = checksum(of: output.span.bytes.extracting(droppingFirst: start))
    var bytes = output.mutableSpan
    for index in 0..<4 { bytes[start + 8 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
  }

  /// The CRC32c of a packet whose checksum field counts as zero.
  private static func checksum(of packet: RawSpan) -> UInt32 {
    var crc = CRC32C()
    crc.update(packet.extracting(first: 8))
    withZero { crc.update($0) }
    crc.update(packet.extracting(droppingFirst: size))
    return crc.value
  }

  private static func withZero(_ body: (RawSpan) -> Void) {
    var zero: UInt32 = 0
    Swift.withUnsafeBytes(of: &zero) { body($0.bytes) }
  }
}
