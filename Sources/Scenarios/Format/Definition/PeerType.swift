import CallCore
import Formats

/// A peer in a file, with its `use:` profile merged in.
struct PeerDraft: Sendable, Equatable {
  var peer = Scenario.Peer()
  var networks: [Located<String>] = []
  var lan: Located<String>?
  var use: Located<String>?
  var settings: YAMLNode?

  private static let peerType = MappingType(
    "peer settings", "", Scenario.Peer(),
    [
      .key("id", userID, \.userID, default: "the peer's name", "the user id its app registers with"),
      .key(
        "profile", ValueFormat<String>.text.located, \.profile,
        "the application, one of \(ProgramName.current) explain profiles"),
      .key(
        "stack", .choice, \.stack, default: "real",
        "a real call stack, a puppet that only sends raw signalling, or a program outside the simulation"),
      .key(
        "command", ValueFormat<String>.text.list(atLeast: 1, atMost: 100), \.command,
        "the program of stack: external, and its arguments"),
      .key(
        "protocol", .choice, \.programProtocol, default: "peer",
        "what that program speaks: the peer protocol, or nothing"),
      .nested("devices", Scenario.Devices.type, \.devices, "the microphone and the camera"),
      .nested("audio", Scenario.Audio.type, \.audio, "how audio is encoded"),
      .key(
        "video", Scenario.Video.type.format, \.video, default: "calls without video",
        "calls have video, encoded so; {} for the defaults"),
      .key(
        "data_channels", Scenario.DataChannel.format, \.dataChannels,
        "the data channels that its app opens, by label"),
      .nested("ice", Scenario.ICESettings.type, \.ice, "ICE servers and policy"),
      .nested("dtls", Scenario.DTLSSettings.type, \.dtls, "DTLS"),
      .nested("clock", Scenario.Clock.type, \.clock, "its wall clock, and how fast its clocks run"),
    ])

  /// Reads a user id, which must not be empty, since it is the address of calls.
  private static let userID = ValueFormat<String>.text(shape: .pattern(".")).checked {
    $0.isEmpty ? "a user id is not empty; without the key it is the peer's name" : nil
  }

  static let type: MappingType<PeerDraft> = {
    var type = declaredType
    type.elsewhere = { MisplacedPeerKey.place(of: $0, $1) }
    return type
  }()

  private static let declaredType = MappingType(
    "peer", "a device with an app", PeerDraft(),
    [
      .key(
        "use", ValueFormat<Located<String>>.name, \.use,
        "a peer profile from a file of 'use'; keys here replace its keys"),
      .key(
        "network", ValueFormat<Located<String>>.oneName.singleton, \.networks,
        "the network it is on: one of the topology, shared by all who name it, or a named network, one of its own"),
      .key(
        "networks", ValueFormat<Located<String>>.name.list(atLeast: 1, atMost: 16).distinct(\.value), \.networks,
        "several networks, the preferred one first"),
      .key(
        "lan", ValueFormat<Located<String>>.name, \.lan,
        "peers with the same lan share one instance of their named network"),
      .key(
        "settings", .node(.named(.anyScalar)), \.settings,
        "settings that its profile declares"),
      .key("why", .text, \.peer.why, "the reason, echoed in failures"),
    ] + peerType.keys(of: \PeerDraft.peer))
}

extension ValueFormat {
  /// The format of a list that is written as its single value.
  var singleton: ValueFormat<[Value]> {
    ValueFormat<[Value]>(shape) { node, reading in
      decode(node, &reading).map { [$0] }
    } encode: { values in
      values.first.map(encode) ?? .list([])
    }
  }
}

extension ValueFormat where Value == Located<String> {
  /// Reads a single name; for a list it suggests the key that takes several.
  static var oneName: ValueFormat<Located<String>> {
    let name = ValueFormat<Located<String>>.name
    return name.decoded { node, reading in
      guard node.items != nil else { return name.decode(node, &reading) }
      reading.report(
        .wrongNode, "expected one network, found a list", at: node.span, hint: "write networks: \(node.flowText())")
      return nil
    }
  }
}

