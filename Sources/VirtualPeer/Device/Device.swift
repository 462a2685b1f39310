public import CallCore
public import Vocabulary

/// The phone of a peer, as far as a call needs it: audio session, microphone, speaker.
public final class Device {
  /// The device settings of a scenario.
  public struct Settings: Hashable, Sendable {
    /// The sound that the microphone hears.
    public var microphone = MicrophoneSource.speech
    /// Whether calls have video.
    public var hasVideo = false
    /// The pictures of the camera; nil for a device without one, which still shows those of others.
    public var camera: CameraSource?
    /// Whether the user permits recording. Without permission the app hears the other side and sends silence.
    public var mayRecord = true
    /// Whether the device is a simulator, which plays and records in any state of the audio session; a real phone does
    /// not.
    public var isSimulator = false
    /// The drift of the audio hardware's clock against true time, in parts per million; positive runs fast.
    public var audioClockDriftPPM = 0.0
    /// Whether the app declares the audio background mode, and so runs on in the background while it records or plays.
    public var hasBackgroundAudio = true
    /// Whether the app declares the background mode voip: without it no VoIP push comes, and CallKit takes no incoming call.
    public var hasBackgroundVoIP = true
    /// Whether the device has a camera at the front; it has one at the back in any case.
    public var hasFrontCamera = true
    /// The camera with which an app begins.
    var firstCamera: CameraPosition { hasFrontCamera ? .front : .back }
    /// The formats of the cameras at the front and at the back; empty for one that gives any.
    public var frontCameraFormats: [CameraFormat] = []
    /// The formats of the camera at the back.
    public var backCameraFormats: [CameraFormat] = []
    /// What the system does with reported calls.
    public var incomingCalls = IncomingCalls.shown
    /// The time that a VoIP push takes to the device: a harness default.
    public var pushDelay = Interval.seconds(1)
    /// Whether each connection sends back the audio it receives, instead of the microphone: an echo test service.
    public var echoes = false

    /// What the user lets the system do with calls that an app reports.
    public enum IncomingCalls: String, Sendable, CaseIterable {
      case shown
      case doNotDisturb = "do-not-disturb"
      case blocked
    }

    /// Creates settings with the default values.
    public init() {}
  }

  /// The device's settings.
  public let settings: Settings
  /// The audio session that the app configures.
  public private(set) var audioSession = AudioSession()

  private let trace: Trace
  private let subject: TraceSubject
  private var hasPlayed = false
  private var audioUnit = AudioUnitState.stopped {
    didSet { if audioUnit != oldValue { trace.write(PeerEvents.audioUnit, subject, audioUnit.rawValue) } }
  }
  private var lastHeard: Instant?
  private var isAudible = false

  /// Called when the audio unit has started or stopped.
  var onAudioChanged: (() -> Void)?
  /// Whether a connection wants the audio unit to run.
  private var wantsAudio = false
  /// Whether the run is over: an app whose call loses the audio while its connections are still open takes it no more.
  var isShutDown = false
  /// Whether the app starts the audio unit itself (libwebrtc's `RTCAudioSession.useManualAudio`).
  public private(set) var usesManualAudio = false
  /// With manual audio, whether the audio unit may run (`RTCAudioSession.isAudioEnabled`).
  public private(set) var isAudioEnabled = false
  /// Whether CallKit has a call, and so the audio session.
  var isAudioOwnedByCallKit = false
  /// Called when the app configures or deactivates its session.
  var onSessionChangedByApp: (() -> Void)?
  /// Where the audio session plays and records.
  public private(set) var audioRoute = AudioRoute(of: AudioSession(), nil)
  /// What is connected, the latest last.
  private var accessories: [AudioRoute.Accessory] = []
  /// What of it is used.
  private var usedAccessory: AudioRoute.Accessory?
  /// How often each came into use, or out of it.
  private(set) var accessoryUses: [AudioRoute.Accessory: Int] = [:]
  private var chosenOutput: AudioRoute.Output?
  /// Whether the system has taken the audio from the app, and a call still wants it.
  private(set) var isAudioInterrupted = false
  /// Whether an interruption, and not the app, has made the session inactive.
  private var isSessionLost = false
  /// Whether something else may use the audio now.
  private(set) var isAudioTaken = false {
    didSet { if isAudioTaken != oldValue { trace.write(PeerEvents.audioInterrupted, subject, isAudioTaken) } }
  }
  /// Why the system takes the camera from the app; nil if it does not.
  public private(set) var cameraInterruption: CameraInterruption?
  /// Whether the system keeps the camera from the app in the foreground, which wants it, and how often that changed.
  private(set) var isCameraKept = false
  private(set) var cameraLossChanges = 0
  /// Whether the camera gives no pictures to the app.
  var isCameraInterrupted: Bool { cameraInterruption != nil }
  /// Whether the app makes its pictures itself, with a custom capturer: the camera stays closed, and no interruption of it
  /// stops them. An app sets it before it sends video.
  public var usesCustomCapturer = false
  /// The capture of the app's own screen, which gives the pictures of the video track in place of the camera.
  public private(set) var screenCapture: ScreenCapture?
  /// Called when something else gives the pictures.
  var onCapturerChanged: (() -> Void)?
  /// Whether there are no pictures to send now. The screen of an app is captured only while it is on the screen.
  var isPictureMissing: Bool {
    screenCapture == nil ? isCameraInterrupted && !usesCustomCapturer : isInBackground
  }
  /// The pictures that the app can send. A custom capturer needs no camera.
  var pictures: CameraSource? {
    screenCapture == nil ? settings.camera ?? (usesCustomCapturer ? .talkingHead : nil) : .screen
  }
  /// The camera in use.
  public private(set) var cameraPosition: CameraPosition
  private var shownFormat: CameraFormat?
  private var indicator = "none"
  private var hasRedBar = false
  /// Whether the app has been left.
  public private(set) var isInBackground = false

