internal import CallCore
internal import Vocabulary

/// The system's call UI (CallKit): an app reports its calls, and is asked to perform what the user does with them.
///
/// The system owns the audio session from the first report or start on. It activates the session once an action is
/// fulfilled that lets a call talk, and deactivates it after the end. An app that deactivates or configures the session
/// meanwhile breaks the next activation, as the makers of call apps warn: inferred.
public final class CallKit {
  /// Why a reported call is not shown (`CXErrorCodeIncomingCallError`), with its raw values.
  public enum ReportError: Int, Sendable {
    case unknown = 0
    case unentitled = 1
    case callUUIDAlreadyExists = 2
    case filteredByDoNotDisturb = 3
    case filteredByBlockList = 4
  }

  /// Why a call ended that the user did not end (`CXCallEndedReason`), with its raw values.
  public enum EndedReason: Int, Sendable {
    case failed = 1
    case remoteEnded = 2
    case unanswered = 3
    case answeredElsewhere = 4
    case declinedElsewhere = 5
  }

  private struct Call {
    let id: String
    var state: CallKitState
    /// Whether both sides are connected, as far as the app has said: a call that is held while it is dialled goes on dialling.
    var isConnected = false
    var isHeldByPhoneCall = false

    /// Whether the audio session is active for it.
    var wantsAudio: Bool { state == .active || state == .dialling }
  }

  /// The time from a fulfilled action to `didActivate` or `didDeactivate`: a harness default.
  static let audioDelay = Interval.milliseconds(50)

  private let device: Device
  private let clock: PeerClock
  private let trace: Trace
  private let subject: TraceSubject
  private var calls: [Call] = []
  private var shown = CallKitState.none
  private var audioChange: PeerTimer? { didSet { oldValue?.cancel() } }
  /// Whether the user is in a cellular call, which has the audio of every call here.
  private var isPhoneCallAnswered = false
  /// Whether the system has activated the audio session for a call.
  public private(set) var isAudioActive = false
  /// Whether a suspended app is still to be told that the session was deactivated.
  private var owesDeactivation = false
  /// The number of processes of the app that have ended.
  private var processCount = 0
  /// Whether an app has taken the session down while a call had it.
  private var isActivationBroken = false

  /// Has the app perform an action; false if the app fails it, or is not running.
  var perform: (CallKitAction) -> Bool = { _ in false }
  /// Tells the app.
  var tell: (CallKitChange) -> Void = { _ in }
  /// Called when an app reports an incoming call.
  var onReport: () -> Void = {}
  /// Called when a call came or went.
  var onCallsChanged: (() -> Void)?

  /// - Parameter clock: The clock of the device's system.
  init(device: Device, clock: PeerClock, trace: Trace, subject: TraceSubject) {
    self.device = device
    self.clock = clock
    self.trace = trace
    self.subject = subject
    trace.write(PeerEvents.callKit, subject, "none", "", "")
    trace.write(PeerEvents.callKitState, subject, shown.rawValue)
    device.onSessionChangedByApp = { [unowned self] in if isAudioActive { isActivationBroken = true } }
  }

  /// Whether there is a call.
  public var hasCall: Bool { !calls.isEmpty }

  /// Returns whether the system has a call of another id.
  public func hasCall(besides id: String) -> Bool { calls.contains { $0.id != id } }

  /// Returns whether the system has a call of this id.
  public func has(_ id: String) -> Bool { index(of: id) != nil }

  private func index(of id: String) -> Int? { calls.firstIndex { $0.id == id } }

  func say(_ word: CallKitWord, _ call: String, _ reason: String = "") {
    trace.write(PeerEvents.callKit, subject, word.rawValue, call, reason)
  }

  private func changed() {
    device.isAudioOwnedByCallKit = hasCall || isAudioActive
    let state = calls.first?.state ?? .none
    if state != shown {
      shown = state
      trace.write(PeerEvents.callKitState, subject, state.rawValue)
    }
    onCallsChanged?()
    if isPhoneCallAnswered { holdWhatTalks() }
  }

