internal import SDP

/// The local identifiers of one direction's RTP header extensions; nil if not negotiated.
struct MediaExtensions: Hashable {
  /// The MID, which names the section of a source (RFC 9143 section 15).
  var mid: UInt8?
  /// The transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01).
  var transportNumber: UInt8?

  /// The URIs of the extensions, in the order of their identifiers in an offer.
  static let uris = [
    "urn:ietf:params:rtp-hdrext:sdes:mid",
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
  ]

  /// Finds the identifiers, which are the same in all sections (RFC 9143 section 9.1). Packets are numbered only if
  /// feedback about them was negotiated.
  init(_ sections: [NegotiatedMedia], sending: Bool) {
    func identifier(_ uri: String, in sections: [NegotiatedMedia]) -> UInt8? {
      sections.lazy.compactMap { $0.extensionID(uri, sending: sending) }.first
    }
    mid = identifier(Self.uris[0], in: sections)
    transportNumber = identifier(
      Self.uris[1],
      in: sections.filter { section in
        (sending ? section.sendCodecs : section.receiveCodecs).contains { $0.feedback.contains(.transportCC) }
      })
  }
}
