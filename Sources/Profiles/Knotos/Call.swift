internal import CallSession
internal import VirtualPeer

/// One call of the app, from its first message to its end.
final class Call {
  let id: String
  let peer: String
  let isCaller: Bool
  var connection: PeerConnection?
  /// The offer that rings, until it is accepted.
  var pendingOffer: String?
  /// The ring, setup, restart or reset timer: one at a time.
  var timer: PeerTimer? { didSet { oldValue?.cancel() } }
  var socketTimer: PeerTimer? { didSet { oldValue?.cancel() } }
  var isRestarting = false
  var hasRestartedAfterFailure = false
  /// The call was placed before the socket was up: its offer leaves when it is.
  var wantsOffer = false
  /// The network changed while the socket was down: restart when it is back.
  var wantsRestart = false
  var wasRefusedByTURN = false
  private var waitingCandidates: [(text: String, mid: String?, mLineIndex: Int?)] = []

  /// More candidates than any honest peer sends before its description arrives.
  private static let waitingLimit = 100

  init(id: String, peer: String, isCaller: Bool) {
    self.id = id
    self.peer = peer
    self.isCaller = isCaller
  }

  /// Adds a candidate, or keeps it until there is a description to add it to.
  func addRemoteCandidate(_ text: String, mid: String?, mLineIndex: Int?, onBad: () -> Void) {
    guard let connection, connection.hasRemoteDescription else {
      if waitingCandidates.count < Self.waitingLimit { waitingCandidates.append((text, mid, mLineIndex)) }
      return
    }
    do throws(SessionError) {
      try connection.addICECandidate(text, mid: mid, mLineIndex: mLineIndex)
    } catch {
      onBad()
    }
  }

  func flushRemoteCandidates(onBad: () -> Void) {
    let waiting = waitingCandidates
    waitingCandidates = []
    for candidate in waiting {
      addRemoteCandidate(candidate.text, mid: candidate.mid, mLineIndex: candidate.mLineIndex, onBad: onBad)
    }
  }

  func close() {
    timer = nil
    socketTimer = nil
    connection?.close()
    connection = nil
  }
}
