package import CallCore
package import CallSession
package import DTLS
internal import Formats

/// What a user asks of a live call.
package struct CallSettings {
  package enum Play: Hashable, Sendable {
    case silence
    case tone(Double)
    case file(String)
    /// What is heard, back to who said it.
    case echo
  }

  package var play = Play.silence
  /// A WAV file for what is heard.
  package var record: String?
  package var servers: [ICEServer] = []
  package var relayOnly = false
  /// Whose certificates TURN servers may show.
  package var tls = TLSClientConfiguration()
  package var relayRefresh = RelayRefresh()
  package var interfaces = InterfaceFilter()
  package var ports: ClosedRange<UInt16> = 0...0
  package var audio = AudioSettings()
  /// How long the call is to last once it is connected; nil for as long as the other side likes.
  package var duration: Interval?
  /// How long it may take from the two descriptions to the connection, and from an offer over HTTP to its answer.
  package var setupTimeout = Interval.seconds(30)
  /// How long a person may take to carry an answer to the other side.
  package var carryingTimeout = Interval.seconds(600)
  package var stats = StatsOutput.none
  /// A file for NSS key log lines, so that captures can be decrypted.
  package var keyLog: String?
  package var concealsAddresses = false
  package var tap: (any LiveTap)?
  /// Gets lines for people.
  package var log: (String) -> Void = { _ in }

  package init() {}

  /// Reads the file that is played, and tells beforehand which of the call's files cannot be written.
  ///
  /// A file is read here once: a call that comes in later must not wait for it, nor fail for it.
  mutating func prepareFiles() throws(FileError) {
    recording = if case .file(let path) = play { try WAVRecording(path: path).samples } else { [] }
    if let record { try FileSink.check(path: record, mode: .patched) }
    if let keyLog { try FileSink.check(path: keyLog) }
  }

  /// What the played file says, from ``prepareFiles()``.
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

  /// A new connection as these settings want it, whose files have been prepared.
  ///
  /// - Throws: when there are addresses and a socket on none of them.
  func makeConnection(on loop: SocketLoop) throws -> LiveConnection {
    let random = RandomSource.system
    var session = SessionConfiguration.live(wallClock: loop.wallClock(), random: random)
    session.iceServers = servers
    session.tls = tls
    session.iceTransportPolicy = relayOnly ? .relay : .all
    session.relayRefresh = relayRefresh
    session.audio = audio
    var configuration = LiveConfiguration(session: session, random: random)
    configuration.interfaces = interfaces
    configuration.ports = ports
    configuration.concealsAddresses = concealsAddresses
    configuration.tap = tap
    configuration.log = log
    let connection = LiveConnection(configuration, world: loop)
    if connection.interfaces.isEmpty, let refusal = connection.refusals.first { throw refusal }
    connection.microphone = microphone
    return connection
  }
}

/// How statistics are shown while a call lasts.
package enum StatsOutput: Sendable { case none, lines, json }

extension CallSettings.Play {
  /// Nil for what is no tone of up to half the sample rate.
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
