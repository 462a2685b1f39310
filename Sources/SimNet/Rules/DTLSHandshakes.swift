internal import CallCore

/// Identifies the flights of DTLS 1.2 handshakes (RFC 6347 section 4.2.4, figure 1).
///
/// Certificates and messages after ChangeCipherSpec look alike from both sides, so it stores the senders of
/// ClientHello: pass it every datagram, whether its flight is needed or not.
struct DTLSHandshakes {
  private var clients: [HostID] = []

  /// Learns the client from a datagram with a hello.
  mutating func learn(_ datagram: RawSpan, from sender: HostID) {
    // One or two bytes suffice to classify nearly all datagrams.
    let record: Int
    switch datagram.byte(at: 0) {
    case 22?: record = 0
    case (64...79)? where datagram.byte(at: 4) == 22: record = 4
    case 0? where datagram.byte(at: 1) == 0x16 || datagram.byte(at: 1) == 0x17:
      guard let range = PacketContent.range(of: .dtls, in: datagram) else { return }
      record = range.lowerBound
    default: return
    }
    guard datagram.byte(at: record) == 22, datagram.bigEndian(UInt16.self, at: record + 3) == 0 else { return }
    switch datagram.byte(at: record + 13) {
    case 1?: if !clients.contains(sender) { clients.append(sender) }
    case 2?: clients.removeAll { $0 == sender }
    default: break
    }
  }

  /// Returns the flight, 1 to 6, that a datagram begins with; nil if it does not belong to a handshake.
  func flight(of datagram: RawSpan, from sender: HostID) -> Int? {
    guard let range = PacketContent.range(of: .dtls, in: datagram) else { return nil }
    let record = datagram.extracting(range)
    let isClient = clients.contains(sender)
    guard record.byte(at: 0) == 22, record.bigEndian(UInt16.self, at: 3) == 0 else {
      // ChangeCipherSpec, and Finished under the keys that it announces.
      return [20, 22].contains(record.byte(at: 0)) ? (isClient ? 5 : 6) : nil
    }
    switch record.byte(at: 13) {
    case 1: return Self.hasCookie(record) ? 3 : 1
    case 2: return 4
    case 3: return 2
    case 4: return 6
    case 11: return isClient ? 5 : 4
    case 12, 13, 14: return 4
    case 15, 16: return 5
    default: return nil
    }
  }

  /// The cookie follows the headers of record and message, version, random and session identifier.
  private static func hasCookie(_ hello: RawSpan) -> Bool {
    let session = 13 + 12 + 2 + 32
    guard let length = hello.byte(at: session) else { return false }
    return hello.byte(at: session + 1 + Int(length)).map { $0 > 0 } ?? false
  }
}
