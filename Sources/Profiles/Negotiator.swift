internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer

/// The negotiation of one peer connection, at a client or at the server: descriptions with revisions, and candidates.
///
/// Both sides may offer. A revision belongs to one exchange: an answer must have that of the offer, and an offer that is
/// not newer than the last exchange is dropped. When two offers cross, one side rolls its own back and offers it again
/// after the other's (RFC 9429 section 4.1.10.2): a client yields to a server.
final class Negotiator: PeerConnectionDelegate {
  /// What changed and must be sent.
  enum Part { case description, answer, ice }

  let connection: any PeerConnection
  /// The last description of this side, as it is sent.
  private(set) var description: JSON?
  /// The answer to the last offer that was taken; nil once the other side shows that it has it.
  private var answer: JSON?
  /// Whether this side gives up its offer when two cross; of both sides, one must.
  var yields: Bool
  /// Called when a part changed.
  var changed: ((Part) -> Void)?
  /// Called for every event of the connection.
  var happened: ((SessionEvent) -> Void)?
  /// Called with the number of candidates that wait for a description.
  var keeps: ((Int) -> Void)?
  private var revision: Int64 = 0
  private var stableRevision: Int64 = 0
  private var wantsOffer = false
  /// Whether ICE is to be restarted, or a restart was not answered yet.
  private var isRestarting = false
  /// Whether the open offer restarts ICE.
  private var isRestartOffered = false
  /// The user name fragment of this side in the last exchange.
  private var fragment: Substring?
  private var candidates: [JSON] = []
  private var iceRevision: Int64 = 0
  /// The offer that the last look found without an answer.
  private var unanswered: JSON?
  /// The candidates of the other side that were taken.
  private var taken: Set<String> = []
  private var early: [JSON] = []

  /// The number of candidates kept until a description comes.
  private static let earlyLimit = 100
  /// The revisions that a peer may name: more than a call has, and few enough to count on from.
  private static let revisions: ClosedRange<Int64> = 0...1_000_000_000

  /// - Parameter yields: whether this side gives up its offer when two cross.
  init(_ connection: any PeerConnection, yields: Bool) {
    self.connection = connection
    self.yields = yields
    connection.delegate = self
  }

  /// The candidates so far, as they are sent; nil without any.
  var ice: JSON? {
    candidates.isEmpty ? nil : ["candidates": .array(candidates), "revision": .integer(iceRevision)]
  }

  /// Returns a part as the fields of a message.
  func fields(of part: Part) -> [(String, JSON?)] {
    switch part {
    case .description: [("description", description)]
    case .answer: [("description", answer)]
    case .ice: [("ice", ice)]
    }
  }

  /// What is said again to a side that may have missed it, in order: the answer that it waits for, and the open offer.
  var missed: [[(String, JSON?)]] {
    let offer = [("description", isOffering ? description : nil), ("ice", ice)]
    return answer == nil ? [offer] : [fields(of: .answer), offer]
  }

  /// Whether an offer of this side waits for its answer.
  var isOffering: Bool { connection.signalingState == .haveLocalOffer }

  /// Returns the offer that waits for its answer, if it did so at the last look already. Look at regular times.
  func overdueOffer() -> JSON? {
    let open = isOffering ? description : nil
    defer { unanswered = open }
    return open == unanswered ? open : nil
  }

  /// Takes the next look as the first.
  func forgetLook() { unanswered = nil }

  // MARK: Offers

  /// Offers as soon as no exchange is open.
  func offer() throws(SessionError) {
    guard connection.signalingState == .stable else {
      wantsOffer = true
      return
    }
    wantsOffer = false
    isRestartOffered = isRestarting
    if isRestarting {
      connection.restartICE()
      candidates = []
    }
    let offer = try connection.createOffer()
    revision = stableRevision + 1
    try connection.setLocalDescription(offer)
    say("offer", offer.sdp)
  }

  /// Offers with new ICE credentials, as soon as no exchange is open.
  func restartICE() throws(SessionError) {
    isRestarting = true
    try offer()
  }

