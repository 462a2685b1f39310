internal import CallCore
internal import STUN

/// The state that an ICE restart replaces: credentials, candidates, pairs and their results.
///
/// During a restart the agent holds two generations: the old one keeps carrying media, with all its pairs, and may
/// become current again. After the restart it responds to checks as long as the peer sends any.
struct ICEGeneration {
  struct LocalCandidate {
    var candidate: ICECandidate
    let base: Endpoint
    let network: ICENetwork?
    /// Whether the interface is gone.
    var isWithdrawn = false
  }

  /// A check that arrived before the peer's credentials. It was answered, and is processed once they are known.
  struct EarlyCheck {
    let path: Path
    let remoteUfrag: String
    let priority: UInt32
    let useCandidate: Bool
    /// The value of GOOG-NETWORK-INFO.
    let networkInfo: UInt32?
  }

  let number: Int
  let local: ICECredentials
  let localKey: STUNKey
  private(set) var remote: ICECredentials?
  private(set) var remoteKey: STUNKey?

  var localCandidates: [LocalCandidate] = []
  var remoteCandidates: [ICECandidate] = []
  /// Candidates that arrived before their credentials.
  var bufferedCandidates: [ICECandidate] = []
  var earlyChecks: [EarlyCheck] = []
  var localCandidatesEndedAt: Instant?
  var remoteCandidatesEndedAt: Instant?
  var remoteKnownAt: Instant?

  var checklist = Checklist()
  var hasHadPairs = false
  /// Whether one of the pairs was ever selected.
  var hasBeenUsed = false
  /// Paths whose consent ended: these credentials are never used on them again (RFC 7675 section 5.1).
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
