package import SRTP

/// The role in the handshake: `active` in SDP is the client (RFC 5763 section 5).
package enum DTLSRole: String, Sendable { case client, server }

/// The W3C's `RTCDtlsTransportState`.
public enum DTLSTransportState: String, Sendable, CaseIterable {
  /// The handshake has not begun.
  case new
  /// The handshake is in progress.
  case connecting
  /// The handshake is complete, and the remote certificate is verified.
  case connected
  /// The transport was closed.
  case closed
  /// The handshake failed.
  case failed
}

/// An error in the use of a transport.
package enum DTLSError: Error, Hashable, Sendable {
  /// ``DTLSTransport/start(as:remoteFingerprints:at:)`` was called already.
  case alreadyStarted
  /// The transport is closed or failed.
  case ended
  /// There is no fingerprint to compare the remote certificate with.
  case noFingerprint
}

extension DTLSError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .alreadyStarted: "the DTLS handshake was started already"
    case .ended: "the DTLS association is over"
    case .noFingerprint: "there is no a=fingerprint to compare the certificate with"
    }
  }
}

/// The reason why a transport is ``DTLSTransportState/failed``.
package enum DTLSFailure: Hashable, Sendable {
  /// The remote certificate does not match any announced fingerprint.
  case fingerprintMismatch
  /// The peer supports none of our SRTP profiles, or not DTLS-SRTP at all.
  case noCommonSRTPProfile
  /// The handshake took too long, or had too many retransmissions.
  case handshakeTimeout
  /// The peer sent a fatal alert.
  case alertReceived(TLSAlert)
  /// The peer violated the protocol, and was sent this alert.
  case protocolViolation(TLSAlert)
  /// The library failed by itself.
  case internalError
}

extension DTLSFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .fingerprintMismatch: "fingerprint-mismatch"
    case .noCommonSRTPProfile: "no-common-srtp-profile"
    case .handshakeTimeout: "handshake-timeout"
    case .alertReceived(let alert): "alert-received: \(alert)"
    case .protocolViolation(let alert): "protocol-violation: \(alert)"
    case .internalError: "internal-error"
    }
  }
}

/// The result of a completed handshake.
package struct DTLSSession: Hashable, Sendable {
  package let srtpKeys: SRTPKeys
  /// The IANA name of the cipher suite, as `RTCTransportStats.dtlsCipher` reports it.
  package let cipher: String
  /// The version in four hexadecimal digits, as `RTCTransportStats.tlsVersion` reports it: `FEFD` is DTLS 1.2.
  package let version: String
  /// The remote certificate in DER.
  package let remoteCertificate: [UInt8]
}

/// The counters of a transport since its creation.
package struct DTLSStatistics: Hashable, Sendable {
  package var datagramsSent = 0
  package var datagramsReceived = 0
  /// Expired timers, each of which retransmits one flight.
  package var retransmissions = 0
  /// Malformed datagrams. If the first records of one are valid, those are still read.
  package var malformed = 0
  /// Datagrams from endpoints that were not admitted.
  package var offPath = 0
  /// Datagrams that arrived before the start and did not fit the early buffer.
  package var earlyDropped = 0
  /// ClientHellos from before the start that reached a client: the peer began before it knew the roles.
  package var strayHellos = 0
  /// Bytes of received application data, whether it was used or not.
  package var applicationBytes = 0
}
