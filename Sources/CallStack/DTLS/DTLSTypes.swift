package import SRTP

/// Which end of the handshake this is: `active` in SDP is the client (RFC 5763 section 5).
package enum DTLSRole: String, Sendable { case client, server }

/// `RTCDtlsTransportState`.
public enum DTLSTransportState: String, Sendable, CaseIterable {
  /// The handshake has not begun.
  case new
  /// The handshake is in progress.
  case connecting
  /// The handshake is done and the far side's certificate verified.
  case connected
  /// The transport was closed.
  case closed
  /// The handshake failed.
  case failed
}

/// A caller's mistake.
package enum DTLSError: Error, Hashable, Sendable {
  /// ``DTLSTransport/start(as:remoteFingerprints:at:)`` was called before.
  case alreadyStarted
  /// The transport is closed or failed.
  case ended
  /// There is no fingerprint to hold the remote certificate against.
  case noFingerprint
}

extension DTLSError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .alreadyStarted: "the DTLS handshake was started before"
    case .ended: "the DTLS association is over"
    case .noFingerprint: "there is no a=fingerprint to hold the certificate against"
    }
  }
}

/// Why a transport is ``DTLSTransportState/failed``.
package enum DTLSFailure: Hashable, Sendable {
  /// The remote certificate matches none of the announced fingerprints.
  case fingerprintMismatch
  /// The remote end supports none of our SRTP profiles, or does not speak DTLS-SRTP.
  case noCommonSRTPProfile
  /// The handshake took too long, or was retransmitted too often.
  case handshakeTimeout
  /// The remote end gave up.
  case alertReceived(TLSAlert)
  /// The remote end broke the protocol, and was told so.
  case protocolViolation(TLSAlert)
}

extension DTLSFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .fingerprintMismatch: "fingerprint-mismatch"
    case .noCommonSRTPProfile: "no-common-srtp-profile"
    case .handshakeTimeout: "handshake-timeout"
    case .alertReceived(let alert): "alert-received: \(alert)"
    case .protocolViolation(let alert): "protocol-violation: \(alert)"
    }
  }
}

/// What a completed handshake agreed on.
package struct DTLSSession: Hashable, Sendable {
  package let srtpKeys: SRTPKeys
  /// The IANA name of the cipher suite, as `RTCTransportStats.dtlsCipher` reports it.
  package let cipher: String
  /// The version in four hexadecimal digits, as `RTCTransportStats.tlsVersion` reports it: `FEFD` is DTLS 1.2.
  package let version: String
  /// The remote certificate in DER.
  package let remoteCertificate: [UInt8]
}

/// What happened on a transport, counted since it was made.
package struct DTLSStatistics: Hashable, Sendable {
  package var datagramsSent = 0
  package var datagramsReceived = 0
  /// Expired timers, each of which repeats one flight.
  package var retransmissions = 0
  /// Datagrams that are no sequence of DTLS records; one that begins with good records still has those read.
  package var malformed = 0
  /// Datagrams from an endpoint that was not admitted.
  package var offPath = 0
  /// Datagrams that came before the transport could use them and found the early buffer full.
  package var earlyDropped = 0
  /// ClientHellos from before the start that turned out to be for a client: the far side began before it knew the roles.
  package var strayHellos = 0
  /// Bytes of application data, which nothing here reads.
  package var applicationBytes = 0
}
