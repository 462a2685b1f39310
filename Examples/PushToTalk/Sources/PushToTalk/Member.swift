import CallSim

/// The connection to one other member of the channel. Whoever came last offers.
final class Member: PeerConnectionDelegate {
  let user: String
  let connection: any PeerConnection
  private let link: Link
  private let trace: PeerTrace
  /// Candidates that came before the description they belong to.
  private var early: [MessageContent] = []

  init(_ user: String, _ environment: PeerEnvironment, _ link: Link) {
    self.user = user
    self.link = link
    trace = environment.trace
    connection = environment.connections.make(to: user)
    connection.delegate = self
    attempt { () throws(SessionError) in
      try connection.addTrack()
      // Nobody talks before the floor is granted.
      connection.setTrackEnabled(false)
    }
  }

  func offer() {
    attempt { () throws(SessionError) in
      let offer = try connection.createOffer()
      link.send("offer", to: user, [JSON.Member("sdp", .string(offer.sdp))])
      try connection.setLocalDescription(offer)
    }
  }

  func received(_ message: MessageContent) {
    attempt { () throws(SessionError) in
      switch message.type {
      case "offer":
        try connection.setRemoteDescription(SessionDescriptionText(.offer, sdp: message["sdp"]?.string ?? ""))
        let answer = try connection.createAnswer()
        link.send("answer", to: user, [JSON.Member("sdp", .string(answer.sdp))])
        try connection.setLocalDescription(answer)
        try addEarlyCandidates()
      case "answer":
        try connection.setRemoteDescription(SessionDescriptionText(.answer, sdp: message["sdp"]?.string ?? ""))
        try addEarlyCandidates()
      case "candidate" where !connection.hasRemoteDescription:
        if early.count < 100 { early.append(message) }
      case "candidate": try add(message)
      default: break
      }
    }
  }

  private func addEarlyCandidates() throws(SessionError) {
    for candidate in early { try add(candidate) }
    early = []
  }

  private func add(_ candidate: MessageContent) throws(SessionError) {
    try connection.addICECandidate(candidate["candidate"]?.string, mid: candidate["mid"]?.string, mLineIndex: nil)
  }

  func connection(_ connection: any PeerConnection, did event: SessionEvent) {
    guard case .iceCandidate(let candidate?, let mid, _) = event else { return }
    link.send(
      "candidate", to: user, [JSON.Member("candidate", .string(candidate)), JSON.Member("mid", .string(mid))])
  }

  /// Runs a step of negotiation. A description that cannot be used leaves this member unheard, and the others alone.
  private func attempt(_ step: () throws(SessionError) -> Void) {
    do throws(SessionError) { try step() } catch { trace.event("message.rejected", "reason", "\(error)") }
  }
}
