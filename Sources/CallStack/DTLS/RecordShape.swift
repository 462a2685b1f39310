internal import CallCore

/// The outer form of DTLS records (RFC 6347 section 4.1), checked before libssl sees a datagram.
package enum RecordShape: Equatable {
  case wellFormed
  /// So many bytes are whole records, what follows them is not.
  case wellFormedPrefix(Int)
  case malformed

  /// - Parameter shortestProtected: the least length of a record after epoch 0, whose contents are encrypted.
  package init(of datagram: RawSpan, shortestProtected: Int) {
    var offset = 0
    repeat {
      // DTLS 1.3's unified header begins with 001; nobody may send it before 1.3 is agreed on, and it never is here.
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

  /// Whether the first record carries a ClientHello in clear, or a piece of one.
  static func beginsWithClientHello(_ datagram: RawSpan) -> Bool {
    datagram.byte(at: 0) == 22 && datagram.bigEndian(UInt16.self, at: 3) == 0 && datagram.byte(at: 13) == 1
  }
}
