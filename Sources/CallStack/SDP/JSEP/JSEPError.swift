/// Why a call on ``JSEPSession`` was refused. A refused call has changed nothing.
public enum JSEPError: Error, Hashable, Sendable {
  // The caller's mistakes.

  /// The method is not allowed in this state (W3C: InvalidStateError).
  case wrongState(SignalingState)
  /// The description to set is not the one created last (W3C: InvalidModificationError).
  case modifiedDescription
  case unknownTransceiver
  case transceiverStopped
  /// An ICE restart was asked for or must be answered, and the credentials are the old ones.
  case credentialsUnchanged
  /// The answer to an offer without ICE restart brings new credentials.
  case credentialsChanged
  /// Nothing to offer: no transceiver, and no section from before.
  case nothingToNegotiate

  // What is wrong with a remote description.

  /// An accepted section has no codec that was offered, or a transceiver has none to offer.
  case noCommonCodec
  case duplicateMid(String)
  /// An answer or a later offer does not keep the sections and their order (RFC 3264 §6, §8).
  case mLineMismatch(mLineIndex: Int)
  /// The BUNDLE group names a section there is none of, or that was not offered (RFC 9143 §7).
  case invalidBundleGroup(mid: String)
  /// The answer accepts a section outside the BUNDLE group, which max-bundle has no transport for.
  case notBundled(mLineIndex: Int)
  /// Bundled sections give one payload type two meanings (RFC 9143 §10.1.1).
  case payloadTypeConflict(UInt8)
  /// Bundled sections give one extension identifier two meanings (RFC 9143 §10.1.2).
  case extensionConflict(id: UInt16)
  case missingICECredentials(mLineIndex: Int)
  case missingFingerprint(mLineIndex: Int)
  /// The answer does without RTCP multiplexing, which our policy requires (RFC 9429 §4.1.1).
  case missingRTCPMux(mLineIndex: Int)
  /// The answer's `a=setup` does not answer the offer's (RFC 8842 §5.3).
  case invalidSetup(SetupRole)
  /// The DTLS role is turned round under a running association (RFC 8842 §5.5).
  case setupChanged

  // Trickled candidates.

  case noRemoteDescription
  /// The candidate names no section of the remote description.
  case unknownSection
  /// The candidate belongs to another generation of credentials (RFC 8839 §4.4.1).
  case unknownUsernameFragment
}
