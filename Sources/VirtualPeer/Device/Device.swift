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
    /// Whether each connection sends back the audio it receives, instead of the microphone: an echo test service.
    public var echoes = false

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
  private var audioUnit: AudioUnitState = .stopped
  private var lastHeard: Instant?
  private var isAudible = false

  /// Called when the audio unit has stopped.
  var onAudioStopped: (() -> Void)?
  /// Whether the system has taken the audio from the app, and a call still wants it.
  private(set) var isAudioInterrupted = false
  /// Whether something else may use the audio now.
  private(set) var isAudioTaken = false
  private(set) var isCameraInterrupted = false
  /// Whether the app makes its pictures itself, with a custom capturer: the camera stays closed, and no interruption of it
  /// stops them. An app sets it before it sends video.
  public var usesCustomCapturer = false
  /// Whether there are no pictures to send now.
  var isPictureMissing: Bool { isCameraInterrupted && !usesCustomCapturer }

  private enum AudioUnitState { case stopped, running, failed }

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
    // A condition must have a value before the first change: everything starts closed and silent.
    var closed = [PeerEvents.microphone, PeerEvents.capture, PeerEvents.speaker, PeerEvents.audible]
    if settings.hasVideo { closed += [PeerEvents.camera, PeerEvents.visible] }
    for event in closed { trace.write(event, subject, false) }
  }

  // MARK: Audio session

  /// Sets the audio session's category, mode and options, and writes them into the trace.
  public func configureAudioSession(
    category: AudioSession.Category, mode: AudioSession.Mode, options: AudioSession.Options
  ) {
    audioSession.configure(category: category, mode: mode, options: options)
    traceSession()
  }

  /// Activates or deactivates the audio session, and writes it into the trace.
  ///
  /// - Returns: False if something else has the audio now.
  @discardableResult
  public func setAudioSessionActive(_ active: Bool) -> Bool {
    guard !active || !isAudioTaken else { return false }
    audioSession.setActive(active)
    traceSession()
    if active, isAudioInterrupted {
      isAudioInterrupted = false
      startAudioUnit()
    }
    return true
  }

  // MARK: Interruptions

  /// Takes the audio from the app: its session is inactive, and its audio unit stands.
  func interruptAudio() {
    isAudioTaken = true
    guard audioSession.isActive || audioUnit == .running else { return }
    let isWanted = isAudioInterrupted || audioUnit != .stopped
    audioSession.setActive(false)
    traceSession()
    stopAudioUnit()
    isAudioInterrupted = isWanted
  }

  /// Lets the app have the audio again: it takes it by activating its session.
  func endAudioInterruption() { isAudioTaken = false }

  /// Takes the camera's pictures from the app, or gives them back.
  ///
  /// - Returns: Whether that changed something of a camera in use.
  func setCameraInterrupted(_ isInterrupted: Bool) -> Bool {
    guard isInterrupted != isCameraInterrupted else { return false }
    isCameraInterrupted = isInterrupted
    guard wantsCamera else { return false }
    traceCamera()
    return true
  }

  private func traceSession() {
    trace.write(
      PeerEvents.audioSession, subject, audioSession.isActive ? "active" : "inactive", audioSession.category.rawValue,
      audioSession.mode.rawValue)
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

  /// Starts the audio unit with the *current* session. If the session does not permit recording and playback, the unit
  /// fails and stays silent until it is restarted.
  package func startAudioUnit() {
    guard audioUnit == .stopped else { return }
    guard !isAudioTaken else {
      // It starts when the app takes the audio after the interruption.
      isAudioInterrupted = true
      return
    }
    let works = settings.isSimulator || (audioSession.mayRecord && audioSession.mayPlay)
    audioUnit = works ? .running : .failed
    guard works else { return }
    setOpen(true)
  }

  /// Opens or closes the microphone of a running audio unit; what is heard goes on.
  func setMicrophone(isWanted: Bool) {
    guard audioUnit == .running, settings.mayRecord, isWanted != isMicrophoneOpen else { return }
    isMicrophoneOpen = isWanted
    trace.write(PeerEvents.microphone, subject, isWanted)
    traceCapture()
  }

  package func stopAudioUnit() {
    if audioUnit == .running { setOpen(false) }
    audioUnit = .stopped
    isAudioInterrupted = false
    setAudible(false)
    onAudioStopped?()
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

  private func traceCamera() {
    let isOpen = wantsCamera && !isCameraInterrupted && !usesCustomCapturer
    guard isOpen != isCameraOpen else { return }
    isCameraOpen = isOpen
    trace.write(PeerEvents.camera, subject, isOpen)
    traceCapture()
  }

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