  // MARK: Reports of the app

  /// Reports an incoming call, which rings.
  ///
  /// - Returns: Why it is not shown; it must neither ring nor connect then.
  public func reportNewIncomingCall(_ id: String) -> ReportError? {
    onReport()
    say(.report, id)
    var error: ReportError?
    switch device.settings.incomingCalls {
    case _ where !device.settings.hasBackgroundVoIP: error = .unentitled
    case .shown: error = has(id) ? .callUUIDAlreadyExists : nil
    case .doNotDisturb: error = .filteredByDoNotDisturb
    case .blocked: error = .filteredByBlockList
    }
    if let error {
      say(.reportRefused, id, "\(error)")
      return error
    }
    calls.append(Call(id: id, state: .ringing))
    changed()
    return nil
  }

  /// Reports that an outgoing call is connected.
  public func reportOutgoingCallConnected(_ id: String) {
    guard let index = index(of: id), [.dialling, .held].contains(calls[index].state), !calls[index].isConnected else {
      return
    }
    say(.connected, id)
    calls[index].isConnected = true
    if calls[index].state == .dialling { calls[index].state = .active }
    changed()
  }

  /// Reports that a call has ended without the user. A call that the system does not have is ignored.
  public func reportCall(_ id: String, endedWith reason: EndedReason) {
    guard let index = index(of: id) else { return }
    say(.reportEnd, id, "\(reason)")
    remove(at: index)
  }

  private func remove(at index: Int) {
    calls.remove(at: index)
    changed()
    updateAudio()
  }

  // MARK: Actions

  /// Requests an action, as a user does in the app's own UI (`CXCallController`). The app is asked to perform it in an
  /// event of its own.
  public func request(_ action: CallKitAction) {
    let process = processCount
    clock.schedule(after: .zero) { [unowned self] in
      // What an app has asked for ends with it.
      if process == processCount { run(action) }
    }
  }

  private func run(_ action: CallKitAction) {
    if action.kind == .start, !has(action.callID) {
      calls.append(Call(id: action.callID, state: .dialling))
      changed()
    }
    guard has(action.callID) else { return }
    guard perform(action) else {
      say(.fail, action.callID)
      if [.start, .answer].contains(action.kind), let index = index(of: action.callID) { remove(at: index) }
      return
    }
    // The app may have ended the call while it performed the action.
    say(action.kind.word, action.callID)
    guard let index = index(of: action.callID) else { return }
    switch action.kind {
    case .start, .setMuted: break
    case .answer: (calls[index].state, calls[index].isConnected) = (.active, true)
    case .setHeld(true): calls[index].state = .held
    case .setHeld(false): calls[index].state = calls[index].isConnected ? .active : .dialling
    case .end: return remove(at: index)
    }
    changed()
    updateAudio()
  }

  /// Whether the user does this in the system's call UI: what rings is answered there, and what lives is ended and muted
  /// there while the app is not before the user.
  ///
  /// - Parameter isSeen: Whether the app is.
  func shows(_ role: ActionDeclaration.Role?, isSeen: Bool) -> Bool { action(of: role, isSeen: isSeen) != nil }

  /// Does what a user does in the system's call UI.
  func touch(_ role: ActionDeclaration.Role?, isSeen: Bool) {
    if let action = action(of: role, isSeen: isSeen) { request(action) }
  }

  /// What rings is answered and refused, and ended where nothing lives. What lives is ended, held and muted.
  private func action(of role: ActionDeclaration.Role?, isSeen: Bool) -> CallKitAction? {
    let ringing = calls.first { $0.state == .ringing }
    let living = calls.first { $0.state != .ringing }
    let hidden = isSeen ? nil : living
    let (kind, call): (CallKitAction.Kind, Call?)
    switch role {
    case .accept: (kind, call) = (.answer, ringing)
    case .refuse: (kind, call) = (.end, ringing)
    case .end: (kind, call) = (.end, living == nil ? ringing : hidden)
    case .mute: (kind, call) = (.setMuted(true), hidden)
    case .unmute: (kind, call) = (.setMuted(false), hidden)
    case .begin, .join, .leave, .restartICE, .switchCamera, .shareScreen, nil: return nil
    }
    return call.map { CallKitAction(kind, of: $0.id) }
  }

