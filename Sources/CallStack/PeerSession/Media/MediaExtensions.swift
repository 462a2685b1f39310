internal import SDP

/// The local identifiers of one direction's RTP header extensions; nil if not negotiated.
struct MediaExtensions: Hashable {
  /// The MID, which names the section of a source (RFC 9143 section 15).
  var mid: UInt8?
  /// The transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01).
  var transportNumber: UInt8?
  /// The name of an encoding, and that of the encoding that a retransmission belongs to (RFC 8852).
  var rid: UInt8?
  var repairedRID: UInt8?
  /// The level of the audio in a packet (RFC 6464).
  var audioLevel: UInt8?
  /// Whether its flag of voice activity means something: unless one side has said `vad=off`.
  var hasVoiceFlag: Bool

  static let midURI = "urn:ietf:params:rtp-hdrext:sdes:mid"
  static let transportNumberURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  static let ridURI = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
  static let repairedRIDURI = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
  static let audioLevelURI = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"

  /// Finds the identifiers, which are the same in all sections (RFC 9143 section 9.1). Packets are numbered only if
  /// feedback about them was negotiated.
  init(_ sections: [NegotiatedMedia], sending: Bool) {
    func identifier(_ uri: String, in sections: [NegotiatedMedia]) -> UInt8? {
      sections.lazy.compactMap { $0.extensionID(uri, sending: sending) }.first
    }
    mid = identifier(Self.midURI, in: sections)
    rid = identifier(Self.ridURI, in: sections)
    repairedRID = identifier(Self.repairedRIDURI, in: sections)
    audioLevel = identifier(Self.audioLevelURI, in: sections)
    hasVoiceFlag = sections.allSatisfy(\.indicatesVoice)
    transportNumber = identifier(
      Self.transportNumberURI,
      in: sections.filter { section in
        (sending ? section.sendCodecs : section.receiveCodecs).contains { $0.feedback.contains(.transportCC) }
      })
  }
}

extension NegotiatedMedia {
  /// Whether audio levels have the flag of voice activity; on is the default (RFC 6464 section 4).
  var indicatesVoice: Bool {
    !headerExtensions.contains { $0.uri == MediaExtensions.audioLevelURI && $0.parameters == "vad=off" }
  }
}