  /// The silence after which a call counts as silent: longer than a pause in speech.
  public static let silenceLimit = Interval.seconds(2)

  /// The time without a new picture after which nothing counts as shown any more.
  public static let pictureLimit = Interval.seconds(1)

  private var isMicrophoneOpen = false
  /// Whether a call wants the camera.
  private var wantsCamera = false
  private var isCameraOpen = false
  private var isCapturing = false
  private var isVisible = false
  private var lastShown: Instant?

  package init(settings: Settings, trace: Trace, peer: String) {
    self.settings = settings
    self.trace = trace
    subject = trace.subject(peer)
    cameraPosition = settings.firstCamera
    // A condition must have a value before the first change: everything starts closed and silent.
    var closed = [
      PeerEvents.microphone, PeerEvents.capture, PeerEvents.speaker, PeerEvents.audible, PeerEvents.manualAudio,
      PeerEvents.audioEnabled, PeerEvents.audioInterrupted, PeerEvents.redBar,
    ]
    if settings.hasVideo { closed += [PeerEvents.camera, PeerEvents.visible] }
    for event in closed { trace.write(event, subject, false) }
    trace.write(PeerEvents.indicator, subject, indicator)
    trace.write(PeerEvents.audioUnit, subject, audioUnit.rawValue)
    trace.write(PeerEvents.audioOutput, subject, audioRoute.output.rawValue)
    trace.write(PeerEvents.audioInput, subject, audioRoute.input.rawValue)
    trace.write(PeerEvents.cameraPosition, subject, cameraPosition.rawValue)
    trace.write(PeerEvents.cameraInterruption, subject, "none")
    trace.write(PeerEvents.cameraFormat, subject, "none")
    traceCameraFormats()
  }

  // MARK: Audio session

  /// Sets the audio session's category, mode and options, and writes them into the trace.
  public func configureAudioSession(
    category: AudioSession.Category, mode: AudioSession.Mode, options: AudioSession.Options
  ) {
    let before = audioSession
    audioSession.configure(category: category, mode: mode, options: options)
    chosenOutput = nil
    traceSession()
    // The same again is no change.
    if audioSession != before { onSessionChangedByApp?() }
  }

  /// Activates or deactivates the audio session, and writes it into the trace.
  ///
  /// - Returns: False if something else has the audio now: a CallKit call, which the system activates itself, too.
  @discardableResult
  public func setAudioSessionActive(_ active: Bool) -> Bool {
    guard !active || !(isAudioTaken || isAudioOwnedByCallKit) else {
      if isAudioTaken { audioRefusals += 1 }
      return false
    }
    activate(active)
    if !active { onSessionChangedByApp?() }
    return true
  }

  /// Activates the audio session again after an interruption, unless it is active.
  public func resumeAudioSession() { if !audioSession.isActive { setAudioSessionActive(true) } }

  private func activate(_ active: Bool) {
    isSessionLost = false
    audioSession.setActive(active)
    traceSession()
    guard active, isAudioInterrupted else { return }
    isAudioInterrupted = false
    runAudioUnit()
  }

  /// Activates the session for a CallKit call.
  func activateForCallKit() { activate(true) }