  // MARK: Cellular calls

  /// Holds the calls that talk, and those that come to it, as long as the user is in a cellular call.
  func setPhoneCallAnswered(_ isAnswered: Bool) {
    guard isAnswered != isPhoneCallAnswered else { return }
    isPhoneCallAnswered = isAnswered
    guard !isAnswered else { return holdWhatTalks() }
    for index in calls.indices where calls[index].isHeldByPhoneCall {
      calls[index].isHeldByPhoneCall = false
      request(CallKitAction(.setHeld(false), of: calls[index].id))
    }
  }

  private func holdWhatTalks() {
    for index in calls.indices where calls[index].wantsAudio && !calls[index].isHeldByPhoneCall {
      calls[index].isHeldByPhoneCall = true
      request(CallKitAction(.setHeld(true), of: calls[index].id))
    }
  }

  // MARK: Audio

  private var wantsAudio: Bool { talking != nil }

  /// The call for which the audio session is active.
  private var talking: Call? { calls.first(where: \.wantsAudio) }

  /// Activates or deactivates the audio session after a moment, as the calls want. One that is to be deactivated is so also
  /// where another call comes meanwhile: the app is told of the end of the one and of the beginning of the other.
  private func updateAudio() {
    guard wantsAudio != isAudioActive else {
      if !isAudioActive { audioChange = nil }
      return changed()
    }
    audioChange = clock.schedule(after: Self.audioDelay) { [unowned self] in
      audioChange = nil
      if isAudioActive {
        deactivate()
        if wantsAudio { updateAudio() }
      } else if wantsAudio {
        activate()
      }
    }
  }

  private func activate() {
    guard !device.isAudioTaken else { return }
    guard !isActivationBroken else { return isActivationBroken = false }
    isAudioActive = true
    changed()
    device.activateForCallKit()
    say(.activate, talking?.id ?? "")
    tell(.didActivate)
  }

  private func deactivate() {
    isAudioActive = false
    say(.deactivate, calls.first?.id ?? "")
    device.deactivateForCallKit()
    changed()
    tell(.didDeactivate)
  }

  /// The system takes the audio from an app that it suspends.
  func audioIsTaken() {
    audioChange = nil
    guard isAudioActive else { return }
    isAudioActive = false
    say(.deactivate, calls.first?.id ?? "")
    owesDeactivation = true
  }

  /// Tells an app that goes on what was taken from it while it was suspended.
  func appGoesOn() {
    guard owesDeactivation else { return }
    owesDeactivation = false
    tell(.didDeactivate)
  }

  /// The audio that something else had is free again.
  func audioIsFree() { if wantsAudio, !isAudioActive { updateAudio() } }

  /// Ends every call of a process that has ended.
  func processEnded() {
    processCount += 1
    (audioChange, owesDeactivation) = (nil, false)
    guard hasCall || isAudioActive else { return }
    say(.reset, calls.first?.id ?? "")
    calls = []
    isAudioActive = false
    changed()
  }

  /// Ends all at the end of the run.
  func shutDown() {
    audioChange = nil
    calls = []
    if isAudioActive { deactivate() }
    changed()
  }
}

extension CallKitAction.Kind {
  fileprivate var word: CallKitWord {
    switch self {
    case .start: .start
    case .answer: .answer
    case .end: .end
    case .setHeld(let isHeld): isHeld ? .hold : .unhold
    case .setMuted(let isMuted): isMuted ? .mute : .unmute
    }
  }
}
