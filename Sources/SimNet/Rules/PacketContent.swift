internal import CallCore

/// The content of a datagram, classified by its first bytes as a receiver would (RFC 7983, RFC 5761 section 4).
public enum PacketContent: String, CaseIterable, Sendable {
  /// A STUN message (RFC 8489).
  case stun
  /// TURN's own methods, and all traffic between a client and its relay.
  case turn
  /// A record of DTLS (RFC 6347).
  case dtls
  /// An RTP or SRTP packet (RFC 3550).
  case rtp
  /// An RTCP or SRTCP packet.
  case rtcp
  /// A record of TLS on a connection; its content is encrypted.
  case tls
  /// Anything else.
  case other

  /// Classifies the outermost content.
  package init(_ payload: RawSpan) {
    guard let first = payload.byte(at: 0) else {
      self = .other
      return
    }
    switch first {
    case 0...3: self = Self.isTURN(payload) ? .turn : .stun
    // TLS has major version 3, DTLS 254.
    case 20...23 where payload.byte(at: 1) == 3: self = .tls
    case 20...63: self = .dtls
    case 64...79: self = .turn
    case 128...191: self = (192...223).contains(payload.byte(at: 1) ?? 0) ? .rtcp : .rtp
    default: self = .other
    }
  }

  /// Returns whether the datagram is `content`, or is relayed and carries it.
  static func matches(_ payload: RawSpan, _ content: PacketContent) -> Bool { range(of: content, in: payload) != nil }

  /// Returns the position of `content`: the datagram as a whole, or the data relayed in it.
  package static func range(of content: PacketContent, in payload: RawSpan) -> Range<Int>? {
    let outer = PacketContent(payload)
    if outer == content { return 0..<payload.byteCount }
    guard outer == .turn, let data = relayedData(in: payload), PacketContent(payload.extracting(data)) == content
    else { return nil }
    return data
  }

  /// Returns the position of the relayed data in a message between a client and its TURN server; nil if there is none.
  package static func relayed(in payload: RawSpan) -> Range<Int>? {
    PacketContent(payload) == .turn ? relayedData(in: payload) : nil
  }

  /// Returns a hash of the bytes.
  package static func identity(of bytes: RawSpan) -> UInt64 { FNV1a.hash(words: bytes) }

  /// Methods 3 (Allocate) to 9 (ChannelBind) belong to TURN (RFC 8656 section 17), method 1 to STUN.
  private static func isTURN(_ payload: RawSpan) -> Bool {
    guard let type = payload.bigEndian(UInt16.self, at: 0) else { return false }
    return (3...9).contains(type & 0x0F) && type & 0x3EE0 == 0
  }

  /// Returns the position of the data of a ChannelData message or of a Send or Data indication.
  private static func relayedData(in payload: RawSpan) -> Range<Int>? {
    if (64...79).contains(payload.byte(at: 0) ?? 0) {
      // Over TCP padding follows, and over UDP it may (RFC 8656 section 12.5).
      guard let length = payload.bigEndian(UInt16.self, at: 2), 4 + Int(length) <= payload.byteCount else { return nil }
      return 4..<4 + Int(length)
    }
    var offset = 20
    while let type = payload.bigEndian(UInt16.self, at: offset),
      let length = payload.bigEndian(UInt16.self, at: offset + 2)
    {
      let value = offset + 4..<offset + 4 + Int(length)
      guard value.upperBound <= payload.byteCount else { return nil }
      // DATA (RFC 8656 section 18.4).
      if type == 0x0013 { return value }
      offset = value.upperBound + (4 - Int(length) % 4) % 4
    }
    return nil
  }
}
