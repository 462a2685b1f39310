internal import CallCore
internal import DTLS
package import Formats
internal import ICE
package import PeerSession
internal import SDP
internal import Statistics

/// One call from the first description to the end: its connection, its files, its statistics and its end code.
package final class LiveCall {
  /// A sink for JSON lines and descriptions, for programs.
  package var output: (String) -> Void = { _ in }
  /// A handler for the local description with all its candidates.
  package var onLocalDescription: ((SessionDescriptionText) -> Void)?
  package var onEnd: ((CallEnd) -> Void)?

  package let connection: LiveConnection
  package private(set) var end: CallEnd?
  /// The error of the first file that could not be written completely.
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
  /// Whether the local description still waits for candidates.
  private var isGathering = false
  private var dtlsFailure: String?
  private var serverError: String?
  private var wasRefusedByServer = false
  /// The deadline for the user who carries the answer to the other side; nil if no answer is under way.
  private var isCarriedUntil: Instant?

  /// - Throws: the errors of ``CallSettings/makeConnection(on:)``.
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

  /// Starts the recording and the key log, which replaces existing files. Call this only after the other side's
  /// description was accepted.
  package func openFiles() throws(FileError) {
    if let path = settings.record { recording = try WAVFile(path: path) }
    if let path = settings.keyLog { keyLog = try FileSink(path: path, keepsEveryLine: true) }
  }

  // MARK: Descriptions

  /// Creates an offer; ``onLocalDescription`` gets it when gathering is complete.
  package func offer() throws(SessionError) {
    try connection.addTrack()
    try connection.setLocalDescription(connection.createOffer())
    awaitCandidates()
  }

  /// Applies an offer and creates the answer; ``onLocalDescription`` gets it when gathering is complete. An answer that
  /// rejects everything needs no candidates and ends the call.
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

  /// Starts ``CallSettings/setupTimeout`` for the answer and the connection.
  func limitSetup() { setupTimer.deadline = loop.now + settings.setupTimeout }

  /// Starts the timeout at the other side's first connectivity check: the user has yet to carry our answer there.
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

  /// Whether the user carries our answer and the other side has not sent a connectivity check yet.
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

  // MARK: End

  package func hangUp() { finish(wasUp ? .localHangup : .cancelled) }

  /// Ends the call because a description cannot be used.
  package func fail(_ error: SessionError) {
    finish(EndCode(error), detail: error == .noCommonCodec ? nil : "\(error)")
  }

  package func finish(_ code: EndCode, detail: String? = nil) {
    guard end == nil else { return }
    let reached = CallEnd(code, wasUp: wasUp, detail: detail)
    end = reached
    // JSON consumers get a final report; the text view showed one less than a second ago.
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
      // 401 and 403 reject the credentials, 441 rejects the user (RFC 8656 section 19).
      if [401, 403, 441].contains(code) { wasRefusedByServer = true }
      serverError = "\(url): \(code) \(reason)"
      log("server \(url): \(code) \(reason)")
    // The description carries the candidates, and the only track needs no report.
    case .signalingStateChange, .iceGatheringStateChange, .iceCandidate, .iceCandidatesRemoved, .dtlsStateChange,
      .negotiationNeeded, .track, .removeTrack, .mute, .unmute, .ended, .toneChange, .sctpStateChange, .dataChannel,
      .dataChannelStateChange, .dataChannelMessage, .dataChannelBufferedAmountLow, .dataChannelError, .forwardingChange:
      break
    }
  }

  private func note(_ observation: SessionObservation) {
    switch observation {
    // Not worth a line: browsers always gather TCP candidates, and many names cannot be resolved.
    case .remoteCandidateRefused(_, .notUDP), .remoteCandidateRefused(_, .unresolvedName): break
    case .remoteCandidateRefused(let candidate, let reason): log("candidate refused, \(reason.rawValue): \(candidate)")
    case .keyLog(let line): keyLog?.write(line.hasSuffix("\n") ? line : line + "\n")
    case .digitReceived(let digit): log("received the digit \(digit)")
    case .mediaSent, .mediaReceived, .mediaRecovered, .remoteBye, .packetDiscarded, .iceRestart, .checkFailed,
      .consentExpired,
      .turnAllocated, .bandwidthEstimate:
      break
    }
  }

  private func connectionChanged(to state: ConnectionState) {
    // ICE may fail before the user has carried the answer to the other side; keep waiting.
    if state == .failed, dtlsFailure == nil, isAnswerUnderWay {
      return log("no response yet: waiting until the answer has been carried to the other side")
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
    // Whole seconds since the connection, so that late lines do not add up.
    let elapsed = (loop.now - (connectedAt ?? loop.now)).nanoseconds / 1_000_000_000
    statsTimer.deadline = connectedAt.map { $0 + .seconds(elapsed + 1) }
  }
}

extension CandidateSummary {
  /// The text for users, such as `host 10.0.0.1:5000`.
  var text: String {
    let place = mdnsName.map { "\($0):\(endpoint.port)" } ?? "\(endpoint)"
    return "\(candidateType) \(place)" + (relayProtocol.map { " over \($0)" } ?? "")
  }
}
