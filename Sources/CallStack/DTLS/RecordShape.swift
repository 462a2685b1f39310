internal import CallCore

/// The outer form of DTLS records (RFC 6347 section 4.1), checked before libssl sees a datagram.
package enum RecordShape {
  case wellFormed
  /// The first record is whole, something after it is not.
  case wellFormedPrefix
  case malformed

  package init(of datagram: RawSpan) {
    var offset = 0
    repeat {
      // DTLS 1.3's unified header begins with 001; nobody may send it before 1.3 is agreed on, and it never is here.
      guard let type = datagram.byte(at: offset), (20...23).contains(type),
        let major = datagram.byte(at: offset + 1), major == 0xFE,
        let length = datagram.bigEndian(UInt16.self, at: offset + 11), length <= 16_384 + 2_048,
        offset + 13 + Int(length) <= datagram.byteCount
      else {
        self = offset == 0 ? .malformed : .wellFormedPrefix
        return
      }
      offset += 13 + Int(length)
    } while offset < datagram.byteCount
    self = .wellFormed
  }
}
