internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer

/// A remote candidate from signalling.
struct RemoteCandidate {
  let text: String
  let mid: String?
  let mLineIndex: Int?
}

/// Candidates of calls whose offer has not arrived yet. The numbers of calls and candidates are limited; the oldest
/// call is dropped first.
struct EarlyCandidates {
  private var calls: [(id: String, sender: String, candidates: [RemoteCandidate])] = []
  private static let callLimit = 4

  mutating func add(_ candidate: RemoteCandidate, to callID: String, from sender: String) {
    if let index = calls.firstIndex(where: { $0.id == callID && $0.sender == sender }) {
      guard calls[index].candidates.count < Call.waitingLimit else { return }
      calls[index].candidates.append(candidate)
    } else {
      if calls.count == Self.callLimit { calls.removeFirst() }
      calls.append((callID, sender, [candidate]))
    }
  }

  mutating func take(_ callID: String, from sender: String) -> [RemoteCandidate] {
    defer { calls.removeAll { $0.id == callID } }
    return calls.first { $0.id == callID && $0.sender == sender }?.candidates ?? []
  }
}

/// One call of the app, from its first message to its end.
final class Call {
  let id: String
  let peer: String
  let isCaller: Bool
  var connection: (any PeerConnection)?
  /// The offer of a ringing call, until it is accepted.
  var pendingOffer: String?
  /// The ring, setup, restart or reset timer: one at a time.
  var timer: PeerTimer? { didSet { oldValue?.cancel() } }
  var socketTimer: PeerTimer? { didSet { oldValue?.cancel() } }
  var isRestarting = false
  /// The time at which our last offer was sent.
  var offeredAt: Instant?
  var hasRestartedAfterFailure = false
  /// Whether the call was placed before the socket was connected: its offer is sent then.
  var wantsOffer = false
  /// Whether the network changed while the socket was down: ICE restarts when it reconnects.
  var wantsRestart = false
  var wasRefusedByTURN = false
  /// The tracks of this user.
  var microphone: Transceiver.ID?
  var camera: Transceiver.ID?
  /// Whether the user muted the call.
  var isMuted = false
  /// Whether CallKit holds the call.
  var isHeld = false
  /// The id of the call at CallKit: that of the user's own call where another's took its place.
  var callKitID: String
  var isCameraOff = false
  /// The candidates of both sides that wait for the user to accept; nil while none must wait.
  var withheld: [() -> Void]?
  /// This user's own call in whose place this one came, if it was not closed.
  var yielded: Call?
  private(set) var waitingCandidates: [RemoteCandidate] = []

  /// The limit on stored candidates: more than a correct peer sends before its description arrives.
  static let waitingLimit = 100

  init(id: String, peer: String, isCaller: Bool) {
    self.id = id
    callKitID = id
    self.peer = peer
    self.isCaller = isCaller
  }

  /// Adds a candidate, or stores it until there is a remote description.
  func addRemoteCandidate(_ candidate: RemoteCandidate, onBad: () -> Void) {
    guard let connection, connection.hasRemoteDescription else {
      if Defect.earlyCandidateDropped.isPlanted { return }
      if waitingCandidates.count < Self.waitingLimit || Defect.waitingCandidatesUnbounded.isPlanted {
        waitingCandidates.append(candidate)
      }
      return
    }
    do throws(SessionError) {
      try connection.addICECandidate(candidate.text, mid: candidate.mid, mLineIndex: candidate.mLineIndex)
    } catch {
      onBad()
    }
  }

  func flushRemoteCandidates(onBad: () -> Void) {
    let waiting = waitingCandidates
    waitingCandidates = []
    for candidate in waiting {
      addRemoteCandidate(candidate, onBad: onBad)
    }
  }

  /// Passes a candidate on, or keeps it until the user accepts.
  func pass(_ candidate: @escaping () -> Void) {
    if withheld == nil { candidate() } else { withheld?.append(candidate) }
  }

  func close() {
    withheld = nil
    timer = nil
    if !Defect.lossTimerLeaks.isPlanted { socketTimer = nil }
    yielded?.close()
    connection?.close()
    connection = nil
  }
}
