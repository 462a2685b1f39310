public import CallCore
public import Formats
public import Pictures
import Vocabulary

extension Scenario {
  /// The user id of each peer.
  package var userIDs: [String: String] {
    var ids: [String: String] = [:]
    for peer in peers { ids[peer.name] = peer.userID ?? peer.name }
    return ids
  }

  /// Returns the user id of a peer at the signalling server; a name that is not a peer's is returned unchanged.
  package func userID(of peer: String) -> String { self.peer(peer)?.userID ?? peer }

  /// A device with an app, after its `use:` profile is merged in.
  public struct Peer: Sendable, Equatable {
    /// The implementation of a peer's media stack.
    public enum Stack: String, Sendable, CaseIterable { case real, puppet, external }

    /// The control protocol between the simulator and an external program.
    public enum ProgramProtocol: String, Sendable, CaseIterable {
      /// The peer protocol: the program is the media stack below the profile's app.
      case peer
      /// No protocol: the program only runs in the peer's network until it ends.
      case none
    }

    /// The name in the scenario.
    public var name = ""
    /// The user id the app registers with; the peer's name when nil.
    public var userID: String?
    /// The name of the vocabulary, such as `knotos`; nil for a puppet.
    public var profile: Located<String>?
    /// The implementation of the media stack.
    public var stack = Stack.real
    /// The program of an external stack, with its arguments.
    public var command: [String] = []
    /// The control protocol of an external program.
    public var programProtocol = ProgramProtocol.peer
    /// The names of the connections that may exist at a time; nil when the profile has a single, unnamed one.
    public var connectionNames: [String]?
    /// The interfaces in the device's order of preference; the first one that is up is used first.
    public var interfaces: [Interface] = []
    /// The microphone and its permission.
    public var devices = Devices()
    /// The settings of the audio encoder.
    public var audio = Audio()
    /// The settings of video; nil for calls without video.
    public var video: Video?
    /// The data channels that its app opens, in file order.
    public var dataChannels: [DataChannel] = []
    /// The settings of ICE.
    public var ice = ICESettings()
    /// The settings of DTLS.
    public var dtls = DTLSSettings()
    /// The wall clock of the device.
    public var clock = Clock()
    /// The profile's own settings, typed by its vocabulary; a missing one has the profile's default.
    public var settings = Arguments()
    /// The reason that the file gives.
    public var why: String?
    /// The location in the scenario file.
    @NotCompared public var span = SourceSpan.builtIn
    /// Creates a peer with default settings and without a name.
    public init() {}

    /// The trace subjects of the connections: the peer's own, or one for each connection name.
    package var connectionSubjects: [String] {
      connectionNames?.map { ConnectionSubject.name(of: $0, at: name) } ?? [name]
    }

    /// The trace subject of the only connection; nil if the peer may have several at a time.
    package var onlyConnection: String? { connectionSubjects.count == 1 ? connectionSubjects[0] : nil }

    /// Whether the peer has an app and a media stack, internal or external, so that it can be called.
    public var hasCallStack: Bool { stack == .real || (stack == .external && programProtocol == .peer) }

    /// Whether the microphone hears a file.
    var playsRecording: Bool {
      if case .file = devices.microphone { hasCallStack } else { false }
    }

    /// Whether the camera films a file.
    var filmsRecording: Bool {
      if case .file? = devices.camera?.value { hasCallStack } else { false }
    }
  }

  /// A network interface of a peer; `switch-network` refers to it by name.
  public struct Interface: Sendable, Equatable {
    /// The name in the scenario.
    public var name: String
    /// A name in ``Topology/networks``.
    public var network: String
    /// A name in ``Topology/links``.
    public var link: String
  }

  /// The capture device of a peer.
  public struct Devices: Sendable, Equatable {
    /// The signal that the microphone picks up.
    public enum Microphone: Sendable, Equatable {
      case speech, tone, noise, silence
      /// A recording, with the path under which the process opens it.
      case file(Recording, path: NotCompared<String>)
    }

