package import CallCore

/// The W3C's RTCIceTransportState, with its raw values.
public enum ICEConnectionState: String, Hashable, Sendable, CaseIterable {
  /// No remote candidate is known.
  case new
  /// Candidate pairs are being checked, and none works yet.
  case checking
  /// A pair works, and others are still being checked.
  case connected
  /// A pair works, and all checks are done.
  case completed
  /// No response has come from the peer for a while.
  case disconnected
  /// No pair works.
  case failed
  /// The agent was closed.
  case closed
}

/// The W3C's RTCIceRole.
package enum ICERole: String, Hashable, Sendable {
  case controlling, controlled

  var opposite: ICERole { self == .controlling ? .controlled : .controlling }
}

/// The reason why a connectivity check failed.
package enum ICECheckFailure: Hashable, Sendable {
  /// There was no response for ``ICESettings/inactiveTimeout``.
  case timedOut
  /// The peer sent an error response with this code.
  case error(code: UInt16)
  /// The response took another path than the request (RFC 8445 section 7.2.5.2.1).
  case nonSymmetric
  /// Consent ended.
  case consentExpired
  /// The TURN server of the local candidate does not relay to the remote one: it responded with this code, or not at
  /// all (701).
  case relayRefused(code: UInt16)
}

extension ICECheckFailure: CustomStringConvertible {
  /// The name in traces.
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

/// The events of an agent, in order.
package enum ICEEvent: Sendable {
  case connectionStateChanged(from: ICEConnectionState, to: ICEConnectionState)
  /// Media uses this pair from now on; nil when the selected pair is gone and no other has been selected yet.
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
  /// A signalled candidate cannot be used.
  case remoteCandidateRefused(ICECandidate, ICECandidateRefusal)
}

/// An error in the use of an agent.
package enum ICEError: Error, Hashable, Sendable {
  case closed
  /// The credentials have characters or lengths that RFC 8839 section 5.4 does not allow.
  case invalidCredentials
  /// The peer's credentials differ from the current ones: it restarted, so call ``ICEAgent/restart(at:)`` first.
  case remoteRestarted
  /// A local candidate is not UDP with a numeric address.
  case unusableLocalCandidate
  /// There is no restart to cancel.
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

/// The reason why an agent sets a timer, stored in its `Wake`.
package enum ICEWakeReason: UInt8, Sendable {
  case check = 1, liveness, consent, nomination, keepalive
}

/// Ignored datagrams and candidates, by cause.
package struct ICECounters: Hashable, Sendable {
  /// Datagrams that are not STUN or not Binding, and requests that lack an attribute required by RFC 8445.
  package var malformed: UInt64 = 0
  package var wrongIntegrity: UInt64 = 0
  /// Checks for a user name fragment that this agent does not have or no longer has.
  package var unknownUfrag: UInt64 = 0
  /// Checks and candidates of another generation of the peer.
  package var wrongGeneration: UInt64 = 0
  /// Checks to a socket that is not, or no longer, a candidate.
  package var unknownLocal: UInt64 = 0
  /// Responses without a pending request.
  package var unexpectedResponses: UInt64 = 0
  package var roleConflicts: UInt64 = 0
  /// 487 responses to checks sent in an earlier role.
  package var staleRoleConflicts: UInt64 = 0
  /// Remote candidates that are not paired (``ICECandidateRefusal``).
  package var unusableCandidates: UInt64 = 0
}