  /// Deactivates the session after a CallKit call, or for the time in which it is held.
  func deactivateForCallKit() {
    let isWanted = isAudioInterrupted || audioUnit == .running
    if audioSession.isActive { activate(false) }
    haltAudioUnit()
    isAudioInterrupted = isWanted && wantsAudio
  }

  // MARK: Manual audio

  /// Lets the app start the audio unit itself, by ``setAudioEnabled(_:)``, or lets it start with the connection again.
  public func setManualAudio(_ isManual: Bool) {
    guard isManual != usesManualAudio else { return }
    usesManualAudio = isManual
    trace.write(PeerEvents.manualAudio, subject, isManual)
    if !isManual, wantsAudio { runAudioUnit() }
  }

  /// With manual audio, starts the audio unit where a connection wants it, or stops it.
  public func setAudioEnabled(_ isEnabled: Bool) {
    guard isEnabled != isAudioEnabled else { return }
    isAudioEnabled = isEnabled
    trace.write(PeerEvents.audioEnabled, subject, isEnabled)
    guard usesManualAudio else { return }
    if isEnabled { if wantsAudio { runAudioUnit() } } else { haltAudioUnit() }
  }

  // MARK: Route

  /// Plays on the receiver or the speaker, whatever is connected, until the session is configured or something else is
  /// used.
  ///
  /// - Returns: False if the session does not let the app choose: it is inactive or of another category than
  /// playAndRecord, or its mode is videoChat, which has no receiver.
  public func setOutput(_ output: AudioRoute.Output) -> Bool {
    guard audioSession.isActive, audioSession.category == .playAndRecord, [.receiver, .speaker].contains(output),
      output == .speaker || audioSession.mode != .videoChat
    else { return false }
    chosenOutput = output
    updateRoute()
    return true
  }

  /// Connects things to the device, the latest last, or takes them away. The latest that the session may use is used.
  func setAccessories(_ accessories: [AudioRoute.Accessory]) {
    self.accessories = accessories
    if audioSession.accessory(among: accessories) != usedAccessory { chosenOutput = nil }
    updateRoute()
  }

  private func updateRoute() {
    let used = audioSession.accessory(among: accessories)
    if used != usedAccessory {
      for accessory in [usedAccessory, used].compactMap(\.self) { accessoryUses[accessory, default: 0] += 1 }
      usedAccessory = used
    }
    let route = AudioRoute(of: audioSession, used, overriding: chosenOutput)
    let old = audioRoute
    audioRoute = route
    if route.output != old.output { trace.write(PeerEvents.audioOutput, subject, route.output.rawValue) }
    if route.input != old.input { trace.write(PeerEvents.audioInput, subject, route.input.rawValue) }
  }

  /// Gives up what a process had: its session, its audio unit, its camera.
  func processEnded() {
    wantsAudio = false
    haltAudioUnit()
    (audioSession, chosenOutput, isSessionLost) = (AudioSession(), nil, false)
    traceSession()
    setAudioEnabled(false)
    setManualAudio(false)
    setCamera(open: false)
    captureScreen(nil)
    screenCleared()
    if cameraPosition != settings.firstCamera {
      cameraPosition = settings.firstCamera
      trace.write(PeerEvents.cameraPosition, subject, cameraPosition.rawValue)
    }
  }

  // MARK: Interruptions

  /// How often the app did not get the audio because something else had it.
  private(set) var audioRefusals = 0

  /// Takes the audio from the app: its session is inactive, and its audio unit stands.
  ///
  /// - Returns: Whether the app had it.
  @discardableResult
  func interruptAudio() -> Bool {
    isAudioTaken = true
    guard audioSession.isActive || audioUnit == .running else { return false }
    let isWanted = isAudioInterrupted || audioUnit != .stopped
    isSessionLost = audioSession.isActive || isSessionLost
    audioSession.setActive(false)
    traceSession()
    haltAudioUnit()
    isAudioInterrupted = isWanted
    return true
  }

  /// Lets the app have the audio again: it takes it by activating its session.
  func endAudioInterruption() { isAudioTaken = false }

  /// Takes the camera's pictures from the app for a reason, or gives them back.
  ///
  /// - Returns: Whether that took a camera that the app wants, or gave it back.
  func setCameraInterruption(_ reason: CameraInterruption?) -> Bool {
    guard reason != cameraInterruption else { return false }
    let wasInterrupted = isCameraInterrupted
    cameraInterruption = reason
    trace.write(PeerEvents.cameraInterruption, subject, reason?.rawValue ?? "none")
    traceCamera()
    return wantsCamera && isCameraCapturer && wasInterrupted != isCameraInterrupted
  }

