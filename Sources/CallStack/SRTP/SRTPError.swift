/// The reason why a packet was not protected or not accepted.
package enum SRTPError: Error, Hashable, Sendable {
  /// The packet is not RTP or RTCP, or is too short for its header and the profile.
  case malformed
  /// The tag does not match: the packet is forged, damaged, or protected with another key or rollover counter.
  case authenticationFailed
  /// The packet was received before.
  case replayed
  /// The packet is older than the replay window.
  case tooOld
  /// The buffer has no room for the tag.
  case noRoom
  /// The key must not protect more packets (RFC 3711 section 9.2).
  case keyExhausted
  /// The master key or salt does not have the profile's length.
  case invalidKey
  /// No packet of this synchronisation source has been protected or accepted.
  case unknownSource
  /// The SRTCP packet is authentic and not encrypted (RFC 3711 section 3.4), which no profile here allows.
  case unencrypted
}

extension SRTPError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformed: "the packet is neither RTP nor RTCP"
    case .authenticationFailed: "the packet's authentication tag is wrong"
    case .replayed: "the packet was received before"
    case .tooOld: "the packet is older than the replay window"
    case .noRoom: "there is no room for the authentication tag"
    case .keyExhausted: "the key may protect no more packets"
    case .invalidKey: "the master key or salt has the wrong length"
    case .unknownSource: "the synchronisation source is unknown"
    case .unencrypted: "the SRTCP packet is not encrypted"
    }
  }
}
