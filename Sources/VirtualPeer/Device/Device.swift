public import CallCore
public import Vocabulary

/// The phone a peer runs on, as far as a call notices it: audio session, microphone, speaker.
public final class Device {
  /// Settings a scenario gives a device.
  public struct Settings: Hashable, Sendable {
    public var microphone = MicrophoneSource.speech
    /// Whether the user lets the app record. Without it the app hears the other side and sends silence.
    public var mayRecord = true
    /// A simulator plays and records whatever the audio session says; a real phone does not.
    public var isSimulator = false
    /// How much faster than true time the audio hardware's clock runs, in parts per million.
    public var audioClockDriftPPM = 0.0
    /// Whether each connection gets back what came over it, in place of the microphone: an echo test service.
    public var echoes = false

    public init() {}
  }

  public let settings: Settings
  public private(set) var audioSession = AudioSession()

  private let trace: Trace
  private let subject: TraceSubject
  private var hasPlayed = false
  private var audioUnit: AudioUnitState = .stopped
  private var lastHeard: Instant?
  private var isAudible = false

  private enum AudioUnitState { case stopped, running, failed }

  /// How long silence lasts before a call counts as silent: longer than a pause in speech.
  public static let silenceLimit = Interval.seconds(2)

  /// They open and close together, and the speaker with them: there is no camera yet.
  private static let recording = [PeerEvents.microphone, PeerEvents.capture]

  package init(settings: Settings, trace: Trace, peer: String) {
    self.settings = settings
    self.trace = trace
    subject = trace.subject(peer)
    // What is closed and silent is known to be so before it is opened for the first time.
    let closed = Self.recording + [PeerEvents.speaker, PeerEvents.audible]
    for event in closed { trace.write(event, subject, false) }
  }

  // MARK: Audio session

  public func configureAudioSession(
    category: AudioSession.Category, mode: AudioSession.Mode, options: AudioSession.Options
  ) {
    audioSession.configure(category: category, mode: mode, options: options)
    traceSession()
  }

  public func setAudioSessionActive(_ active: Bool) {
    audioSession.setActive(active)
    traceSession()
  }

  private func traceSession() {
    trace.write(
      PeerEvents.audioSession, subject, audioSession.isActive ? "active" : "inactive", audioSession.category.rawValue,
      audioSession.mode.rawValue)
  }

  /// How late the audio hardware calls back.
  package private(set) var audioLatency = Interval.zero

  package func setAudioLatency(_ latency: Interval) { audioLatency = latency }

  /// How often the audio hardware has called back.
  package private(set) var callbackCount = 0

  /// How late this call of the audio hardware is.
  package func takeLatency() -> Interval {
    if isAudioRunning { callbackCount += 1 }
    return audioLatency
  }

  // MARK: Audio unit

  /// Starts the audio unit with the session as it is *now*. One that may not record stays dead until restarted.
  package func startAudioUnit() {
    guard audioUnit == .stopped else { return }
    let works = settings.isSimulator || (audioSession.mayRecord && audioSession.mayPlay)
    audioUnit = works ? .running : .failed
    guard works else { return }
    setOpen(true)
  }

  package func stopAudioUnit() {
    if audioUnit == .running { setOpen(false) }
    audioUnit = .stopped
    setAudible(false)
  }

  private func setOpen(_ isOpen: Bool) {
    let events = (settings.mayRecord ? Self.recording : []) + [PeerEvents.speaker]
    for event in events { trace.write(event, subject, isOpen) }
    hasPlayed = false
  }

  /// Whether samples flow in both directions.
  package var isAudioRunning: Bool { audioUnit == .running }

  /// Says what the speaker played: whether it was loud enough to hear.
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
