internal import CallCore
package import Vocabulary

/// The app's states, from what happens to its device: what the system tells the app, and what it takes from it.
///
/// The rules are those of iOS. An app that is left runs on while it declares the audio background mode and its audio unit
/// runs, and while CallKit has a call of it; else it is suspended after ``grace``. A cellular call takes the audio while it
/// rings, and suspends the app once it is answered; where CallKit has a call, that one is held instead. A suspended or
/// terminated app is woken or launched by a VoIP push.
package final class AppLifecycle {
  /// The time for which an app runs on in the background without a reason: a harness default.
  static let grace = Interval.seconds(5)

  private let runtime: HostRuntime
  private let device: Device
  private let trace: Trace
  private let subject: TraceSubject
  private let process: AppProcess
  private let callKit: CallKit
  package private(set) var conditions = DeviceConditions()
  private var suspension: PeerTimer?
  package private(set) var state = AppState.active
  private var counted = DeviceTally()
  /// Whether something else has taken the audio, and not only rings beside a call that CallKit has.
  private var isAudioTaken = false
  /// Whether the app is not told that the audio is free again, which iOS does not guarantee.
  private var isEndUntold = false
  /// Whether a cellular call holds the calls that CallKit has.
  private var isHolding = false
  /// Whether a push lets the app run that would be suspended.
  private var isWoken = false
  /// Whether the app has gone to the background, and has not been active since.
  private var isCameraAway = false

  /// What a lifecycle does to the process of an app.
  struct AppProcess {
    let tell: (DeviceChange) -> Void
    let launch: () -> Void
    let end: () -> Void
  }

  init(
    runtime: HostRuntime, device: Device, callKit: CallKit, trace: Trace, subject: TraceSubject, process: AppProcess
  ) {
    self.runtime = runtime
    self.device = device
    self.callKit = callKit
    self.trace = trace
    self.subject = subject
    self.process = process
    trace.write(PeerEvents.appState, subject, state.rawValue)
    device.onAudioChanged = { [unowned self] in watchBackground() }
    callKit.onCallsChanged = { [unowned self] in
      watchBackground()
      takeAudioForCall()
    }
  }

  /// How often its conditions have shown.
  package var tally: DeviceTally {
    var tally = counted
    tally.audioChanges += device.audioRefusals
    (tally.accessoryUses, tally.cameraChanges) = (device.accessoryUses, device.cameraLossChanges)
    return tally
  }

  package func set(_ conditions: DeviceConditions) {
    let (before, stateBefore) = (self.conditions, state)
    self.conditions = conditions
    device.setAccessories(conditions.accessories)
    if conditions.isKilled, !before.isKilled, state != .terminated { terminate() }
    if conditions.isMemoryShort, !before.isMemoryShort, state == .suspended { endForMemory() }
    let takesAudio = conditions.takesAudio && (isAudioTaken || !callKit.hasCall)
    if takesAudio, !isAudioTaken { interruptAudio() }
    if takesAudio { isEndUntold = conditions.isAudioEndUntold }
    isAudioTaken = takesAudio
    hold(conditions.phoneCall == .answered && !takesAudio)
    callKit.setPhoneCallAnswered(conditions.phoneCall == .answered)
    move(to: wanted)
    if state != stateBefore { countMove(since: before) }
    updateCamera()
    if !isAudioTaken, device.isAudioTaken, state < .suspended { endAudioInterruption() }
  }

  /// Counts a change of the state for what has changed of the conditions.
  private func countMove(since before: DeviceConditions) {
    if conditions.presence != before.presence { counted.moves += 1 }
    if conditions.phoneCall != before.phoneCall { counted.phoneMoves += 1 }
  }

  /// Whether one of two conditions keeps the app from a state, its audio or its camera that the other leaves it now.
  package func differs(under conditions: DeviceConditions, from other: DeviceConditions) -> Bool {
    if conditions.presence != other.presence || conditions.phoneCall != other.phoneCall,
      wanted(under: conditions) != wanted(under: other)
    {
      return true
    }
    // A suspended app has no audio anyway.
    if conditions.takesAudio != other.takesAudio, state < .suspended, device.isAudioInterrupted { return true }
    return (conditions.cameraInterruption == nil) != (other.cameraInterruption == nil) && device.isCameraKept
  }

  private var wanted: AppState { wanted(under: conditions) }

  private func wanted(under conditions: DeviceConditions) -> AppState {
    guard conditions.isAway else {
      return conditions.isCovered || conditions.phoneCall == .ringing ? .inactive : .active
    }
    guard state != .terminated else { return .terminated }
    let isForced = conditions.isSuspended || (conditions.phoneCall == .answered && !isHolding)
    if isForced, !isWoken { return .suspended }
    return state == .suspended && !mayRun ? .suspended : .background
  }

  // MARK: States

  private func move(to wanted: AppState) {
    let states = AppState.allCases
    while state != wanted {
      guard state != .terminated else {
        // The user opens it.
        launch(in: .inactive)
        continue
      }
      let index = states.firstIndex(of: state) ?? 0
      enter(states[state < wanted ? index + 1 : index - 1])
      if conditions.isMemoryShort, state == .suspended { return endForMemory() }
    }
    watchBackground()
  }

  private func write(_ next: AppState) {
    state = next
    trace.write(PeerEvents.appState, subject, next.rawValue)
    device.setInBackground(next == .background)
  }

  private func enter(_ next: AppState) {
    let last = state
    if last == .suspended {
      runtime.resume()
      if !isAudioTaken {
        device.endAudioInterruption()
        callKit.audioIsFree()
      }
    }
    write(next)
    // An app is not told that it is suspended.
    guard next != .suspended else {
      isWoken = false
      cancelSuspension()
      callKit.audioIsTaken()
      device.interruptAudio()
      return runtime.suspend()
    }
    callKit.appGoesOn()
    process.tell(.appState(next))
    if next == .background { isCameraAway = true }
    if next == .active { (isCameraAway, isWoken) = (false, false) }
    updateCamera()
    if next == .active, !isAudioTaken, device.isAudioInterrupted, !isEndUntold { endAudioInterruption() }
  }

  private func launch(in first: AppState) {
    isCameraAway = first == .background
    write(first)
    if !isAudioTaken { device.endAudioInterruption() }
    process.launch()
    updateCamera()
  }

  /// Ends the process of the app, which is not told.
  func terminate() {
    guard state != .terminated else { return }
    isWoken = false
    cancelSuspension()
    process.end()
    write(.terminated)
  }

  private func endForMemory() {
    counted.memoryEnds += 1
    terminate()
  }

  /// Lets an app run that a VoIP push or an action of CallKit has reached, in the background if nobody sees it.
  func wake() {
    guard state >= .suspended else { return }
    isWoken = true
    if state == .terminated { launch(in: .background) } else { enter(.background) }
    watchBackground()
  }

  /// Whether the app may run in the background now.
  private var mayRun: Bool { callKit.hasCall || (device.settings.hasBackgroundAudio && device.isAudioRunning) }

  private func cancelSuspension() {
    suspension?.cancel()
    suspension = nil
  }

  /// Gives an app in the background its last seconds, once it has no reason to run.
  private func watchBackground() {
    guard state == .background, !mayRun else { return cancelSuspension() }
    guard suspension == nil else { return }
    suspension = runtime.system.schedule(after: Self.grace) { [unowned self] in
      suspension = nil
      guard state == .background, !mayRun else { return }
      enter(.suspended)
      if conditions.isMemoryShort { endForMemory() }
    }
  }

  /// Ends all at the end of the run.
  func shutDown() {
    cancelSuspension()
    runtime.resume()
    device.onAudioChanged = nil
    callKit.onCallsChanged = nil
  }

  // MARK: Audio and camera

  private func interruptAudio() {
    if device.interruptAudio() { counted.audioChanges += 1 }
    if state < .suspended { process.tell(.audioInterruptionBegan) }
  }

  private func endAudioInterruption() {
    if device.isAudioInterrupted { counted.audioChanges += 1 }
    device.endAudioInterruption()
    callKit.audioIsFree()
    if !isEndUntold { process.tell(.audioInterruptionEnded(shouldResume: true)) }
  }

  /// Notes that CallKit holds its calls for a cellular call, which does not suspend the app then, or that they go on.
  private func hold(_ isHeld: Bool) {
    guard isHeld != isHolding, !isHeld || callKit.hasCall else { return }
    isHolding = isHeld
    counted.holds += 1
  }

  /// Takes the audio from another app for a call that CallKit has. A cellular call keeps it.
  private func takeAudioForCall() {
    guard isAudioTaken, callKit.hasCall, conditions.phoneCall != .answered, state < .suspended else { return }
    isAudioTaken = false
    endAudioInterruption()
  }

  private func updateCamera() {
    guard state < .suspended else { return }
    let reason = isCameraAway ? CameraInterruption.background : conditions.cameraInterruption
    guard reason != device.cameraInterruption, device.setCameraInterruption(reason) else { return }
    process.tell(reason == nil ? .cameraInterruptionEnded : .cameraInterrupted)
  }
}