    /// The pictures of the camera.
    public enum Camera: Sendable, Equatable {
      case talkingHead, movingBars, screen, black
      /// A device without a camera, which shows the pictures of others.
      case none
      /// A file with pictures, with the path under which the process opens it.
      case file(VideoFile, atEnd: RecordedVideo.End, path: NotCompared<String>)
    }

    /// A format in which a camera gives pictures: the size, and the most pictures in a second.
    public struct CameraFormat: Sendable, Equatable {
      /// The size of a picture.
      public var size: Video.Size
      /// The most pictures in a second.
      public var frameRate: Int
      /// The format as scenarios write it.
      package var text: String { "\(size.width)x\(size.height)@\(frameRate)" }
    }
    /// What the system does with calls that an app reports to CallKit.
    public enum IncomingCalls: String, Sendable, CaseIterable {
      case shown
      case doNotDisturb = "do-not-disturb"
      case blocked
    }

    /// The user's permission to use the microphone.
    public enum Permission: String, Sendable, CaseIterable { case granted, denied }
    /// The signal of the microphone.
    public var microphone = Microphone.speech
    /// The user's permission to use the microphone.
    public var permission = Permission.granted
    /// The pictures of the camera; nil for the usual one of a peer with video.
    public var camera: Located<Camera>?
    /// Whether the device has a camera.
    var hasCamera: Bool { camera?.value != Camera.none }
    /// Whether the app declares the audio background mode.
    public var backgroundAudio = true
    /// Whether the app declares the background mode voip; nil where it does exactly if it uses CallKit.
    public var backgroundVoIP: Bool?
    /// Whether the device has a camera at the front.
    public var frontCamera = true
    /// The formats of the camera at the front; nil for any.
    public var frontCameraFormats: [CameraFormat]?
    /// The formats of the camera at the back; nil for any.
    public var backCameraFormats: [CameraFormat]?
    /// Whether the device is a simulator.
    public var simulator = false
    /// What the system does with calls that the app reports.
    public var incomingCalls = IncomingCalls.shown
    /// The time that a VoIP push takes to the device.
    public var pushDelay = Interval.seconds(1)
    /// Creates a permitted microphone that picks up speech.
    public init() {}
  }

  /// Settings of audio: its formats and the encoder; nil is the profile's default.
  public struct Audio: Sendable, Equatable {
    /// An audio format, by its name in descriptions.
    public enum Codec: String, Sendable, CaseIterable {
      case opus
      case pcmu = "PCMU"
      case pcma = "PCMA"
      case g722 = "G722"
      case ilbc = "iLBC"
      case isac
      case redundancy = "red"
      case comfortNoise = "CN"
      case telephoneEvents = "telephone-event"
    }

    /// The formats to offer and to accept, the preferred one first.
    public var codecs: [Codec]?
    /// The number of earlier Opus packets that each packet repeats (RFC 2198).
    public var red: Int?
    /// Whether the microphone is sent in stereo to a peer that asks for it, and others are asked for stereo.
    public var stereo: Bool?
    /// The duration of a packet.
    public var ptime: Interval?
    /// The target bit rate.
    public var bitrate: DataRate?
    /// Whether in-band forward error correction is on.
    public var fec: Bool?
    /// Whether discontinuous transmission is on.
    public var dtx: Bool?
    /// The computational complexity, 0 to 10.
    public var complexity: Int?
    /// Whether the bit rate is constant.
    public var cbr: Bool?
    /// The packet loss that the encoder expects, as a fraction.
    public var packetLossHint: Double?
    /// Creates settings without values.
    public init() {}
  }

  /// Settings of video; nil is the profile's default.
  public struct Video: Sendable, Equatable {
    /// A video codec, by its name in descriptions.
    public enum Codec: String, Sendable, CaseIterable { case vp8 = "VP8", vp9 = "VP9", h264 = "H264", av1 = "AV1" }
    /// A scheme of forward error correction: ULPFEC inside RED, or FlexFEC on a stream of its own.
    public enum ForwardErrorCorrection: String, Sendable, CaseIterable { case none, ulpfec, flexfec }
    /// The content of the pictures (W3C `contentHint`).
    public enum Content: String, Sendable, CaseIterable { case motion, detail }
    /// Google congestion control, or NADA (RFC 8698).
    public enum CongestionControl: String, Sendable, CaseIterable { case gcc, nada }
    /// The size of a picture in pixels.
    public struct Size: Sendable, Equatable {
      /// The width in pixels.
      public var width: Int
      /// The height in pixels.
      public var height: Int
      /// The size without the key.
      package static let usual = Size(width: 640, height: 480)
    }