  /// Uses the other camera.
  ///
  /// - Returns: False if the device has none, and goes on with the one in use.
  public func switchCamera() -> Bool {
    guard settings.hasFrontCamera else { return false }
    cameraPosition = cameraPosition == .front ? .back : .front
    trace.write(PeerEvents.cameraPosition, subject, cameraPosition.rawValue)
    guard settings.frontCameraFormats != settings.backCameraFormats else { return true }
    traceCameraFormats()
    if screenCapture == nil, !usesCustomCapturer { onCapturerChanged?() }
    return true
  }

  /// Returns the formats of a camera; none for one that gives any.
  public func cameraFormats(of position: CameraPosition) -> [CameraFormat] {
    position == .front ? settings.frontCameraFormats : settings.backCameraFormats
  }

  /// Returns the format of the camera's pictures for one that the app wants, and notes it. The app's own pictures have what it
  /// wants.
  func captureFormat(for wanted: CameraFormat) -> CameraFormat {
    guard screenCapture == nil, !usesCustomCapturer, settings.camera != nil else { return wanted }
    let format = wanted.nearest(among: cameraFormats(of: cameraPosition))
    if format != shownFormat { trace.write(PeerEvents.cameraFormat, subject, format.text) }
    shownFormat = format
    return format
  }

  private func traceCameraFormats() {
    let formats = cameraFormats(of: cameraPosition).map(\.text)
    trace.write(PeerEvents.cameraFormats, subject, formats.isEmpty ? "any" : formats.joined(separator: " "))
  }

  /// Notes whether the app is in the background, where the system shows a red bar while it records.
  func setInBackground(_ isInBackground: Bool) {
    self.isInBackground = isInBackground
    traceRedBar()
  }

  private func traceRedBar() {
    let isShown = isInBackground && isMicrophoneOpen
    guard isShown != hasRedBar else { return }
    hasRedBar = isShown
    trace.write(PeerEvents.redBar, subject, isShown)
  }

  private func traceSession() {
    trace.write(
      PeerEvents.audioSession, subject, audioSession.isActive ? "active" : "inactive", audioSession.category.rawValue,
      audioSession.mode.rawValue)
    updateRoute()
  }

  /// The delay of the audio hardware's callbacks.
  package private(set) var audioLatency = Interval.zero

  package func setAudioLatency(_ latency: Interval) { audioLatency = latency }

  /// The number of callbacks of the audio hardware.
  package private(set) var callbackCount = 0

  /// Counts a callback of the audio hardware and returns its delay.
  package func takeLatency() -> Interval {
    if isAudioRunning { callbackCount += 1 }
    return audioLatency
  }

  // MARK: Events of connections

  /// The delays with which events of peer connections reach the app.
  package private(set) var eventLateness = EventLateness()

  package func setEventLateness(_ lateness: EventLateness) { eventLateness = lateness }

  /// The events that faults made late, in order.
  package private(set) var lateEvents: [LateEvent] = []

  /// Keeps events that wait.
  ///
  /// - Returns: their places in ``lateEvents``.
  func hold(_ names: [ConnectionEventName], from began: Instant, until due: Instant) -> Range<Int> {
    let start = lateEvents.count
    lateEvents += names.map { LateEvent(name: $0, fault: eventLateness.fault(of: $0) ?? 0, began: began, due: due) }
    return start..<lateEvents.count
  }

  /// Notes that held events have reached the app, or do not reach it any more.
  func settle(_ places: Range<Int>, at now: Instant) {
    for place in places { lateEvents[place].outcome = lateEvents[place].began < now ? .missed : .discarded }
  }

  /// The number of events so far, by name.
  package private(set) var eventCounts: [ConnectionEventName: Int] = [:]

  /// Counts an event and returns its delay.
  func takeLateness(of event: ConnectionEventName) -> Interval {
    eventCounts[event, default: 0] += 1
    return eventLateness[event]
  }

  // MARK: Audio unit

  /// Starts or stops the audio unit, as audio is wanted or not.
  func setAudioUnit(isWanted: Bool) {
    guard isWanted != wantsAudio else { return }
    if isWanted { startAudioUnit() } else { stopAudioUnit() }
  }

  /// Starts the audio unit with the *current* session. If the session does not permit recording and playback, the unit
  /// fails and stays silent until it is restarted.
  package func startAudioUnit() {
    wantsAudio = true
    runAudioUnit()
  }

