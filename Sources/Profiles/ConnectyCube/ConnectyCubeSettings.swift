internal import CallCore
internal import Vocabulary

/// The settings of the product's SDK and app.
struct ConnectyCubeSettings {
  /// The calls before which the app initializes the SDK's audio session. The documentation asks for every one.
  enum AudioInitialization: String, CaseIterable, Sendable {
    case everyCall = "every-call"
    case firstCall = "first-call"
    case never
  }

  /// The users whom a call may have besides its initiator.
  static let opponentLimit = 3
  /// The pictures of a shared screen that may be sent in a second.
  static let screenFrameRateLimit = 30
  /// The least times that the SDK takes.
  static let leastAnswerInterval = Interval.seconds(10)
  static let leastDiallingInterval = Interval.seconds(3)
  /// The time after which a connection fails whose sides do not agree on DTLS: a harness default, within the time in
  /// which ICE fails.
  static let disagreementTimeout = Interval.seconds(18)
  /// The least time between reports: a harness default.
  static let leastStatsReportInterval = Interval.milliseconds(100)

  let answerInterval: Interval
  let diallingInterval: Interval
  let disconnectInterval: Interval
  let setupTimeout: Interval
  let waitsAfterFailure: Bool
  let restartsICE: Bool
  let initializesSDK: Bool
  /// Whether the app keeps a session that begins beside another one.
  let keepsSeveralSessions: Bool
  let audioSession: AudioInitialization
  let bandwidth: BandwidthLimit
  let audioMode: AudioSession.Mode
  /// Whether the audio session allows AirPlay.
  let allowsAirPlay: Bool
  /// The time between reports of the statistics; nil for none.
  let statsReportInterval: Interval?
  /// Whether the app has a call log, as a second delegate of the client.
  let keepsLog: Bool
  /// Whether connections use DTLS.
  let usesDTLS: Bool
  /// Whether the device is one of those on which sessions have no recorder.
  let isLowPerformance: Bool
  /// The bytes that the device has for a recording; nil for any number.
  let recorderSpace: Int?
  /// How the app uses CallKit; nil if it does not.
  let callKit: CallKitSettings?

  init(_ values: NamedValues) {
    answerInterval = max(values.duration("answer-interval") ?? .seconds(45), Self.leastAnswerInterval)
    diallingInterval = max(values.duration("dialling-interval") ?? .seconds(5), Self.leastDiallingInterval)
    disconnectInterval = values.duration("disconnect-interval") ?? .seconds(30)
    setupTimeout = values.duration("setup-timeout") ?? .seconds(30)
    waitsAfterFailure = values.flag("waits-after-failure") ?? false
    restartsICE = values.flag("ice-restart") ?? false
    initializesSDK = values.flag("initialize-rtc") ?? true
    keepsSeveralSessions = values.flag("several-sessions") ?? false
    audioSession = values.text("audio-session").flatMap(AudioInitialization.init) ?? .everyCall
    bandwidth = BandwidthLimit(audio: values.rate("audio-bandwidth"), video: values.rate("video-bandwidth"))
    audioMode = values.text("audio-mode") == Self.videoChat ? .videoChat : .voiceChat
    allowsAirPlay = values.flag("airplay") ?? false
    let reports = values.duration("stats-report-interval") ?? .zero
    statsReportInterval = reports > .zero ? max(reports, Self.leastStatsReportInterval) : nil
    keepsLog = values.flag("call-log") ?? false
    usesDTLS = values.flag("dtls") ?? true
    isLowPerformance = values.flag("low-performance") ?? false
    recorderSpace = values.byteSize("recorder-space").map { Int(clamping: $0) }
    callKit = values.flag(ConnectyCubeApp.callKit) == true ? CallKitSettings(values) : nil
  }

  static let voiceChat = "voice-chat"
  static let videoChat = "video-chat"
}

/// How the app does what the documentation asks of an app with CallKit: as it says, or in one of the ways that break it.
struct CallKitSettings {
  /// When manual audio is turned on.
  enum ManualAudio: String, CaseIterable, Sendable {
    case beforeReport = "before-report"
    case afterReport = "after-report"
    case never
  }

  /// When the audio unit may run.
  enum AudioEnabling: String, CaseIterable, Sendable {
    case didActivate = "did-activate"
    case answerAction = "answer-action"
  }

  /// When the audio session is taken down.
  enum AudioDeinitialization: String, CaseIterable, Sendable {
    case didDeactivate = "did-deactivate"
    case endAction = "end-action"
    /// In the callback `sessionDidClose`, as an app without CallKit does.
    case sessionDidClose = "session-did-close"
    /// The same, unless the session is active because of somebody else.
    case sessionDidCloseGuarded = "session-did-close-guarded"
  }

  /// What the app does with a push.
  enum PushReport: String, CaseIterable, Sendable { case once, twice, never }

  let manualAudio: ManualAudio
  let audioEnabling: AudioEnabling
  let audioDeinitialization: AudioDeinitialization
  let pushReport: PushReport
  /// Whether manual audio and the audio unit are off again after the end action.
  let resetsAudio: Bool

  init(_ values: NamedValues) {
    manualAudio = values.text("manual-audio").flatMap(ManualAudio.init) ?? .beforeReport
    audioEnabling = values.text("audio-enabling").flatMap(AudioEnabling.init) ?? .didActivate
    audioDeinitialization = values.text("audio-deinitialization").flatMap(AudioDeinitialization.init) ?? .didDeactivate
    pushReport = values.text("push-report").flatMap(PushReport.init) ?? .once
    resetsAudio = values.flag("audio-reset") ?? true
  }
}

/// The bandwidth that the app sets for audio and video, as a `b=AS` line in descriptions (RFC 8866 section 5.8).
struct BandwidthLimit: Hashable, Sendable {
  var audio: DataRate?
  var video: DataRate?

  /// Returns a description with its limits. A line that a section has already is replaced.
  func limiting(_ sdp: String) -> String {
    guard audio != nil || video != nil else { return sdp }
    var lines: [Substring] = []
    var limit: DataRate?
    for line in sdp.split(separator: "\r\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("m=") { limit = line.hasPrefix("m=audio ") ? audio : line.hasPrefix("m=video ") ? video : nil }
      // The order of lines is m, i, c, b, k, a.
      if let rate = limit, !["m=", "i=", "c="].contains(where: line.hasPrefix) {
        lines.append("b=AS:\(rate.bitsPerSecond / 1_000)")
        limit = nil
        if line.hasPrefix("b=AS:") { continue }
      }
      lines.append(line)
    }
    return lines.joined(separator: "\r\n")
  }
}
