internal import CallCore
internal import STUN

/// Send and Data indications (RFC 8656 sections 11.1 and 11.4): a payload with its peer's address.
///
/// They carry media until a channel is bound, so they are read and written in place.
enum PeerIndication {
  /// The maximum number of bytes that an indication adds: header, XOR-PEER-ADDRESS for IPv6, DATA's header and padding.
  static let overhead = STUNHeader.size + 24 + 4 + 3

  /// Returns the method of a STUN indication that carries data, or nil for every other datagram.
  static func method(of datagram: RawSpan) -> STUNMethod? {
    guard isSTUN(datagram) else { return nil }
    switch datagram.bigEndian(UInt16.self, at: 0) {
    case 0x0016: return .send
    case 0x0017: return .data
    default: return nil
    }
  }

  /// Returns the peer and the byte range of the payload, or nil when either is missing or malformed, or an unknown
  /// attribute must be understood.
  static func parse(_ datagram: RawSpan) -> (peer: Endpoint, payload: Range<Int>)? {
    guard let length = datagram.bigEndian(UInt16.self, at: 2), Int(length) == datagram.byteCount - STUNHeader.size,
      let idHigh = datagram.bigEndian(UInt32.self, at: 8), let idLow = datagram.bigEndian(UInt64.self, at: 12)
    else { return nil }
    var cursor = STUNAttributeCursor()
    var peer: Endpoint?
    var payload: Range<Int>?
    while true {
      let slot: STUNAttributeSlot?
      do throws(STUNMalformation) { slot = try cursor.next(in: datagram) } catch { return nil }
      guard let slot else { break }
      switch slot.type {
      case STUNAttribute.xorPeerAddress.type where peer == nil:
        let id = STUNTransactionID(high: idHigh, low: idLow)
        guard let address = STUNAttribute.xorPeerAddress.decode(datagram.extracting(slot.value), in: id) else {
          return nil
        }
        peer = address
      case STUNAttribute.data.type where payload == nil:
        payload = slot.value
      case STUNAttribute.xorPeerAddress.type, STUNAttribute.data.type, STUNAttribute.dontFragment.type:
        break
      case ..<0x8000: return nil
      default: break
      }
    }
    guard let peer, let payload else { return nil }
    return (peer, payload)
  }

  static func write(
    _ method: STUNMethod, _ payload: RawSpan, peer: Endpoint, _ id: STUNTransactionID, into bytes: inout [UInt8]
  ) {
    let padding = (4 - payload.byteCount % 4) % 4
    let addressSize = peer.address.isIPv6 ? 20 : 8
    bytes.append(bigEndian: UInt16(method == .send ? 0x0016 : 0x0017))
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: 4 + addressSize + 4 + payload.byteCount + padding))
    bytes.append(bigEndian: STUNHeader.magicCookie)
    bytes.append(bigEndian: id.high)
    bytes.append(bigEndian: id.low)
    bytes.append(bigEndian: STUNAttribute.xorPeerAddress.type)
    bytes.append(bigEndian: UInt16(addressSize))
    STUNAttribute.xorPeerAddress.encode(peer, in: id, into: &bytes)
    bytes.append(bigEndian: STUNAttribute.data.type)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: payload.byteCount))
    payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
    for _ in 0..<padding { bytes.append(0) }
  }
}
