package import CallCore
package import DTLS
internal import Formats
package import PeerSession

/// The user's settings for a live call.
package struct CallSettings {
  package enum Play: Hashable, Sendable {
    case silence
    case tone(Double)
    case file(String)
    /// The received audio, sent back.
    case echo
  }

  package var play = Play.silence
  /// The path of a WAV file for received audio.
  package var record: String?
  package var servers: [ICEServer] = []
  package var relayOnly = false
  /// The certificates that are accepted from TURN servers.
  package var tls = TLSClientConfiguration()
  package var relayRefresh = RelayRefresh()
  package var interfaces = InterfaceFilter()
  package var ports: ClosedRange<UInt16> = 0...0
  package var audio = AudioSettings()
  /// The settings of video; nil to refuse it.
  package var video: VideoSettings?
  package var camera = CameraSettings()
  /// The duration of the call after its connection; nil for no limit.
  package var duration: Interval?
  /// The timeout from the two descriptions to the connection, and from an offer over HTTP to its answer.
  package var setupTimeout = Interval.seconds(30)
  /// The timeout for the user who carries an answer to the other side.
  package var carryingTimeout = Interval.seconds(600)
  package var stats = StatsOutput.none
  /// The path of a file for NSS key log lines, which decrypt captures.
  package var keyLog: String?
  package var obfuscatesAddresses = false
  package var tap: (any LiveTap)?
  /// A sink for log lines.
  package var log: (String) -> Void = { _ in }

  package init() {}

  /// Reads the file to play, and checks that the call's output files can be written.
  ///
  /// The file is read once, before any call: an incoming call must not wait for it, nor fail because of it.
  mutating func prepareFiles() throws(FileError) {
    recording = if case .file(let path) = play { try WAVRecording(path: path).samples } else { [] }
    if let record { try FileSink.check(path: record, mode: .patched) }
    if let keyLog { try FileSink.check(path: keyLog) }
  }

  /// The samples of the file to play, set by ``prepareFiles()``.
  private var recording: [Int16] = []

  private var microphone: AudioSource {
    switch play {
    case .silence: return .silence
    case .tone(let frequency): return .tone(frequency)
    case .file:
      precondition(!recording.isEmpty, "the call's files are prepared before it is made")
      return .recording(recording)
    case .echo: return .echo(AudioEcho())
    }
  }

  /// Creates a connection with these settings, after ``prepareFiles()``.
  ///
  /// - Throws: if there are addresses, but no socket could be opened on any of them.
  func makeConnection(on loop: SocketLoop) throws -> LiveConnection {
    let random = RandomSource.system
    var session = SessionConfiguration.live(wallClock: loop.wallClock(), random: random)
    session.iceServers = servers
    session.tls = tls
    session.iceTransportPolicy = relayOnly ? .relay : .all
    session.relayRefresh = relayRefresh
    session.audio = audio
    session.video = video
    var configuration = LiveConfiguration(session: session, random: random)
    configuration.interfaces = interfaces
    configuration.ports = ports
    configuration.camera = camera
    configuration.obfuscatesAddresses = obfuscatesAddresses
    configuration.tap = tap
    configuration.log = log
    let connection = LiveConnection(configuration, world: loop)
    if connection.interfaces.isEmpty, let refusal = connection.refusals.first { throw refusal }
    connection.microphone = microphone
    return connection
  }
}

/// The format of statistics during a call.
package enum StatsOutput: Sendable { case none, lines, json }

extension CallSettings.Play {
  /// Fails unless the frequency is above 0 and below half the sample rate.
  init?(tone frequency: Double) {
    guard frequency > 0, frequency < 24_000 else { return nil }
    self = .tone(frequency)
  }
}

extension CallSettings.Play: LosslessStringConvertible {
  /// Parses `silence`, `echo`, `tone:440` or the name of a file.
  package init?(_ text: String) {
    switch text {
    case "": return nil
    case "silence": self = .silence
    case "echo": self = .echo
    case _ where text.hasPrefix("tone:"):
      guard let frequency = Double(text.dropFirst(5)), let tone = Self(tone: frequency) else { return nil }
      self = tone
    default: self = .file(text)
    }
  }

  package var description: String {
    switch self {
    case .silence: "silence"
    case .echo: "echo"
    case .tone(let frequency): "tone:\(frequency)"
    case .file(let path): path
    }
  }
}
