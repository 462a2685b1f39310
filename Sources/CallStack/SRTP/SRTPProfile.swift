/// An SRTP protection profile (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
package enum SRTPProfile: Hashable, Sendable {
  case aes128CMHMACSHA1_80
  case aeadAES128GCM
  case aeadAES256GCM

  /// The number in the `use_srtp` extension.
  package var identifier: UInt16 {
    switch self {
    case .aes128CMHMACSHA1_80: 0x0001
    case .aeadAES128GCM: 0x0007
    case .aeadAES256GCM: 0x0008
    }
  }

  /// Creates the negotiable profile registered under `identifier`.
  package init?(identifier: UInt16) {
    switch identifier {
    case 0x0001: self = .aes128CMHMACSHA1_80
    case 0x0007: self = .aeadAES128GCM
    case 0x0008: self = .aeadAES256GCM
    default: return nil
    }
  }

  /// The name in the IANA registry, which `RTCTransportStats.srtpCipher` reports (RFC 5764 section 4.1.2).
  package var name: String {
    switch self {
    case .aes128CMHMACSHA1_80: "SRTP_AES128_CM_HMAC_SHA1_80"
    case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
    case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
    }
  }

  /// The length of the master key in bytes.
  package var keyLength: Int { self == .aeadAES256GCM ? 32 : 16 }

  /// The length of the master salt in bytes.
  package var saltLength: Int {
    switch self {
    case .aes128CMHMACSHA1_80: 14
    case .aeadAES128GCM, .aeadAES256GCM: 12
    }
  }

  /// The number of bytes that protection adds to an RTP packet.
  package var rtpOverhead: Int {
    switch self {
    case .aes128CMHMACSHA1_80: 10
    case .aeadAES128GCM, .aeadAES256GCM: 16
    }
  }

  /// The number of bytes that protection adds to a compound RTCP packet: the tag and the SRTCP index (RFC 3711
  /// section 3.4).
  package var rtcpOverhead: Int { rtpOverhead + 4 }
}
