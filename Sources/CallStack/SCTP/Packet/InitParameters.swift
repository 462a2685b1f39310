internal import CallCore

/// The parameters of an INIT or INIT ACK chunk (RFC 9260 sections 3.3.2 and 3.3.3).
package struct InitParameters: Hashable, Sendable {
  /// The state cookie of an INIT ACK.
  package var cookie: [UInt8]?
  /// Whether the sender understands FORWARD TSN (RFC 3758 section 3.1).
  package var supportsForwardTSN: Bool
  /// The chunk types that the sender understands beyond RFC 9260 (RFC 5061 section 4.2.7).
  package var supportedExtensions: [UInt8]
  /// The method of error detection with which the sender accepts a checksum of zero (RFC 9653 section 4).
  package var zeroChecksumMethod: UInt32?
  /// Whether there is a host name address, which RFC 9260 section 3.3.2 forbids.
  package var hasHostName = false
  /// The parameters of unknown types that must be reported to the sender, with their headers.
  package var unrecognized: [[UInt8]] = []

  package init(
    cookie: [UInt8]? = nil, supportsForwardTSN: Bool = false, supportedExtensions: [UInt8] = [],
    zeroChecksumMethod: UInt32? = nil
  ) {
    self.cookie = cookie
    self.supportsForwardTSN = supportsForwardTSN
    self.supportedExtensions = supportedExtensions
    self.zeroChecksumMethod = zeroChecksumMethod
  }

  /// The method number of DTLS (RFC 9653 section 8).
  package static let zeroChecksumByDTLS: UInt32 = 1

  /// The types on the wire.
  enum WireType {
    static let heartbeatInfo: UInt16 = 1
    static let ipv4Address: UInt16 = 5
    static let ipv6Address: UInt16 = 6
    static let stateCookie: UInt16 = 7
    static let unrecognizedParameter: UInt16 = 8
    static let cookiePreservative: UInt16 = 9
    static let hostNameAddress: UInt16 = 11
    static let supportedAddressTypes: UInt16 = 12
    static let ecnCapable: UInt16 = 0x8000
    static let zeroChecksumAcceptable: UInt16 = 0x8001
    static let supportedExtensions: UInt16 = 0x8008
    static let forwardTSNSupported: UInt16 = 0xC000
  }

  /// Reads all parameters, or returns nil if one is malformed.
  init?(parsing bytes: RawSpan) {
    self.init()
    var reader = TLVReader(bytes.byteCount)
    while let (type, range) = reader.next(in: bytes) {
      let value = bytes.extracting(range)
      switch type {
      case WireType.stateCookie: cookie = value.copied
      case WireType.supportedExtensions: supportedExtensions = value.copied
      case WireType.forwardTSNSupported: supportsForwardTSN = true
      case WireType.zeroChecksumAcceptable: zeroChecksumMethod = value.bigEndian(UInt32.self, at: 0)
      case WireType.hostNameAddress: hasHostName = true
      // Addresses mean nothing over DTLS (RFC 8261 section 5), and ECN is not supported there.
      case WireType.ipv4Address, WireType.ipv6Address, WireType.supportedAddressTypes, WireType.cookiePreservative,
        WireType.unrecognizedParameter, WireType.ecnCapable:
        break
      default:
        let rule = UnknownTypeRule(parameterType: type)
        if rule.isReported { unrecognized.append(bytes.extracting(range.lowerBound - 4..<range.upperBound).copied) }
        if !rule.continues { return }
      }
    }
    if reader.isMalformed { return nil }
  }

  /// Writes the parameters. Unrecognized ones of the peer are written as reports.
  func write(to bytes: inout [UInt8]) {
    if let cookie { bytes.appendTLV(WireType.stateCookie) { $0 += cookie } }
    if supportsForwardTSN { bytes.appendTLV(WireType.forwardTSNSupported) { _ in } }
    if !supportedExtensions.isEmpty {
      bytes.appendTLV(WireType.supportedExtensions) { $0 += supportedExtensions }
    }
    if let zeroChecksumMethod {
      bytes.appendTLV(WireType.zeroChecksumAcceptable) { $0.append(bigEndian: zeroChecksumMethod) }
    }
    for parameter in unrecognized { bytes.appendTLV(WireType.unrecognizedParameter) { $0 += parameter } }
  }
}