  private func runAudioUnit() {
    guard audioUnit == .stopped, !isShutDown, !usesManualAudio || isAudioEnabled else { return }
    guard !isAudioTaken else {
      // It starts when the app takes the audio after the interruption.
      isAudioInterrupted = true
      return
    }
    // A unit that starts takes the session that an interruption has made inactive, as libwebrtc's does.
    if isSessionLost, !isAudioOwnedByCallKit { activate(true) }
    let works = settings.isSimulator || (audioSession.mayRecord && audioSession.mayPlay)
    audioUnit = works ? .running : .failed
    guard works else { return }
    setOpen(true)
    onAudioChanged?()
  }

  /// Opens or closes the microphone of a running audio unit; what is heard goes on.
  func setMicrophone(isWanted: Bool) {
    guard audioUnit == .running, settings.mayRecord, isWanted != isMicrophoneOpen else { return }
    isMicrophoneOpen = isWanted
    trace.write(PeerEvents.microphone, subject, isWanted)
    traceCapture()
  }

  package func stopAudioUnit() {
    wantsAudio = false
    haltAudioUnit()
  }

  private func haltAudioUnit() {
    if audioUnit == .running { setOpen(false) }
    audioUnit = .stopped
    isAudioInterrupted = false
    setAudible(false)
    onAudioChanged?()
  }

  private func setOpen(_ isOpen: Bool) {
    if settings.mayRecord, isOpen != isMicrophoneOpen {
      isMicrophoneOpen = isOpen
      trace.write(PeerEvents.microphone, subject, isOpen)
      traceCapture()
    }
    trace.write(PeerEvents.speaker, subject, isOpen)
    hasPlayed = false
  }

  /// Writes whether anything is recorded.
  private func traceCapture() {
    traceRedBar()
    let dot = isCameraOpen ? "green" : isMicrophoneOpen ? "orange" : "none"
    if dot != indicator {
      indicator = dot
      trace.write(PeerEvents.indicator, subject, dot)
    }
    let isCapturing = isMicrophoneOpen || isCameraOpen
    guard isCapturing != self.isCapturing else { return }
    self.isCapturing = isCapturing
    trace.write(PeerEvents.capture, subject, isCapturing)
  }

  // MARK: Camera and screen

  package func setCamera(open isOpen: Bool) {
    wantsCamera = isOpen
    traceCamera()
  }

  /// Sends the app's own screen in place of the camera's pictures, or with nil those again. The track is the same, so
  /// that nothing is negotiated.
  public func captureScreen(_ capture: ScreenCapture?) {
    guard capture != screenCapture else { return }
    screenCapture = capture
    traceCamera()
    onCapturerChanged?()
  }

  /// Whether the camera gives the pictures, and no custom capturer or screen.
  private var isCameraCapturer: Bool { !usesCustomCapturer && screenCapture == nil }

  private func traceCamera() {
    let isKept = wantsCamera && isCameraCapturer && isCameraInterrupted && cameraInterruption != .background
    if isKept != isCameraKept {
      isCameraKept = isKept
      cameraLossChanges += 1
    }
    let isOpen = wantsCamera && isCameraCapturer && !isCameraInterrupted && !isInBackground
    guard isOpen != isCameraOpen else { return }
    isCameraOpen = isOpen
    trace.write(PeerEvents.camera, subject, isOpen)
    traceCapture()
  }

  /// Notes that the app has made a view for the pictures of a user. In the background the system draws none.
  public func madeView(for user: String) { trace.write(PeerEvents.madeView, subject, user) }

  /// Notes that a picture of a remote track is shown.
  package func shown(at now: Instant) {
    if lastShown == nil { trace.write(PeerEvents.firstShown, subject) }
    lastShown = now
    setVisible(true)
  }

  /// Notes that time has passed; without new pictures nothing counts as shown.
  package func checkShown(at now: Instant) {
    if let lastShown, now - lastShown > Self.pictureLimit { setVisible(false) }
  }

  /// Notes that no connection shows pictures any more.
  package func screenCleared() {
    lastShown = nil
    setVisible(false)
  }

  private func setVisible(_ value: Bool) {
    guard value != isVisible else { return }
    isVisible = value
    trace.write(PeerEvents.visible, subject, value)
  }

  /// Whether samples flow in both directions.
  package var isAudioRunning: Bool { audioUnit == .running }

  /// Records whether the played audio was loud enough to hear.
  package func played(isLoud: Bool, at now: Instant) {
    if isLoud, isAudioRunning {
      lastHeard = now
      if !hasPlayed { trace.write(PeerEvents.firstPlayed, subject) }
      hasPlayed = true
      setAudible(true)
    } else if let lastHeard, now - lastHeard > Self.silenceLimit {
      setAudible(false)
    }
  }

  private func setAudible(_ value: Bool) {
    guard value != isAudible else { return }
    isAudible = value
    trace.write(PeerEvents.audible, subject, value)
  }
}
