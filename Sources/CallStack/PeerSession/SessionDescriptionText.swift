package import SDP

/// W3C `RTCSessionDescription`.
public struct SessionDescriptionText: Hashable, Sendable {
  /// The type of a description (W3C `RTCSdpType`).
  public enum Kind: String, Sendable {
    /// An offer.
    case offer
    /// A final answer.
    case answer
    /// A provisional answer.
    case pranswer
    /// A return to the last stable state.
    case rollback
  }

  /// The type of the description.
  public var kind: Kind
  /// The description's SDP text (RFC 8866).
  public var sdp: String

  /// Makes a description from its type and text.
  public init(_ kind: Kind, sdp: String) {
    self.kind = kind
    self.sdp = sdp
  }

  /// Whether every section is rejected, for example without a common codec (RFC 9429 section 5.3.1), so that no media
  /// can ever flow.
  package var rejectsEverything: Bool {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return false }
    return parsed.media.allSatisfy(\.isRejected)
  }

  /// Whether there is a fingerprint of a certificate: the side uses DTLS.
  package var hasFingerprint: Bool {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return false }
    return ([parsed.attributes] + parsed.media.map(\.attributes)).contains { !$0.fingerprints.isEmpty }
  }

  /// Returns whether a section of this kind is not rejected.
  package func has(_ kind: MediaKind) -> Bool {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return false }
    return parsed.media.contains { $0.kind == kind && !$0.isRejected }
  }

  /// The reason why an offer's audio must be rejected regardless of codecs; nil if there is none.
  package var obstacle: String? {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return nil }
    let audio = parsed.media.indices.filter { parsed.media[$0].type == "audio" && !parsed.media[$0].isRejected }
    guard let first = audio.first else { return "the offer has no audio section that could be accepted" }
    // RFC 9429 section 5.3.1: a section without RTCP multiplexing is rejected.
    return audio.contains(where: parsed.multiplexesRTCP) ? nil : "\(JSEPError.missingRTCPMux(mLineIndex: first))"
  }
}
