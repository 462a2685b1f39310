internal import CallCore
internal import Vocabulary

/// The app's states, from what happens to its device: what the system tells the app, and what it takes from it.
///
/// The rules are those of iOS for an app without CallKit. An app that is left runs on while it declares the audio
/// background mode and its audio unit runs; without that it is suspended after ``grace``. A cellular call takes the audio
/// while it rings, and suspends the app once it is answered.
package final class AppLifecycle {
  /// The time for which an app runs on in the background without a reason: a harness default.
  static let grace = Interval.seconds(5)

  private let runtime: HostRuntime
  private let device: Device
  private let trace: Trace
  private let subject: TraceSubject
  private let tell: (DeviceChange) -> Void
  package private(set) var conditions = DeviceConditions()
  private var suspension: PeerTimer?
  package private(set) var state = AppState.active
  /// The number of changes of the state and of interruptions.
  package private(set) var changeCount = 0

  init(
    runtime: HostRuntime, device: Device, trace: Trace, subject: TraceSubject, tell: @escaping (DeviceChange) -> Void
  ) {
    self.runtime = runtime
    self.device = device
    self.trace = trace
    self.subject = subject
    self.tell = tell
    trace.write(PeerEvents.appState, subject, state.rawValue)
    device.onAudioStopped = { [unowned self] in watchBackground() }
  }

  package func set(_ conditions: DeviceConditions) {
    let before = self.conditions
    self.conditions = conditions
    if conditions.takesAudio, !before.takesAudio { interruptAudio() }
    move(to: wanted)
    if !conditions.takesAudio, device.isAudioTaken, state < .suspended { endAudioInterruption() }
  }

  private var wanted: AppState {
    if conditions.isSuspended || conditions.phoneCall == .answered { return .suspended }
    if conditions.isLeft { return state == .suspended && !mayRun ? .suspended : .background }
    return conditions.isCovered || conditions.phoneCall == .ringing ? .inactive : .active
  }

  // MARK: States

  private func move(to wanted: AppState) {
    let states = AppState.allCases
    while state != wanted {
      let index = states.firstIndex(of: state) ?? 0
      enter(states[state < wanted ? index + 1 : index - 1])
    }
    watchBackground()
  }

  private func enter(_ next: AppState) {
    let last = state
    if last == .suspended {
      runtime.resume()
      if !conditions.takesAudio { device.endAudioInterruption() }
    }
    state = next
    changeCount += 1
    trace.write(PeerEvents.appState, subject, next.rawValue)
    // An app is not told that it is suspended.
    guard next != .suspended else {
      suspension?.cancel()
      suspension = nil
      device.interruptAudio()
      return runtime.suspend()
    }
    tell(.appState(next))
    if next == .background, last == .inactive, device.setCameraInterrupted(true) { tell(.cameraInterrupted) }
    if next == .active {
      if device.setCameraInterrupted(false) { tell(.cameraInterruptionEnded) }
      if !conditions.takesAudio, device.isAudioInterrupted { endAudioInterruption() }
    }
  }

  /// Whether the app may run in the background now.
  private var mayRun: Bool { device.settings.hasBackgroundAudio && device.isAudioRunning }

  /// Gives an app in the background its last seconds, once it has no reason to run.
  private func watchBackground() {
    guard state == .background, !mayRun else {
      suspension?.cancel()
      suspension = nil
      return
    }
    guard suspension == nil else { return }
    suspension = runtime.clock.schedule(after: Self.grace) { [unowned self] in
      suspension = nil
      if state == .background, !mayRun { enter(.suspended) }
    }
  }

  /// Ends all at the end of the run.
  func shutDown() {
    suspension?.cancel()
    suspension = nil
    runtime.resume()
    device.onAudioStopped = nil
  }

  // MARK: Audio

  private func interruptAudio() {
    changeCount += 1
    device.interruptAudio()
    if state < .suspended { tell(.audioInterruptionBegan) }
  }

  private func endAudioInterruption() {
    changeCount += 1
    device.endAudioInterruption()
    tell(.audioInterruptionEnded(shouldResume: true))
  }
}