extension Scenario.Video {
  static let type = MappingType(
    "video", "how a peer encodes video; what is left out is the profile's", Scenario.Video(),
    [
      .key(
        "codecs", ValueFormat<Codec>.choice.list(atLeast: 1).distinct(\.rawValue), \.codecs, default: "VP8, VP9, H264",
        "the codecs, the preferred one first"),
      .key("size", .pictureSize, \.size, default: "640x480", "width and height of captured pictures in pixels"),
      .key("frame_rate", .count(1...120), \.frameRate, default: "30", "captured pictures per second"),
      .key(
        "bitrate", ValueFormat<DataRate>.rate.checked(bitrateProblem), \.bitrate, default: "libwebrtc's for the size",
        "maximum of one encoding"),
      .key(
        "start_bitrate", ValueFormat<DataRate>.rate.checked(bitrateProblem), \.startBitrate, default: "300kbps",
        "the bandwidth that is assumed before the path has been measured"),
      .key(
        "congestion_control", .choice, \.congestionControl, default: "gcc",
        "what estimates the bandwidth of the path: Google congestion control, or NADA (RFC 8698)"),
      .key("temporal_layers", .count(1...3), \.temporalLayers, default: "1", "layers of half the frame rate each"),
      .key(
        "simulcast", .count(1...3), \.simulcast, default: "1",
        "encodings of half the size each, for a server that forwards the one that fits each receiver"),
      .key(
        "content", .choice, \.content, default: "motion",
        "what is kept at a low rate: motion, or the detail of a screen"),
      .key("nack", .flag, \.nack, default: "true", "lost packets are requested again (RFC 4585)"),
      .key("rtx", .flag, \.rtx, default: "true", "on a stream of their own (RFC 4588)"),
      .key(
        "fec", .choice, \.fec, default: "none",
        "forward error correction, as much as loss and round trip ask for: ulpfec inside RED (RFC 5109), or flexfec-03"),
      .key("pli", .flag, \.pli, default: "true", "key frames are requested by PLI (RFC 4585)"),
      .key(
        "fir", .flag, \.fir, default: "true", "key frames are requested by FIR (RFC 5104) where PLI is not negotiated"),
      .key("transport_cc", .flag, \.transportCC, default: "true", "the arrival of each packet is reported"),
      .key("remb", .flag, \.remb, default: "true", "a limit that the receiver estimates is obeyed"),
    ])

  private static let bitrateProblem: @Sendable (DataRate) -> String? = { rate in
    (30_000...100_000_000).contains(rate.bitsPerSecond) ? nil : "\(rate) is not within 30kbps to 100Mbps"
  }
}

extension ValueFormat where Value == Scenario.Video.Size {
  /// Reads `640x480`.
  fileprivate static var pictureSize: ValueFormat<Scenario.Video.Size> {
    ValueFormat<String>.text(shape: .pattern("^[0-9]+x[0-9]+$")).map { text, span, reading in
      Scenario.Video.Size.read(text, at: span, &reading)
    } back: {
      "\($0.width)x\($0.height)"
    }
  }
}

extension Scenario.Video.Size {
  /// Reads a size of pictures that encoders take.
  static func read(_ text: String, at span: SourceSpan, _ reading: inout Reading) -> Self? {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1] else {
      reading.report(.wrongType, "'\(text)' is not a size", at: span, hint: "write width and height, as 640x480")
      return nil
    }
    guard (16...4_096).contains(width), (16...4_096).contains(height) else {
      reading.report(.outOfRange, "a side has 16 to 4096 pixels, not \(text)", at: span)
      return nil
    }
    guard width % 2 == 0, height % 2 == 0 else {
      reading.report(.outOfRange, "\(text) has an odd side: encoders of video take even ones", at: span)
      return nil
    }
    return Scenario.Video.Size(width: width, height: height)
  }
}

extension Scenario.ICESettings {
  static let type = MappingType(
    "ice", "ICE servers and policy of a peer", Scenario.ICESettings(),
    [
      .key(
        "servers", ValueFormat<Located<String>>.name.list().distinct(\.value), \.servers, default: "all there are",
        "STUN and TURN servers by name"),
      .key(
        "turn_transports",
        ValueFormat<Topology.Server.Transport>.choice.located.list(atLeast: 1).distinct(\.value.rawValue),
        \.turnTransports,
        default: "all a server has", "how it reaches TURN servers"),
      .key("policy", .choice, \.policy, default: "all", "which candidates it uses"),
      .key(
        "nomination", .choice, \.nomination, default: "aggressive",
        "whether a pair is used at once and nominated then, as in Chromium (aggressive), or the other way round, as in "
          + "RFC 8445 (regular)"),
      .key(
        "prune", .flag, \.prune, default: "true",
        "whether pairs are given up once a better one of their network works, as in Chromium"),
      .key(
        "gathering", .choice, \.gathering, default: "once",
        "whether it also gathers on interfaces that come up, as apps for phones do"),
      .key(
        "restart_sockets", .choice, \.restartSockets, default: "new",
        "whether an ICE restart gathers on new sockets, as in browsers, or on the same ones"),
    ])
}

extension Scenario.DTLSSettings {
  static let type = MappingType(
    "dtls", "DTLS of a peer", Scenario.DTLSSettings(),
    [.key("role", .choice, \.role, default: "auto", "the role it takes when it answers")])
}

extension Scenario.Clock {
  static let type = MappingType(
    "clock", "the clocks of a peer", Scenario.Clock(),
    [
      .key("skew", .duration(.any), \.skew, default: "0s", "how far its wall clock is ahead; negative is behind"),
      .key(
        "drift", .percentage(atMost: 0.1, allowsNegative: true, unit: "ppm"), \.drift, default: "0ppm",
        "how much faster its wall clock and its audio hardware run; negative is slower"),
    ])
}
