internal import CallCore
internal import STUN

/// Everything that an ICE restart replaces: credentials, candidates, pairs, and what they led to.
///
/// During a restart the agent holds two: the old one keeps carrying media, with all its pairs, and may still be returned
/// to. After it the old one answers checks for as long as the peer sends any.
struct ICEGeneration {
  struct LocalCandidate {
    var candidate: ICECandidate
    let base: Endpoint
    let network: ICENetwork?
    /// Whether its interface is gone.
    var isWithdrawn = false
  }

  /// A check that came before the peer's credentials: it was answered, and is acted on once they are known.
  struct EarlyCheck {
    let path: Path
    let remoteUfrag: String
    let priority: UInt32
    let useCandidate: Bool
    /// GOOG-NETWORK-INFO.
    let networkInfo: UInt32?
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
  /// Whether one of its pairs was ever selected.
  var hasBeenUsed = false
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

  func isLocal(_ base: Endpoint) -> Bool { localCandidates.contains { $0.base == base } }

  func hasRevoked(_ path: Path) -> Bool { revoked.contains { $0.local == path.local && $0.remote == path.remote } }
}
