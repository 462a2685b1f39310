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
      .nested("devices", Scenario.Devices.type, \.devices, "the microphone"),
      .nested("audio", Scenario.Audio.type, \.audio, "how audio is encoded"),
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
        "a peer profile from a file of 'use'; keys here go before its keys"),
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

extension Scenario.Devices {
  static let type = MappingType(
    "devices", "the microphone of a peer", Scenario.Devices(),
    [
      .key(
        "mic", .microphone, \.microphone, default: "speech", "what the microphone hears: a sound made, or a file"),
      .key("permission", .choice, \.permission, default: "granted", "whether the app may open it"),
    ])
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

extension ValueFormat where Value == Scenario.Devices.Microphone {
  /// Reads `speech`, or `{ file: voice.wav }`.
  fileprivate static var microphone: ValueFormat<Scenario.Devices.Microphone> {
    .either(scalar: word, mapping: recording, isScalar: { if case .file = $0 { false } else { true } })
  }

  private static var word: ValueFormat<Scenario.Devices.Microphone> {
    let made: [(String, Scenario.Devices.Microphone)] = [
      ("speech", .speech), ("tone", .tone), ("noise", .noise), ("silence", .silence),
    ]
    let words = ValueFormat<String>.choice(of: made.map(\.0))
    return ValueFormat(words.shape) { node, reading in
      if node.scalar?.text == "file" {
        reading.report(
          .notAChoice, "'file' does not say which", at: node.span, hint: "write mic: { file: voice.wav }")
        return nil
      }
      return words.decode(node, &reading).flatMap { word in made.first { $0.0 == word }?.1 }
    } encode: { microphone in
      words.encode(made.first { $0.1 == microphone }?.0 ?? "")
    }
  }

  private struct Draft: Sendable {
    var file = Located("")
    var atEnd = Recording.End.repeat
  }

  private static var recording: ValueFormat<Scenario.Devices.Microphone> {
    MappingType(
      "recording", "a WAV file that a microphone hears", Draft(),
      [
        .key(
          "file", ValueFormat<String>.text.located, \.file, required: true,
          "a WAV of 16-bit PCM, 48000 Hz, mono; relative to the file that names it"),
        .key("at_end", .choice, \.atEnd, default: "repeat", "what comes after it: the same again, or silence"),
      ]
    ).format.map { draft, _, reading in
      let path = NotCompared(wrappedValue: reading.sources.path(of: draft.file.value, from: draft.file.span))
      return reading.samples(of: draft.file).map { .file(Recording($0, atEnd: draft.atEnd), path: path) }
    } back: { microphone in
      guard case .file(let recording, let path) = microphone else { return Draft() }
      return Draft(file: Located(path.wrappedValue), atEnd: recording.atEnd)
    }
  }
}

extension Scenario.Audio {
  static let type = MappingType(
    "audio", "how a peer encodes audio; what is left out is the profile's", Scenario.Audio(),
    [
      .key("ptime", ValueFormat<Interval>.duration(.positive).checked(ptimeProblem), \.ptime, "audio in one packet"),
      .key("bitrate", ValueFormat<DataRate>.rate.checked(bitrateProblem), \.bitrate, "target of the encoder"),
      .key("fec", .flag, \.fec, "Opus in-band forward error correction; on in every peer without the key"),
      .key("dtx", .flag, \.dtx, "Opus discontinuous transmission"),
      .key("complexity", .count(0...10), \.complexity, "Opus complexity"),
      .key("cbr", .flag, \.cbr, "constant bit rate"),
      .key("packet_loss_hint", .percentage(), \.packetLossHint, "the loss the encoder is told to expect"),
    ])

  private static let ptimeProblem: @Sendable (Interval) -> String? = { ptime in
    let legal: [Int64] = [10, 20, 40, 60, 80, 100, 120]
    return legal.contains { Interval.milliseconds($0) == ptime }
      ? nil : "a packet holds 10, 20, 40, 60, 80, 100 or 120 ms, not \(ptime)"
  }
  private static let bitrateProblem: @Sendable (DataRate) -> String? = { rate in
    (6_000...510_000).contains(rate.bitsPerSecond) ? nil : "\(rate) is not within 6kbps to 510kbps (RFC 7587)"
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
