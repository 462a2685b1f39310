internal import CallCore
internal import PeerSession
internal import VirtualPeer
internal import Vocabulary

/// The recorder of a session of two users: it makes an MP4 file of what the opponent shows and of what both say.
final class CallRecorder {
  /// The states, in the product's words.
  enum State: String { case notActive, active, finalizing }

  /// The time that a file takes after the stop: a harness default.
  static let finalizingTime = Interval.milliseconds(500)

  let user: String
  private let sessionID: String
  private let environment: PeerEnvironment
  /// What is written about the opponent.
  private let trace: PeerTrace
  private let space: Int?
  private(set) var state = State.notActive
  private(set) var format = RecordingFormat()
  private var recording: CallRecording?
  private var completion: PeerTimer?
  private var isSessionClosed = false
  /// Called when the session is closed and nothing is left to do.
  var onGone: (() -> Void)?

  /// - Parameter space: The bytes that the device has for a recording; nil for any number.
  init(of user: String, _ sessionID: String, space: Int?, _ environment: PeerEnvironment) {
    self.user = user
    self.sessionID = sessionID
    self.space = space
    self.environment = environment
    trace = environment.trace.to(user)
    trace.enter("recorder.state", state.rawValue, on: "session")
    traceFormat()
  }

  // MARK: Parameters

  func setFormat(_ change: (inout RecordingFormat) -> Void) throws(ActionError) {
    guard state == .notActive else {
      environment.trace.raise("cc.recorder_active")
      throw ActionError("the recorder's parameters are set while it is not active")
    }
    var changed = format
    change(&changed)
    if let problem = changed.problem { throw ActionError(problem) }
    format = changed
    traceFormat()
  }

  private func traceFormat() {
    trace.set("recorder.width", format.width)
    trace.set("recorder.height", format.height)
    trace.set("recorder.bitrate", format.bitrate)
    trace.set("recorder.fps", format.frameRate)
    trace.set("recorder.rotation", format.rotation.rawValue)
  }

  // MARK: Start and stop

  func start(_ connection: (any PeerConnection)?) throws(ActionError) {
    guard state == .notActive else {
      environment.trace.raise("cc.recorder_active")
      throw ActionError("the recorder is \(state.rawValue)")
    }
    guard let connection else { throw ActionError("there is no connection to record yet") }
    do throws(SessionError) {
      recording = try connection.startRecording(format, limit: space) { [weak self] in self?.failed($0) }
    } catch {
      throw ActionError("\(error)")
    }
    enter(.active, on: "startRecord")
  }

  /// Stops. The completion comes later, with a file, or without one where nothing was started.
  func stop() throws(ActionError) {
    guard state != .finalizing else { throw ActionError("the recorder is finalizing") }
    guard state == .active else {
      completion = environment.clock.schedule(after: .zero) { [weak self] in self?.complete(nil) }
      return
    }
    finalize(on: "stopRecord")
  }

  private func finalize(on event: String) {
    recording?.stop()
    enter(.finalizing, on: event)
    completion = environment.clock.schedule(after: Self.finalizingTime) { [weak self] in self?.finish() }
  }

  /// Writes the file of a recording that is over.
  private func finish() {
    let file = recording?.save()
    recording = nil
    if !isSessionClosed { enter(.notActive, on: "the file is written") }
    complete(file)
    if isSessionClosed { leave() }
  }

  private func complete(_ file: RecordedFile?) {
    completion?.cancel()
    completion = nil
    trace.set("recorder.file", file?.name ?? CommonVocabulary.nobody)
    trace.set("recorder.duration", Int(file?.duration.milliseconds ?? 0))
    trace.set("recorder.frames", file?.frameCount ?? 0)
    trace.set("recorder.bytes", file?.byteCount ?? 0)
    notify("recorderDidStop")
  }

  private func failed(_ reason: String) {
    guard state == .active else { return }
    recording = nil
    trace.event("recorder-failed", "reason", reason)
    environment.trace.raise("cc.recorder_failed")
    enter(.notActive, on: "failure")
    notify("recorderDidFailWithError")
  }

  // MARK: The end of the session

  /// Finishes a recording, and goes.
  func sessionClosed() {
    isSessionClosed = true
    switch state {
    case .notActive: leave()
    case .active: finalize(on: "the session is closed")
    case .finalizing: break
    }
  }

  private func leave() {
    completion?.cancel()
    completion = nil
    trace.enter("recorder.state", Self.absent, on: "the session is closed")
    onGone?()
  }

  /// Finishes at once: the app ends, or another session with the user begins.
  func hurry() {
    isSessionClosed = true
    guard state == .active || state == .finalizing else { return leave() }
    if state == .active { finalize(on: "the app ends") }
    finish()
  }

  // MARK: The trace

  /// The state of a session that has no recorder.
  static let absent = "none"

  private func enter(_ state: State, on event: String) {
    self.state = state
    trace.enter("recorder.state", state.rawValue, on: event)
  }

  private func notify(_ callback: String) {
    environment.trace.set("callback.session", sessionID)
    trace.notify(callback)
  }
}