  private func say(_ type: String, _ sdp: String) {
    description = ["type": .string(type), "sdp": .string(sdp), "revision": .integer(revision)]
    if type == "answer" { answer = description }
    changed?(.description)
  }

  /// Returns the ICE user name fragment of a description.
  static func fragment(of sdp: String) -> Substring? {
    let key = "a=ice-ufrag:"
    var rest = sdp[...]
    while !rest.isEmpty {
      let end = rest.utf8.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? rest.endIndex
      if rest[..<end].utf8.starts(with: key.utf8) { return rest[..<end].dropFirst(key.count) }
      rest = rest[end...].dropFirst()
    }
    return nil
  }

  // MARK: What the other side says

  /// Takes a description; one that is out of date changes nothing.
  func receive(_ description: JSON) throws(SessionError) {
    guard let type = description["type"]?.string, let sdp = description["sdp"]?.string,
      let revision = description["revision"]?.integer, Self.revisions.contains(revision)
    else { throw .type("a description has type, sdp and revision") }
    switch type {
    case "answer": try receiveAnswer(sdp, revision)
    case "offer": try receiveOffer(sdp, revision)
    default: throw .type("no description is a '\(type)'")
    }
  }

  private func receiveAnswer(_ sdp: String, _ revision: Int64) throws(SessionError) {
    guard isOffering, revision == self.revision else { return }
    try connection.setRemoteDescription(SessionDescriptionText(.answer, sdp: sdp))
    stableRevision = revision
    answer = nil
    fragment = description?["sdp"]?.string.flatMap(Self.fragment)
    if isRestartOffered { isRestarting = false }
    takeEarly()
    if wantsOffer { try offer() }
  }

  private func receiveOffer(_ sdp: String, _ revision: Int64) throws(SessionError) {
    guard revision > stableRevision else {
      // The answer to it was lost, and an offer that was made since was dropped.
      if revision == stableRevision, answer != nil {
        changed?(.answer)
        if isOffering { changed?(.description) }
      }
      return
    }
    if isOffering {
      guard yields, !Defect.restartGlareIgnoredByBoth.isPlanted else { return }
      try connection.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""))
      wantsOffer = true
    }
    try connection.setRemoteDescription(SessionDescriptionText(.offer, sdp: sdp))
    if Defect.muteLostInRenegotiation.isPlanted { connection.setTrackEnabled(true) }
    let answer = try connection.createAnswer()
    try connection.setLocalDescription(answer)
    self.revision = revision
    stableRevision = revision
    // An offer that restarts ICE restarts it at both sides.
    let own = Self.fragment(of: answer.sdp)
    if own != fragment { isRestarting = false }
    fragment = own
    say("answer", answer.sdp)
    takeEarly()
    if wantsOffer { try offer() }
  }

  /// Takes the candidates of the other side, of which each message repeats all.
  func receive(ice: JSON) {
    for candidate in ice["candidates"]?.array ?? [] {
      let key = "\(candidate)"
      let isUnbounded = Defect.waitingCandidatesUnbounded.isPlanted
      guard !taken.contains(key), taken.count < 1_000 || isUnbounded else { continue }
      taken.insert(key)
      if connection.hasRemoteDescription {
        add(candidate)
      } else if early.count < Self.earlyLimit || isUnbounded {
        early.append(candidate)
        keeps?(early.count)
      }
    }
  }

  private func takeEarly() {
    let waiting = early
    early = []
    for candidate in waiting { add(candidate) }
  }

  private func add(_ candidate: JSON) {
    // One that cannot be used leaves the others.
    try? connection.addICECandidate(candidate["candidate"]?.string, mid: candidate["mid"]?.string, mLineIndex: nil)
  }

  // MARK: PeerConnectionDelegate

  func connection(_ connection: any PeerConnection, did event: SessionEvent) {
    if case .iceCandidate(let text?, let mid, _) = event {
      candidates.append(["candidate": .string(text), "mid": .string(mid)])
      iceRevision += 1
      changed?(.ice)
    }
    happened?(event)
  }
}
