import CallCore

/// The fields of the fixed RTP header that identify a packet (RFC 3550 section 5.1).
package struct RTPHeader: Hashable, Sendable, BitwiseCopyable {
  package var payloadType: UInt8
  package var marker: Bool
  package var sequenceNumber: UInt16
  package var timestamp: UInt32
  package var ssrc: UInt32

  /// - Precondition: `payloadType` fits seven bits.
  package init(payloadType: UInt8, marker: Bool = false, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32) {
    precondition(payloadType < 128, "a payload type has seven bits")
    self.payloadType = payloadType
    self.marker = marker
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
  }

  /// The size of the header in bytes, without contributing sources and extensions.
  package static let fixedSize = 12

  /// Writes the header; the payload and ``appendPadding(_:to:)`` follow.
  ///
  /// - Parameter hasPadding: whether to set the P bit; the caller must then append padding after the payload.
  /// - Returns: the number of bytes written; nil, with nothing written, when they do not fit or there are more than 15
  ///   CSRCs.
  package func write(
    into output: inout OutputSpan<UInt8>, contributingSources: [UInt32] = [],
    extensions: RTPHeaderExtensions = RTPHeaderExtensions(), hasPadding: Bool = false
  ) -> Int? {
    let size = Self.fixedSize + 4 * contributingSources.count + extensions.encodedSize
    guard contributingSources.count <= 15, output.freeCapacity >= size else { return nil }
    let first: UInt8 = 0x80 | (hasPadding ? 0x20 : 0) | (extensions.isEmpty ? 0 : 0x10)
    output.append(first | UInt8(contributingSources.count))
    output.append((marker ? 0x80 : 0) | payloadType)
    output.append(bigEndian: sequenceNumber)
    output.append(bigEndian: timestamp)
    output.append(bigEndian: ssrc)
    for source in contributingSources { output.append(bigEndian: source) }
    extensions.write(into: &output)
    return size
  }

  /// Appends `count` bytes of padding, the last of which holds the count (RFC 3550 section 5.1).
  ///
  /// - Returns: false, with nothing written, when there is not enough room or `count` is zero.
  package static func appendPadding(_ count: UInt8, to output: inout OutputSpan<UInt8>) -> Bool {
    guard count > 0, output.freeCapacity >= Int(count) else { return false }
    for _ in 1..<max(1, Int(count)) { output.append(0) }
    output.append(count)
    return true
  }
}
