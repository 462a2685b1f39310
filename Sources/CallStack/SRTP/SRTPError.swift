internal import CSRTP

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
  /// libsrtp failed for another reason; the number is its `srtp_err_status_t`.
  case library(UInt32)

  init(_ status: srtp_err_status_t) {
    switch status {
    case srtp_err_status_auth_fail, srtp_err_status_cipher_fail: self = .authenticationFailed
    case srtp_err_status_replay_fail: self = .replayed
    case srtp_err_status_replay_old: self = .tooOld
    case srtp_err_status_parse_err, srtp_err_status_bad_param: self = .malformed
    case srtp_err_status_key_expired: self = .keyExhausted
    case srtp_err_status_no_ctx: self = .unknownSource
    default: self = .library(status.rawValue)
    }
  }
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
    case .library(let status): "libsrtp failed with status \(status)"
    }
  }
}
