internal import CallCore

/// The framing of DTLS records (RFC 6347 section 4.1), checked before libssl reads a datagram.
package enum RecordShape: Equatable {
  case wellFormed
  /// This many bytes are whole records; the rest is malformed.
  case wellFormedPrefix(Int)
  case malformed

  /// Checks the records of a datagram.
  ///
  /// - Parameter shortestProtected: the minimum length of a record after epoch 0, whose contents are encrypted.
  package init(of datagram: RawSpan, shortestProtected: Int) {
    var offset = 0
    repeat {
      // A DTLS 1.3 unified header begins with 001. It may appear only after 1.3 is negotiated, which never happens
      // here.
      guard let type = datagram.byte(at: offset), (20...23).contains(type),
        let major = datagram.byte(at: offset + 1), major == 0xFE,
        let epoch = datagram.bigEndian(UInt16.self, at: offset + 3),
        let length = datagram.bigEndian(UInt16.self, at: offset + 11), length <= 16_384 + 2_048,
        epoch == 0 || length >= shortestProtected,
        offset + 13 + Int(length) <= datagram.byteCount
      else {
        self = offset == 0 ? .malformed : .wellFormedPrefix(offset)
        return
      }
      offset += 13 + Int(length)
    } while offset < datagram.byteCount
    self = .wellFormed
  }

  /// Returns whether the first record contains an unencrypted ClientHello, or a fragment of one.
  static func beginsWithClientHello(_ datagram: RawSpan) -> Bool {
    datagram.byte(at: 0) == 22 && datagram.bigEndian(UInt16.self, at: 3) == 0 && datagram.byte(at: 13) == 1
  }
}
