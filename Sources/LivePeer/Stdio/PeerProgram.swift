internal import CallCore
internal import Formats
internal import LibC
internal import PeerSession
internal import SDP

/// A peer connection driven over standard input and output by the peer protocol (docs/peer-protocol.md).
package final class PeerProgram {
  private let loop: SocketLoop
  private let agent: String
  private let settings: CallSettings
  private let write: (String) -> Void
  private var connection: LiveConnection?
  private var recording: WAVFile?
  private var pictures: PictureLog?
  private var wallClock = WallClock()
  private var input: LineReader?
  private var tracks: [(name: String, sender: Transceiver.ID)] = []
  private var tracksAdded = 0

  /// - Parameters:
  ///   - agent: the name and version in the answer to `open`.
  ///   - settings: the settings that `open` does not contain.
  package init(loop: SocketLoop, agent: String, settings: CallSettings, write: @escaping (String) -> Void) {
    self.loop = loop
    self.agent = agent
    self.settings = settings
    self.write = write
  }

  /// Serves until standard input ends or a signal comes.
  ///
  /// - Throws: if a line is too long for a request; the call ends with an `error` event.
  package func run() throws(PeerInputError) {
    var failure: PeerInputError?
    input = LineReader(
      STDIN_FILENO, loop: loop, bytes: { [unowned self] in receive($0) },
      end: { [loop] end in
        if end == .lineTooLong { failure = PeerInputError() }
        loop.stop()
      })
    let signals = SignalWatch(on: loop) { [loop] in loop.stop() }
    withExtendedLifetime(signals) { loop.run() }
    if let failure { sendError("\(failure)") }
    close()
    while connection?.isSilent == false { loop.turn() }
    if let failure { throw failure }
  }

  // MARK: Messages

  package func receive(_ line: some Sequence<UInt8>) {
    let message: JSON
    do throws(JSONError) {
      message = try JSON(parsing: line)
    } catch {
      return answer(.null, error: PeerError(.syntax, "not JSON: \(error)"))
    }
    do throws(PeerError) {
      let request = try PeerRequest(message)
      send(["id": request.id, "result": try perform(request)])
    } catch {
      answer(message["id"] ?? .null, error: error)
    }
  }

  private func answer(_ id: JSON, error: PeerError) { send(["id": id, "error": error.json]) }

  private func send(_ message: JSON) { write(message.description + "\n") }

  private func sendError(_ message: String) {
    send(["event": "error", "name": "OperationError", "message": .string(message)])
  }

  private func report(_ event: SessionEvent) {
    guard let message = event.message(timestamp: loop.monotonicMilliseconds) else { return }
    send(message)
  }

  // MARK: Methods

  private func perform(_ request: PeerRequest) throws(PeerError) -> JSON {
    if request.method == "open" { return try open(request) }
    if request.method == "close" {
      close()
      return [:]
    }
    guard let connection, !connection.isClosed else {
      throw PeerError(.invalidState, connection == nil ? "open comes first" : "the connection is closed")
    }
    do {
      return try perform(request, on: connection)
    } catch let error as SessionError {
      throw PeerError(error)
    } catch let error as PeerError {
      throw error
    } catch {
      throw PeerError(.operation, "\(error)")
    }
  }

  private func perform(_ request: PeerRequest, on connection: LiveConnection) throws -> JSON {
    switch request.method {
    case "addTrack": return try addTrack(request, to: connection)
    case "removeTrack":
      let sender = try sender(of: request)
      try connection.removeTrack(sender)
      tracks.removeAll { $0.sender == sender }
    case "setEnabled": connection.setTrackEnabled(try request.params.bool("enabled"), of: try sender(of: request))
    case "setDirection": try connection.setDirection(try direction(in: request), of: try sender(of: request))
    case "setCodecPreferences": try setCodecPreferences(request, on: connection)
    case "createOffer":
      if case .bool(true)? = request.params["iceRestart"] { connection.restartICE() }
      return try connection.createOffer().json
    case "createAnswer": return try connection.createAnswer().json
    case "setLocalDescription": try connection.setLocalDescription(request.params.description())
    case "setRemoteDescription": try connection.setRemoteDescription(request.params.description())
    case "addIceCandidate":
      try connection.addICECandidate(
        request.params.optionalString("candidate"), mid: request.params.optionalString("sdpMid"),
        mLineIndex: request.params.optionalUnsignedShort("sdpMLineIndex"))
    case "restartIce": connection.restartICE()
    case "getStats":
      let timestamp = Double(wallClock.unixNanoseconds(at: loop.now)) / 1e6
      return ["stats": connection.statistics().json(timestamp: timestamp)]
    case let method where DataChannelRequest.methods.contains(method):
      return try DataChannelRequest.perform(request, on: connection)
    default: throw PeerError(.notSupported, "there is no method \(request.method)")
    }
    return [:]
  }

  private func addTrack(_ request: PeerRequest, to connection: LiveConnection) throws -> JSON {
    let name = try request.params.string("kind")
    guard let kind = MediaKind(rawValue: name) else {
      throw PeerError(.typeError, "'\(name)' is no kind of track: audio or video")
    }
    if request.params["sendEncodings"] != nil {
      throw PeerError(.notSupported, "callsim live sends one encoding; it receives several")
    }
    let sender = try connection.addTrack(MediaStreamTrack(kind))
    tracksAdded += 1
    tracks.append(("\(name)\(tracksAdded)", sender))
    return ["track": .string("\(name)\(tracksAdded)")]
  }

  /// Prefers codecs by their names; the helpers, such as RTX, stay.
  private func setCodecPreferences(_ request: PeerRequest, on connection: LiveConnection) throws {
    let sender = try sender(of: request)
    let known = MediaKind.allCases.map { connection.codecs(for: $0) }
    var preferred: [CodecCapability] = []
    for name in try request.params.strings("codecs") {
      let named = known.lazy.map { $0.filter { $0.name.lowercased() == name.lowercased() } }.first { !$0.isEmpty }
      guard let named else { throw PeerError(.invalidModification, "there is no codec \(name)") }
      preferred += named
    }
    let helpers = known.first { $0.contains { preferred.contains($0) } }?.filter { $0.role != .media } ?? []
    try connection.setCodecPreferences(preferred + helpers, of: sender)
  }

  private func sender(of request: PeerRequest) throws(PeerError) -> Transceiver.ID {
    let name = try request.params.string("track")
    guard let track = tracks.first(where: { $0.name == name }) else {
      throw PeerError(.invalidAccess, "there is no track \(name)")
    }
    return track.sender
  }

  private func direction(in request: PeerRequest) throws(PeerError) -> MediaDirection {
    let name = try request.params.string("direction")
    guard let direction = MediaDirection(rawValue: name) else {
      throw PeerError(.typeError, "'\(name)' is not an RTCRtpTransceiverDirection that can be set")
    }
    return direction
  }

  // MARK: Opening and closing

  private func open(_ request: PeerRequest) throws(PeerError) -> JSON {
    guard connection == nil else { throw PeerError(.invalidState, "open was called before") }
    wallClock = loop.wallClock()
    var settings = settings
    if let configuration = try request.params.dictionary("configuration") {
      try Self.configure(&settings, with: configuration)
    }
    let audio = try request.params.dictionary("audio")
    settings.play = try audio.map(Self.play(in:)) ?? .silence
    let record = try audio?.optionalString("record")
    if let record, settings.play == .file(record) {
      throw PeerError(.typeError, "'play' and 'record' name the same file, '\(record)'")
    }
    let shown = try request.params.dictionary("video").map { video throws(PeerError) in
      try Self.configure(&settings, withVideo: video)
    }
    let opened: LiveConnection
    do {
      try settings.prepareFiles()
      opened = try settings.makeConnection(on: loop)
      recording = try record.map { try WAVFile(path: $0) }
      pictures = try shown.flatMap(\.self).map { try PictureLog(path: $0) }
    } catch {
      throw PeerError(.operation, "\(error)")
    }
    opened.onEvent = { [unowned self] in report($0) }
    opened.onAudio = { [unowned self] in recording?.append($0) }
    opened.onPicture = { [unowned self] in pictures?.append($0, milliseconds: loop.monotonicMilliseconds) }
    connection = opened
    return ["agent": .string(agent)]
  }

  private static func configure(
    _ settings: inout CallSettings, with configuration: PeerDictionary
  ) throws(PeerError) {
    for server in try configuration.dictionaries("iceServers") { settings.servers += try servers(of: server) }
    guard let policy = try configuration.optionalString("iceTransportPolicy") else { return }
    guard let known = ICETransportPolicy(rawValue: policy) else {
      throw PeerError(.typeError, "'\(policy)' is not an RTCIceTransportPolicy")
    }
    settings.relayOnly = known == .relay
  }

  /// - Returns: the path of the file for shown pictures.
  private static func configure(
    _ settings: inout CallSettings, withVideo dictionary: PeerDictionary
  ) throws(PeerError) -> String? {
    var video = VideoSettings()
    video.codecs = VideoSettings.Codec.allCases
    video.width = try dictionary.optionalUnsignedShort("width") ?? video.width
    video.height = try dictionary.optionalUnsignedShort("height") ?? video.height
    video.frameRate = try dictionary.optionalUnsignedShort("frameRate") ?? video.frameRate
    if let scheme = try dictionary.optionalString("forwardErrorCorrection") {
      guard let known = VideoSettings.ForwardErrorCorrection(rawValue: scheme) else {
        throw PeerError(.typeError, "'\(scheme)' is not none, ulpfec or flexfec")
      }
      video.forwardErrorCorrection = known
    }
    settings.video = video
    let number = try dictionary.optionalUnsignedShort("firstNumber") ?? 0
    settings.camera.firstNumber = UInt32(number)
    return try dictionary.optionalString("record")
  }

  /// Returns the servers of an `RTCIceServer`. Errors have the names that webrtc-pc gives them.
  private static func servers(of server: PeerDictionary) throws(PeerError) -> [ICEServer] {
    let urls = try server.strings("urls")
    let (username, credential) = (try server.optionalString("username"), try server.optionalString("credential"))
    guard !urls.isEmpty else { throw PeerError(.syntax, "'urls' names no server") }
    let user = TURNUser(username: username ?? "", credential: credential ?? "")
    var servers: [ICEServer] = []
    for url in urls {
      do {
        let uri = try ICEServerURI(url)
        guard uri.kind == .stun || (username != nil && credential != nil) else {
          throw PeerError(.invalidAccess, "\(url) wants 'username' and 'credential'")
        }
        servers += try uri.resolve(as: user)
      } catch let error as PeerError {
        throw error
      } catch {
        throw PeerError(.syntax, "\(error)")
      }
    }
    return servers
  }

  private static func play(in audio: PeerDictionary) throws(PeerError) -> CallSettings.Play {
    guard let play = try audio.dictionary("play") else { return .silence }
    if let path = try play.optionalString("wav") { return .file(path) }
    guard let tone = play["tone"] else {
      throw PeerError(.typeError, "play wants 'tone', in Hz, or 'wav', the path of a file")
    }
    let frequency: Double? =
      switch tone {
      case .integer(let hertz): Double(hertz)
      case .number(let hertz): hertz
      default: nil
      }
    guard let known = frequency.flatMap({ CallSettings.Play(tone: $0) }) else {
      throw PeerError(.typeError, "a tone must be above 0 Hz and below 24000 Hz, not \(tone)")
    }
    return known
  }

  private func close() {
    connection?.close()
    for close in [recording?.close, pictures?.close] {
      do throws(FileError) {
        try close?()
      } catch {
        sendError("\(error)")
      }
    }
    recording = nil
    pictures = nil
  }
}

extension SessionDescriptionText {
  fileprivate var json: JSON { ["type": .string(kind.rawValue), "sdp": .string(sdp)] }
}

/// The error for a line of input that is too long.
package struct PeerInputError: Error, CustomStringConvertible {
  package var description: String {
    "a line of standard input is longer than \(LineReader.longestLine >> 20) MiB, the limit of a request"
  }
}