    /// The codecs, the preferred one first.
    public var codecs: [Codec]?
    /// The size of captured pictures.
    public var size: Size?
    /// The captured pictures per second.
    public var frameRate: Int?
    /// The maximum bit rate.
    public var bitrate: DataRate?
    /// The bit rate until the path has been measured.
    public var startBitrate: DataRate?
    /// What estimates the bandwidth of the path.
    public var congestionControl: CongestionControl?
    /// The number of temporal layers, 1 to 3.
    public var temporalLayers: Int?
    /// The number of encodings of the camera, 1 to 3.
    public var simulcast: Int?
    /// The content of the pictures.
    public var content: Content?
    /// Whether lost packets are requested again.
    public var nack: Bool?
    /// Whether lost packets are sent again on a separate stream.
    public var rtx: Bool?
    /// The forward error correction that is offered and accepted.
    public var fec: ForwardErrorCorrection?
    /// Whether key frames are requested by picture loss indications.
    public var pli: Bool?
    /// Whether key frames are requested by full intra requests, where the other is not negotiated.
    public var fir: Bool?
    /// Whether the arrival of each packet is reported.
    public var transportCC: Bool?
    /// Whether a limit that the receiver estimates is obeyed.
    public var remb: Bool?
    /// Creates settings without values.
    public init() {}
  }

  /// Settings of the ICE agent.
  public struct ICESettings: Sendable, Equatable {
    /// The W3C `iceTransportPolicy`.
    public enum Policy: String, Sendable, CaseIterable { case all, relay }
    /// The nomination procedure: of RFC 8445 (regular), or of Chromium, which first uses a pair (aggressive).
    public enum Nomination: String, Sendable, CaseIterable { case regular, aggressive }
    /// The time of gathering: once for each generation of credentials, or whenever an interface comes up.
    public enum Gathering: String, Sendable, CaseIterable { case once, continually }
    /// The sockets from which an ICE restart gathers.
    public enum RestartSockets: String, Sendable, CaseIterable { case new, same }

    /// Names in ``Topology/servers``; nil means all STUN and TURN servers.
    public var servers: [Located<String>]?
    /// The transports to TURN servers; nil means all that a server offers.
    public var turnTransports: [Located<Topology.Server.Transport>]?
    /// The candidates that may be used.
    public var policy = Policy.all
    /// The nomination procedure.
    public var nomination = Nomination.aggressive
    /// Whether pairs are dropped once a better one of their network works, as in Chromium.
    public var prune = true
    /// The time of gathering.
    public var gathering = Gathering.once
    /// The sockets from which an ICE restart gathers.
    public var restartSockets = RestartSockets.new
    /// Creates the default settings.
    public init() {}

    /// Returns whether the peer sends requests to the STUN or TURN server of this name.
    package func asks(_ server: String) -> Bool {
      servers.map { names in names.contains { $0.value == server } } ?? true
    }

    func uses(_ transport: Topology.Server.Transport) -> Bool {
      turnTransports.map { wanted in wanted.contains { $0.value == transport } } ?? true
    }
  }

  /// Settings of DTLS.
  public struct DTLSSettings: Sendable, Equatable {
    /// The DTLS role of an answerer (RFC 8842).
    public enum Role: String, Sendable, CaseIterable { case auto, active, passive }
    /// The role as an answerer; `auto` follows RFC 8842.
    public var role = Role.auto
    /// Creates the default settings.
    public init() {}
  }

  /// The clocks of a peer.
  public struct Clock: Sendable, Equatable {
    /// The offset of the peer's wall clock from virtual time; positive is ahead.
    public var skew = Interval.zero
    /// The excess rate of the wall clock and the audio hardware, as a fraction; negative is slower.
    public var drift = 0.0
    /// Creates an exact clock.
    public init() {}
  }
}
