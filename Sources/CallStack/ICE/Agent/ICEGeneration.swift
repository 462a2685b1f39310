internal import CallCore
internal import STUN

/// Everything that an ICE restart replaces: credentials, candidates, pairs, and what they led to.
///
/// During a restart the agent holds two: the old one keeps carrying media and may still be returned to.
struct ICEGeneration {
  struct LocalCandidate {
    var candidate: ICECandidate
    let base: Endpoint
  }

  /// A check that came before the peer's credentials: it was answered, and is acted on once they are known.
  struct EarlyCheck {
    let path: Path
    let remoteUfrag: String
    let priority: UInt32
    let useCandidate: Bool
  }

  let number: Int
  let local: ICECredentials
  let localKey: STUNKey
  private(set) var remote: ICECredentials?
  private(set) var remoteKey: STUNKey?

  var localCandidates: [LocalCandidate] = []
  var remoteCandidates: [ICECandidate] = []
  /// Candidates that came before the credentials they belong to.
  var bufferedCandidates: [ICECandidate] = []
  var earlyChecks: [EarlyCheck] = []
  var localCandidatesEndedAt: Instant?
  var remoteCandidatesEndedAt: Instant?
  var remoteKnownAt: Instant?

  var checklist = Checklist()
  var hasHadPairs = false
  var selected: ICECandidatePair.ID?
  /// The pair that the controlling agent is nominating.
  var nominating: ICECandidatePair.ID?
  /// Paths whose consent ended: never sent on again with these credentials (RFC 7675 section 5.1).
  var revoked: [Path] = []

  init(number: Int, local: ICECredentials) {
    self.number = number
    self.local = local
    localKey = .shortTerm(password: local.password)
  }

  mutating func setRemote(_ credentials: ICECredentials) {
    remote = credentials
    remoteKey = .shortTerm(password: credentials.password)
  }

  var selectedPair: ICECandidatePair? { checklist[selected] }

  func isLocal(_ base: Endpoint) -> Bool { localCandidates.contains { $0.base == base } }

  func hasRevoked(_ path: Path) -> Bool { revoked.contains { $0.local == path.local && $0.remote == path.remote } }
}
