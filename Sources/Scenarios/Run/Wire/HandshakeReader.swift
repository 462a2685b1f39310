internal import CallCore
internal import DTLS
internal import Digests

/// Reads certificates in the handshakes of DTLS 1.2 (RFC 6347 section 4.2), where they are not encrypted.
struct HandshakeReader {
  /// The bytes of the Certificate message that came in order, and its length.
  private var received: [UInt8] = []
  private var length = 0

  private static let handshake: UInt8 = 22
  private static let certificate: UInt8 = 11
  private static let recordHeaderSize = 13
  private static let fragmentHeaderSize = 12

  /// Returns the fingerprint of the sender's certificate if a datagram completes the message; else nil.
  mutating func fingerprint(completedBy datagram: RawSpan) -> String? {
    var fingerprint: String?
    var start = 0
    while let type = datagram.byte(at: start), let epoch = datagram.bigEndian(UInt16.self, at: start + 3),
      let size = datagram.bigEndian(UInt16.self, at: start + 11)
    {
      let content = start + Self.recordHeaderSize..<start + Self.recordHeaderSize + Int(size)
      guard content.upperBound <= datagram.byteCount else { break }
      if type == Self.handshake, epoch == 0 {
        fingerprint = read(datagram.extracting(content)) ?? fingerprint
      }
      start = content.upperBound
    }
    return fingerprint
  }

  private mutating func read(_ record: RawSpan) -> String? {
    guard record.byte(at: 0) == Self.certificate, let total = Self.number(in: record, at: 1),
      let offset = Self.number(in: record, at: 6), let size = Self.number(in: record, at: 9),
      let fragment = record.bytes(in: Self.fragmentHeaderSize..<Self.fragmentHeaderSize + size)
    else { return nil }
    if offset == 0 { (received, length) = ([], total) }
    guard total == length, offset == received.count else { return nil }
    received += fragment
    guard received.count == length else { return nil }
    defer { (received, length) = ([], 0) }
    return Self.fingerprint(ofFirstIn: received)
  }

  /// Returns the fingerprint of the first certificate of a list (RFC 5246 section 7.4.2); nil if there is none.
  private static func fingerprint(ofFirstIn list: [UInt8]) -> String? {
    guard let size = number(in: list.span.bytes, at: 3), size > 0, 6 + size <= list.count else { return nil }
    let digest = HashFunction.sha256.digest(of: Array(list[6..<6 + size]))
    return Fingerprint(function: .sha256, digest: digest)?.description.lowercased()
  }

  /// Returns a number of three bytes.
  private static func number(in bytes: RawSpan, at offset: Int) -> Int? {
    guard let high = bytes.byte(at: offset), let low = bytes.bigEndian(UInt16.self, at: offset + 1) else { return nil }
    return Int(high) << 16 | Int(low)
  }
}
