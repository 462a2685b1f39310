package import CallCore

/// RTCIceTransportState; the raw values are W3C's.
public enum ICEConnectionState: String, Hashable, Sendable, CaseIterable {
  /// No remote candidate is known.
  case new
  /// Candidate pairs are checked, and none works yet.
  case checking
  /// A pair works, and others are still checked.
  case connected
  /// A pair works, and all checks are done.
  case completed
  /// No answer came from the far side for a while.
  case disconnected
  /// No pair works.
  case failed
  /// The agent was closed.
  case closed
}

/// RTCIceRole.
package enum ICERole: String, Hashable, Sendable {
  case controlling, controlled

  var opposite: ICERole { self == .controlling ? .controlled : .controlling }
}

/// Why a check counts for nothing.
package enum ICECheckFailure: Hashable, Sendable {
  /// No response for ``ICESettings/inactiveTimeout``.
  case timedOut
  /// An error response with this code.
  case error(code: UInt16)
  /// The response took another way than the request (RFC 8445 section 7.2.5.2.1).
  case nonSymmetric
  /// Consent ended.
  case consentExpired
  /// The TURN server of the local candidate carries nothing to the remote one: it said so with this code, or said nothing
  /// (701).
  case relayRefused(code: UInt16)
}

extension ICECheckFailure: CustomStringConvertible {
  /// The word in traces.
  package var description: String {
    switch self {
    case .timedOut: "timed-out"
    case .error(let code): "error-\(code)"
    case .nonSymmetric: "non-symmetric"
    case .consentExpired: "consent-expired"
    case .relayRefused(let code): "relay-refused-\(code)"
    }
  }
}

/// What an agent tells its driver, in order.
package enum ICEEvent: Sendable {
  case connectionStateChanged(from: ICEConnectionState, to: ICEConnectionState)
  /// Media goes over this pair from now on; nil when the selected pair is gone and no other was agreed on yet.
  case selectedPairChanged(ICECandidatePair?)
  case roleChanged(ICERole)
  /// A mapped address that no signalled candidate had: ours when `isLocal`, otherwise the peer's.
  case peerReflexiveDiscovered(ICECandidate, isLocal: Bool)
  case consentExpired(ICECandidatePair)
  case checkSent(ICECandidatePair.ID, nominating: Bool)
  case checkSucceeded(ICECandidatePair.ID, roundTripTime: Interval)
  case checkFailed(ICECandidatePair, ICECheckFailure)
  case pairFormed(ICECandidatePair)
  case pairRemoved(ICECandidatePair.ID)
  /// A signalled candidate is of no use.
  case remoteCandidateRefused(ICECandidate, ICECandidateRefusal)
}

/// A caller's mistake.
package enum ICEError: Error, Hashable, Sendable {
  case closed
  /// Characters or lengths that RFC 8839 section 5.4 does not allow.
  case invalidCredentials
  /// The peer's credentials differ from the ones in use: it restarted, so call ``ICEAgent/restart(at:)`` first.
  case remoteRestarted
  /// A candidate that is not numeric UDP cannot be local.
  case unusableLocalCandidate
  /// There is no restart to take back.
  case notRestarting
}

extension ICEError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .closed: "the ICE agent is closed"
    case .invalidCredentials:
      "a=ice-ufrag wants 4 to 256 and a=ice-pwd 22 to 256 letters, digits, '+' and '/'"
    case .remoteRestarted: "the ICE credentials are new, and there was no ICE restart"
    case .unusableLocalCandidate: "a local candidate wants a UDP transport and a numeric address"
    case .notRestarting: "there is no ICE restart to take back"
    }
  }
}

/// Why an agent wants to be woken: the reason in its `Wake`.
package enum ICEWakeReason: UInt8, Sendable {
  case check = 1, liveness, consent, nomination, keepalive
}

/// Datagrams and candidates that changed nothing, by cause.
package struct ICECounters: Hashable, Sendable {
  /// Not STUN, not Binding, or a request without what RFC 8445 demands.
  package var malformed: UInt64 = 0
  package var wrongIntegrity: UInt64 = 0
  /// Checks for a user name that this agent never had, or has no more.
  package var unknownUfrag: UInt64 = 0
  /// Checks and candidates of another generation of the peer.
  package var wrongGeneration: UInt64 = 0
  /// Checks to a socket that is no candidate (any more).
  package var unknownLocal: UInt64 = 0
  /// Responses to nothing, or to what was forgotten.
  package var unexpectedResponses: UInt64 = 0
  package var roleConflicts: UInt64 = 0
  /// 487 responses that a role change had overtaken.
  package var staleRoleConflicts: UInt64 = 0
  /// Remote candidates that are not paired (``ICECandidateRefusal``).
  package var unusableCandidates: UInt64 = 0
}
