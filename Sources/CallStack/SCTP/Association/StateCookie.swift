internal import CallCore
internal import Digests

/// The state cookie of an INIT ACK: all that is needed to make an association from its echo (RFC 9260 section 5.1.3).
struct StateCookie: Hashable, Sendable {
  var createdAt: Instant
  var ownTag: UInt32
  var ownInitialTSN: UInt32
  var peerTag: UInt32
  var peerInitialTSN: UInt32
  var peerWindow: UInt32
  /// A number of the association that existed when the INIT arrived, or zero if there was none.
  var tieTag: UInt64
  var capabilities: SCTPCapabilities

  private static let size = 41
  private static let codeSize = 32

  /// The cookie on the wire, with a message authentication code.
  func sealed(key: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: createdAt.nanoseconds)
    for value in [ownTag, ownInitialTSN, peerTag, peerInitialTSN, peerWindow] { bytes.append(bigEndian: value) }
    bytes.append(bigEndian: tieTag)
    bytes.append(bigEndian: capabilities.inboundStreams)
    bytes.append(bigEndian: capabilities.outboundStreams)
    bytes.append(capabilities.rawValue)
    return bytes + HMAC.code(.sha256, key: key, of: bytes)
  }

  /// Reads a cookie, or returns nil if it is not ours.
  init?(opening sealed: [UInt8], key: [UInt8]) {
    guard sealed.count == Self.size + Self.codeSize else { return nil }
    let code = HMAC.code(.sha256, key: key, of: Array(sealed.prefix(Self.size)))
    let bytes = sealed.span.bytes
    guard constantTimeEqual(code.span.bytes, bytes.extracting(droppingFirst: Self.size)),
      let time = bytes.bigEndian(Int64.self, at: 0), let ownTag = bytes.bigEndian(UInt32.self, at: 8),
      let ownTSN = bytes.bigEndian(UInt32.self, at: 12), let peerTag = bytes.bigEndian(UInt32.self, at: 16),
      let peerTSN = bytes.bigEndian(UInt32.self, at: 20), let window = bytes.bigEndian(UInt32.self, at: 24),
      let tieTag = bytes.bigEndian(UInt64.self, at: 28), let inbound = bytes.bigEndian(UInt16.self, at: 36),
      let outbound = bytes.bigEndian(UInt16.self, at: 38), let flags = bytes.byte(at: 40)
    else { return nil }
    self.init(
      createdAt: Instant(nanoseconds: time), ownTag: ownTag, ownInitialTSN: ownTSN, peerTag: peerTag,
      peerInitialTSN: peerTSN, peerWindow: window, tieTag: tieTag,
      capabilities: SCTPCapabilities(rawValue: flags, inboundStreams: inbound, outboundStreams: outbound))
  }

  init(
    createdAt: Instant, ownTag: UInt32, ownInitialTSN: UInt32, peerTag: UInt32, peerInitialTSN: UInt32,
    peerWindow: UInt32, tieTag: UInt64, capabilities: SCTPCapabilities
  ) {
    self.createdAt = createdAt
    self.ownTag = ownTag
    self.ownInitialTSN = ownInitialTSN
    self.peerTag = peerTag
    self.peerInitialTSN = peerInitialTSN
    self.peerWindow = peerWindow
    self.tieTag = tieTag
    self.capabilities = capabilities
  }
}
