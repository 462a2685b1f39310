internal import SDP

/// The RTP header extensions of one direction, by their local identifiers; nil where one was not negotiated.
struct MediaExtensions: Hashable {
  /// Names the section that a source is of (RFC 9143 section 15).
  var mid: UInt8?
  /// Numbers the packets of all sources (draft-holmer-rmcat-transport-wide-cc-extensions-01).
  var transportNumber: UInt8?

  /// In the order in which an offer numbers them.
  static let uris = [
    "urn:ietf:params:rtp-hdrext:sdes:mid",
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
  ]

  /// An identifier means the same in all sections (RFC 9143 section 9.1). Packets are numbered only where feedback is sent
  /// about them.
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
