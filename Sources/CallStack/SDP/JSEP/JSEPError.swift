/// The reason why a call of ``JSEPSession`` failed. A failed call changes nothing.
package enum JSEPError: Error, Hashable, Sendable {
  // Errors of the caller.

  /// The method is not allowed in this state (W3C: InvalidStateError).
  case wrongState(SignalingState)
  /// The description to set is not the one created last (W3C: InvalidModificationError).
  case modifiedDescription
  case unknownTransceiver
  case transceiverStopped
  /// An ICE restart is pending, but the credentials are the old ones.
  case credentialsUnchanged
  /// The answer to an offer without an ICE restart has new credentials.
  case credentialsChanged
  /// There is nothing to offer: no transceiver and no earlier section.
  case nothingToNegotiate
  /// The session is configured without data channels.
  case dataUnsupported

  // Errors of a remote description.

  /// An accepted section has no offered codec, or a transceiver has none to offer.
  case noCommonCodec
  case duplicateMid(String)
  /// An answer or a later offer does not keep the sections and their order (RFC 3264 §6, §8).
  case mLineMismatch(mLineIndex: Int)
  /// The BUNDLE group names a section that does not exist or was not offered (RFC 9143 §7).
  case invalidBundleGroup(mid: String)
  /// The answer accepts a section outside the BUNDLE group, for which max-bundle has no transport.
  case notBundled(mLineIndex: Int)
  /// Bundled sections give one payload type two meanings (RFC 9143 §10.1.1).
  case payloadTypeConflict(UInt8)
  /// RTCP shares the port, and packets of this payload type would be mistaken for RTCP (RFC 5761 §4).
  case reservedPayloadType(UInt8, mLineIndex: Int)
  /// Bundled sections give one extension identifier two meanings (RFC 9143 §10.1.2).
  case extensionConflict(id: UInt16)
  case missingICECredentials(mLineIndex: Int)
  case missingFingerprint(mLineIndex: Int)
  /// The hash function is unknown, or the digest does not have its length (RFC 8122 §5).
  case unusableFingerprint(mLineIndex: Int)
  /// The remote side does not multiplex RTCP, which our policy requires (RFC 9429 §4.1.1).
  case missingRTCPMux(mLineIndex: Int)
  /// The answer's `a=setup` does not match the offer's (RFC 8842 §5.3).
  case invalidSetup(SetupRole)
  /// An offer swaps the DTLS roles of a running association (RFC 8842 §5.5).
  case setupChanged

  /// The answer accepts data channels without describing an SCTP association (RFC 8841 §5).
  case unusableDataSection(mLineIndex: Int)

  // Trickled candidates.

  case noRemoteDescription
  /// The candidate names no section of the remote description.
  case unknownSection
  /// The candidate belongs to another generation of credentials (RFC 8839 §4.4.1).
  case unknownUsernameFragment
}

extension JSEPError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .wrongState(let state): "not allowed in the signalling state \(state.rawValue)"
    case .modifiedDescription: "the description is not the one that was created last; set it as it was created"
    case .unknownTransceiver: "there is no such transceiver"
    case .transceiverStopped: "the transceiver is stopped"
    case .credentialsUnchanged: "an ICE restart needs new credentials"
    case .credentialsChanged: "the answer has new ICE credentials, but the offer did not ask for an ICE restart"
    case .nothingToNegotiate: "there is nothing to offer; add a track, a transceiver or a data channel first"
    case .dataUnsupported: "data channels are not supported"
    case .noCommonCodec: "the two sides have no codec in common"
    case .duplicateMid(let mid): "a=mid:\(mid) is in two sections; each section needs its own"
    case .mLineMismatch(let index):
      "section \(index) differs from the previous description; sections keep their number, order, kind and mid"
    case .invalidBundleGroup(let mid): "BUNDLE names \(mid), which is not a section that can be bundled"
    case .notBundled(let index): "section \(index) is accepted outside the BUNDLE group; all must share one transport"
    case .payloadTypeConflict(let type): "payload type \(type) means two things in bundled sections"
    case .reservedPayloadType(let type, let index):
      "section \(index) has payload type \(type); with a=rtcp-mux, 64 to 95 are reserved for RTCP"
    case .extensionConflict(let id): "a=extmap:\(id) means two things in bundled sections"
    case .missingICECredentials(let index): "section \(index) wants a=ice-ufrag and a=ice-pwd"
    case .missingFingerprint(let index): "section \(index) wants a=fingerprint: media is protected with DTLS-SRTP"
    case .unusableFingerprint(let index):
      "section \(index) has no a=fingerprint of a supported hash function, such as sha-256, with its length"
    case .missingRTCPMux(let index): "section \(index) wants a=rtcp-mux: RTP and RTCP share a port"
    case .invalidSetup(let role):
      "a=setup:\(role.rawValue) is not allowed here; an offer has actpass, an answer active or passive"
    case .setupChanged: "a=setup swaps the roles of a running DTLS association"
    case .unusableDataSection(let index):
      "section \(index) accepts data channels, but does not describe webrtc-datachannel over UDP/DTLS/SCTP with a port"
    case .noRemoteDescription: "there is no remote description that the candidate could belong to"
    case .unknownSection: "the candidate names no section of the remote description"
    case .unknownUsernameFragment: "the candidate's ufrag does not belong to a current description"
    }
  }

  /// Returns the line of a remote description that caused the error, from 1; nil if there is none.
  package func line(in sdp: String) -> Int? {
    guard let place else { return nil }
    let lines = sdp.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let alike = lines.indices.filter { index in
      let line = lines[index].last == UInt8(ascii: "\r") ? lines[index].dropLast() : lines[index]
      return place.isWhole ? line.elementsEqual(place.text.utf8) : line.starts(with: place.text.utf8)
    }
    return place.ordinal < alike.count ? alike[place.ordinal] + 1 : nil
  }

  /// The line's text or prefix, and the number of such lines before it.
  private var place: (text: String, isWhole: Bool, ordinal: Int)? {
    switch self {
    case .mLineMismatch(let index), .notBundled(let index), .missingICECredentials(let index),
      .missingFingerprint(let index), .unusableFingerprint(let index), .missingRTCPMux(let index),
      .unusableDataSection(let index), .reservedPayloadType(_, let index):
      ("m=", false, index)
    case .duplicateMid(let mid): ("a=mid:\(mid)", true, 1)
    case .invalidBundleGroup: ("a=group:BUNDLE", false, 0)
    case .invalidSetup(let role): ("a=setup:\(role.rawValue)", true, 0)
    default: nil
    }
  }
}
