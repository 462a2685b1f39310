internal import CallCore
package import CallSession
internal import DTLS
package import Formats
internal import ICE
internal import SDP
internal import Statistics

/// One call from first description to end: the connection, its files, its statistics, and why it ended.
package final class LiveCall {
  /// Gets JSON lines and descriptions, for programs.
  package var output: (String) -> Void = { _ in }
  /// Gets a description, complete with candidates.
  package var onLocalDescription: ((SessionDescriptionText) -> Void)?
  package var onEnd: ((CallEnd) -> Void)?

  package let connection: LiveConnection
  package private(set) var end: CallEnd?
  /// The first of its files that could not be written to the end.
  package private(set) var lostFile: FileError?
  package private(set) var selectedPair: (local: CandidateSummary, remote: CandidateSummary)?

  private let settings: CallSettings
  private let loop: SocketLoop
  private var recording: WAVFile?
  private var keyLog: FileSink?
  private var setupTimer = LoopTimer {}
  private var durationTimer = LoopTimer {}
  private var statsTimer = LoopTimer {}
  private var gatheringTimer = LoopTimer {}
  private var statsLine = StatsLine()
  private var connectedAt: Instant?
  /// Whether a description waits for its candidates.
  private var isGathering = false
  private var dtlsFailure: String?
  private var serverError: String?
  private var wasRefusedByServer = false
  /// Until when a person may carry the answer; nil when nobody does.
  private var isCarriedUntil: Instant?

  /// - Throws: what ``CallSettings/makeConnection(on:)`` does.
  package init(_ settings: CallSettings, loop: SocketLoop) throws {
    self.settings = settings
    self.loop = loop
    connection = try settings.makeConnection(on: loop)
    setupTimer = loop.makeTimer { [unowned self] in checkSetup() }
    durationTimer = loop.makeTimer { [unowned self] in hangUp() }
    statsTimer = loop.makeTimer { [unowned self] in showStatistics() }
    gatheringTimer = loop.makeTimer { [unowned self] in log("gathering candidates; not every server has answered yet") }
    connection.onEvent = { [unowned self] in handle($0) }
    connection.onObservation = { [unowned self] in note($0) }
    connection.onAudio = { [unowned self] in recording?.append($0) }
  }

  deinit { for timer in timers { loop.remove(timer) } }

  private var timers: [LoopTimer] { [setupTimer, durationTimer, statsTimer, gatheringTimer] }

  private var log: (String) -> Void { settings.log }
  private var wasUp: Bool { connectedAt != nil }

  /// Begins the recording and the key log, and with that empties what there was under their names: to be called once the
  /// other side's description was accepted.
  package func openFiles() throws(FileError) {
    if let path = settings.record { recording = try WAVFile(path: path) }
    if let path = settings.keyLog { keyLog = try FileSink(path: path, keepsEveryLine: true) }
  }

  // MARK: Descriptions

  /// Makes an offer; ``onLocalDescription`` gets it when gathering is complete.
  package func offer() throws(SessionError) {
    try connection.addTrack()
    try connection.setLocalDescription(connection.createOffer())
    awaitCandidates()
  }

  /// Takes an offer and makes the answer; ``onLocalDescription`` gets it when gathering is complete. One that rejects
  /// all that was offered needs no candidates, and is the end of the call.
  package func answer(_ offer: String) throws(SessionError) {
    try connection.setRemoteDescription(SessionDescriptionText(.offer, sdp: offer))
    try connection.addTrack()
    let answer = try connection.createAnswer()
    try connection.setLocalDescription(answer)
    guard !answer.rejectsEverything else {
      onLocalDescription?(answer)
      return finish(.codecMismatch, detail: SessionDescriptionText(.offer, sdp: offer).obstacle)
    }
    awaitCandidates()
  }

  private func awaitCandidates() {
    isGathering = true
    gatheringTimer.deadline = loop.now + .seconds(2)
  }

  /// From now on the answer, and the connection, may take as long as ``CallSettings/setupTimeout``.
  func limitSetup() { setupTimer.deadline = loop.now + settings.setupTimeout }

  /// The same from the other side's first check on: somebody has yet to carry our answer there.
  func limitSetupOnceAnswerArrives() {
    guard end == nil else { return }
    isCarriedUntil = loop.now + settings.carryingTimeout
    setupTimer.deadline = loop.now + Self.carryingCheckPeriod
  }

  private static let carryingCheckPeriod = Interval.seconds(1)

  private func checkSetup() {
    guard let limit = isCarriedUntil, loop.now < limit else { return finish(.setupTimeout) }
    guard isAnswerUnderWay else {
      isCarriedUntil = nil
      return limitSetup()
    }
    setupTimer.deadline = loop.now + Self.carryingCheckPeriod
  }

  /// Whether somebody carries our answer, and the other side cannot have it yet.
  private var isAnswerUnderWay: Bool {
    guard isCarriedUntil != nil else { return false }
    return !connection.statistics().entries.contains { entry in
      guard case .integer(let count)? = entry["requestsReceived"] else { return false }
      return count > 0
    }
  }

  package func accept(answer: String) throws(SessionError) {
    let answer = SessionDescriptionText(.answer, sdp: answer)
    try connection.setRemoteDescription(answer)
    guard !answer.rejectsEverything else { return finish(.codecMismatch) }
    limitSetup()
  }

  private func gatheringIsComplete() {
    guard isGathering else { return }
    isGathering = false
    gatheringTimer.deadline = nil
    guard let description = connection.localDescription else { return }
    guard description.sdp.contains("a=candidate:") else {
      return finish(
        wasRefusedByServer ? .turnAuth : .iceFailed, detail: serverError ?? "this side has no candidate to offer")
    }
    onLocalDescription?(description)
  }

  // MARK: The end

  package func hangUp() { finish(wasUp ? .localHangup : .cancelled) }

  /// Ends the call because a description cannot be used.
  package func fail(_ error: SessionError) {
    finish(EndCode(error), detail: error == .noCommonCodec ? nil : "\(error)")
  }

  package func finish(_ code: EndCode, detail: String? = nil) {
    guard end == nil else { return }
    let reached = CallEnd(code, wasUp: wasUp, detail: detail)
    end = reached
    // Of lines, the last one was shown less than a second ago, and says the same.
    if wasUp, settings.stats == .json { showStatistics() }
    for timer in timers { timer.deadline = nil }
    connection.close()
    for close in [recording?.close, keyLog?.close] {
      do throws(FileError) {
        try close?()
      } catch {
        lostFile = lostFile ?? error
      }
    }
    recording = nil
    keyLog = nil
    onEnd?(reached)
  }

  // MARK: Events

  private func handle(_ event: SessionEvent) {
    switch event {
    case .iceGatheringStateChange(.complete): gatheringIsComplete()
    case .iceConnectionStateChange(.failed) where isAnswerUnderWay: break
    case .iceConnectionStateChange(let state): log("ICE \(state.rawValue)")
    case .connectionStateChange(let state): connectionChanged(to: state)
    case .dtlsStateChange(.closed): finish(wasUp ? .remoteHangup : .dtlsFailed)
    case .dtlsFailed(let reason): dtlsFailure = reason
    case .selectedCandidatePairChange(let local, let remote):
      selectedPair = (local, remote)
      log("path \(local.text) <-> \(remote.text)")
    case .iceServerError(_, let url, let code, let reason):
      // 401 and 403: not these credentials; 441: not this user (RFC 8656 section 19).
      if [401, 403, 441].contains(code) { wasRefusedByServer = true }
      serverError = "\(url): \(code) \(reason)"
      log("server \(url): \(code) \(reason)")
    // Candidates travel in the description, and the one track needs nothing said of it.
    case .signalingStateChange, .iceGatheringStateChange, .iceCandidate, .iceCandidatesRemoved, .dtlsStateChange,
      .negotiationNeeded, .track, .removeTrack, .mute, .unmute, .ended:
      break
    }
  }

  private func note(_ observation: SessionObservation) {
    switch observation {
    // Browsers gather TCP candidates always, and names are another matter.
    case .remoteCandidateRefused(_, .notUDP), .remoteCandidateRefused(_, .unresolvedName): break
    case .remoteCandidateRefused(let candidate, let reason): log("candidate refused, \(reason.rawValue): \(candidate)")
    case .keyLog(let line): keyLog?.write(line.hasSuffix("\n") ? line : line + "\n")
    case .mediaSent, .mediaReceived, .remoteBye, .packetDiscarded, .iceRestart, .checkFailed, .consentExpired,
      .turnAllocated:
      break
    }
  }

  private func connectionChanged(to state: ConnectionState) {
    // Our checks found nobody, which means nothing before the other side knows of us.
    if state == .failed, dtlsFailure == nil, isAnswerUnderWay {
      return log("nobody answers yet: waiting until the answer has been carried to the other side")
    }
    log(state.rawValue)
    switch state {
    case .connected where connectedAt == nil:
      isCarriedUntil = nil
      connectedAt = loop.now
      setupTimer.deadline = nil
      durationTimer.deadline = settings.duration.map { loop.now + $0 }
      if settings.stats != .none { statsTimer.deadline = loop.now + .seconds(1) }
    case .failed: fail()
    default: break
    }
  }

  private func fail() {
    switch dtlsFailure {
    case "fingerprint-mismatch"?: finish(.fingerprintMismatch)
    case let reason?: finish(.dtlsFailed, detail: reason)
    case nil: finish(wasRefusedByServer ? .turnAuth : .iceFailed, detail: serverError)
    }
  }

  // MARK: Statistics

  private func showStatistics() {
    let report = connection.statistics()
    switch settings.stats {
    case .none: return
    case .lines: log(statsLine.text(for: report, at: loop.now, since: connectedAt ?? loop.now))
    case .json: output(report.json(timestamp: loop.unixMilliseconds).description + "\n")
    }
    // Whole seconds from the connection on, however late each line was.
    let elapsed = (loop.now - (connectedAt ?? loop.now)).nanoseconds / 1_000_000_000
    statsTimer.deadline = connectedAt.map { $0 + .seconds(elapsed + 1) }
  }
}

extension CandidateSummary {
  /// For people: `host 10.0.0.1:5000`.
  var text: String {
    let place = concealment.map { "\($0):\(endpoint.port)" } ?? "\(endpoint)"
    return "\(candidateType) \(place)" + (relayProtocol.map { " over \($0)" } ?? "")
  }
}
