internal import SDP

/// W3C `RTCSessionDescription`.
public struct SessionDescriptionText: Hashable, Sendable {
  public enum Kind: String, Sendable { case offer, answer, pranswer, rollback }

  public var kind: Kind
  public var sdp: String

  public init(_ kind: Kind, sdp: String) {
    self.kind = kind
    self.sdp = sdp
  }

  /// Whether no section is accepted, as when there is no codec in common (RFC 9429 section 5.3.1): nothing will ever
  /// flow.
  public var rejectsEverything: Bool {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return false }
    return parsed.media.allSatisfy(\.isRejected)
  }

  /// Why an offer's audio has to be rejected whatever its codecs are; nil when it has not.
  public var obstacle: String? {
    guard let parsed = try? SessionDescription(parsing: sdp) else { return nil }
    let audio = parsed.media.indices.filter { parsed.media[$0].type == "audio" && !parsed.media[$0].isRejected }
    guard let first = audio.first else { return "the offer has no audio section that could be accepted" }
    // RFC 9429 section 5.3.1: without multiplexing of RTCP a section is rejected.
    return audio.contains(where: parsed.multiplexesRTCP) ? nil : "\(JSEPError.missingRTCPMux(mLineIndex: first))"
  }
}
