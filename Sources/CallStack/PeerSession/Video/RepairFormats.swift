internal import SDP

/// The negotiated formats of forward error correction in one direction; nil for those that were not.
struct RepairFormats: Hashable {
  /// RED (RFC 2198), and its retransmissions.
  private(set) var red: UInt8?
  private(set) var redRetransmission: UInt8?
  private(set) var ulpfec: UInt8?
  /// `flexfec-03`.
  private(set) var flexFEC: UInt8?

  init() {}

  /// - Parameter helpers: the formats of a section that assist.
  init(_ helpers: [NegotiatedCodec]) {
    for format in helpers {
      switch format.name.lowercased() {
      case "red": (red, redRetransmission) = (format.payloadType, format.retransmissionPayloadType)
      case "ulpfec": ulpfec = format.payloadType
      case "flexfec-03": flexFEC = format.payloadType
      default: break
      }
    }
  }

  /// Adds the formats of a later negotiation.
  mutating func add(_ later: RepairFormats) {
    if let red = later.red { (self.red, redRetransmission) = (red, later.redRetransmission) }
    ulpfec = later.ulpfec ?? ulpfec
    flexFEC = later.flexFEC ?? flexFEC
  }

  /// Returns the scheme in which a codec is sent; nil for none.
  ///
  /// Repair packets of ULPFEC have numbers of the media's stream and are not sent again: beside NACK, only a codec that
  /// numbers its frames shows that nothing is missing. Packets inside RED need a format in which they are sent again.
  /// Both as in libwebrtc.
  func scheme(for codec: NegotiatedCodec, isSimulcast: Bool) -> VideoRepairSender.Scheme? {
    if let flexFEC { return isSimulcast ? nil : .flexFEC(flexFEC) }
    guard let red, let ulpfec else { return nil }
    if codec.feedback.contains(.nack), !["VP8", "VP9"].contains(codec.name.uppercased()) { return nil }
    if codec.retransmissionPayloadType != nil, redRetransmission == nil { return nil }
    return .ulpfec(ulpfec, red: red)
  }
}
