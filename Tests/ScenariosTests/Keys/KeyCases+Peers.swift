extension KeyCases {
  static let peers: [KeyCase] =
    [
      KeyCase("peer.use", ["phone", "desktop"], KeyWorld.named("use: <>", rest: "use: [keys/profiles.yaml]")),
      KeyCase("peer.network", ["wifi", "lte", "internet"], KeyWorld.named("network: <>")),
      KeyCase("peer.networks", ["[wifi, lte]", "[lte, wifi]"], KeyWorld.named("networks: <>")),
      KeyCase("peer.lan", ["", ", lan: flat"], KeyWorld.named("network: wifi<>", "network: wifi<>")),
      KeyCase(
        "peer.settings", with: "settings: { reset-after: 3s }", KeyWorld.lan(alice: "<>", timeline: KeyWorld.later)),
      KeyCase("peer.id", with: "id: \"1001\"", KeyWorld.lan(alice: "<>")),
      KeyCase("peer.id", with: "id: \"1001\"", KeyWorld.lan(bob: "<>")),
      KeyCase(
        "peer.profile", ["knotos", "nothing"],
        KeyWorld.lan().replacing("alice: { profile: knotos }", with: "alice: { profile: <> }")),
      KeyCase("peer.stack", ["stack: real, profile: knotos, network: lan", "stack: puppet"], withCarol),
      KeyCase(
        "devices.mic", ["speech", "tone", "noise", "silence", "{ file: keys/low.wav }"],
        KeyWorld.lan(alice: ", devices: { mic: <> }", rest: "media: real")),
      KeyCase(
        "recording.file", ["keys/low.wav", "keys/high.wav", "keys/none.wav"],
        KeyWorld.lan(alice: ", devices: { mic: { file: <> } }")),
      KeyCase(words: "recording.at_end", KeyWorld.lan(alice: ", devices: { mic: { file: keys/low.wav, at_end: <> } }")),
      KeyCase(
        words: "devices.background_audio",
        KeyWorld.lan(
          alice: ", devices: { background_audio: <> }",
          timeline: "  - { at: 600ms, fault: device.background, peer: alice, for: 8s }", talk: "20s")),
      KeyCase(
        words: "devices.simulator",
        KeyWorld.lan(alice: ", settings: { audio-session: after }, devices: { simulator: <> }")),
      KeyCase(words: "devices.permission", KeyWorld.lan(alice: ", devices: { permission: <> }")),
      KeyCase(
        "audio.ptime", ["10ms", "20ms", "40ms", "60ms", "80ms", "100ms", "120ms"],
        KeyWorld.lan(alice: ", audio: { ptime: <> }")),
      KeyCase(
        "audio.codecs",
        [
          "[opus]", "[PCMU]", "[PCMA]", "[G722]", "[opus, red]", "[PCMU, CN]", "[PCMU, telephone-event]", "[iLBC]",
          "[isac]",
        ],
        KeyWorld.lan(
          alice: ", audio: { codecs: <> }",
          bob: ", audio: { codecs: [opus, red, G722, PCMU, PCMA, CN, telephone-event, iLBC, isac] }")),
      KeyCase(
        "audio.red", ["0", "1", "2"],
        KeyWorld.lan(alice: ", audio: { codecs: [opus, red], red: <> }", bob: ", audio: { codecs: [opus, red] }")),
      KeyCase(words: "audio.stereo", real(", audio: { stereo: <> }")),
      KeyCase("audio.bitrate", ["12kbps", "64kbps"], KeyWorld.lan(alice: ", audio: { bitrate: <> }")),
      KeyCase(words: "audio.fec", real(", audio: { packet_loss_hint: 20%, fec: <> }")),
      KeyCase(words: "audio.dtx", real(", devices: { mic: silence }, audio: { dtx: <> }")),
      KeyCase("audio.complexity", ["0", "10"], real(", audio: { complexity: <> }")),
      KeyCase(words: "audio.cbr", real(", audio: { cbr: <> }")),
      KeyCase("audio.packet_loss_hint", ["0%", "25%"], real(", audio: { fec: true, packet_loss_hint: <> }")),
      KeyCase(
        "ice.servers", ["[]", "[stun]"],
        KeyWorld.lan(alice: ", ice: { servers: <> }", servers: ", stun: { kind: stun }")),
      KeyCase(
        words: "ice.turn_transports",
        KeyWorld.relayed(", transports: [udp, tcp]").replacing(
          "policy: relay", with: "policy: relay, turn_transports: [<>]")),
      KeyCase(words: "ice.policy", KeyWorld.relayed().replacing("policy: relay", with: "policy: <>")),
      KeyCase(
        words: "ice.gathering",
        KeyWorld.lan(
          alice: ", ice: { gathering: <> }", timeline: "  - { at: 600ms, fault: link.up, link: c }", talk: "2s"
        ).replacing("links:", with: "links:\n    c: { from: alice, to: lan, start: down }")),
      KeyCase(
        words: "ice.restart_sockets",
        KeyWorld.lan(
          alice: ", ice: { restart_sockets: <> }", timeline: "  - { at: 1s, do: alice.ice-restart }", talk: "2s")),
      KeyCase(words: "ice.nomination", KeyWorld.lan(alice: ", ice: { nomination: <> }")),
      KeyCase(words: "ice.prune", KeyWorld.relayed(talk: "2s").replacing("policy: relay", with: "prune: <>")),
      KeyCase("dtls.role", ["active", "passive"], KeyWorld.lan(bob: ", dtls: { role: <> }")),
      KeyCase(
        "clock.skew", ["0s", "-30s"],
        KeyWorld.lan(alice: ", clock: { skew: <> }", talk: "8s")),
      KeyCase("clock.drift", ["0ppm", "20000ppm"], KeyWorld.lan(alice: ", clock: { drift: <> }", talk: "4s")),
    ] + [usesCallKit] + video + settings + actions + connectyCube + twilio + vonage

  private static let usesCallKit = KeyCase(
    words: "knotos setting callkit", KeyWorld.lan(alice: ", settings: { callkit: <> }"))

  private static let video: [KeyCase] = [
    KeyCase("peer.video", with: "video: {}", KeyWorld.lan(alice: "<>", bob: ", video: {}")),
    KeyCase(
      "devices.camera", ["talking-head", "moving-bars", "screen", "black", "none", "{ file: keys/bars.ivf }"],
      KeyWorld.lan(
        alice: ", video: { size: 160x120 }, devices: { camera: <> }", bob: ", video: {}", rest: "media: real")),
    KeyCase(
      "film.file", ["keys/head.ivf", "keys/bars.ivf", "keys/none.ivf"],
      KeyWorld.lan(
        alice: ", video: { size: 160x120 }, devices: { camera: { file: <> } }", bob: ", video: {}")),
    KeyCase(
      words: "film.at_end",
      KeyWorld.lan(
        alice: ", video: { size: 160x120 }, devices: { camera: { file: keys/bars.ivf, at_end: <> } }",
        bob: ", video: {}")),
    KeyCase("video.codecs", ["[VP8]", "[VP9]", "[H264]", "[AV1]"], seen("size: 160x120, codecs: <>")),
    KeyCase("video.size", ["160x120", "320x240"], seen("size: <>")),
    KeyCase("video.frame_rate", ["10", "30"], seen("frame_rate: <>")),
    KeyCase("video.bitrate", ["50kbps", "300kbps"], seen("bitrate: <>")),
    KeyCase("video.start_bitrate", ["50kbps", "300kbps"], seen("start_bitrate: <>")),
    KeyCase("video.congestion_control", ["gcc", "nada"], seen("congestion_control: <>")),
    KeyCase("video.temporal_layers", ["1", "2", "3"], seen("size: 160x120, temporal_layers: <>")),
    KeyCase(words: "video.content", seen("size: 160x120, content: <>")),
    KeyCase(words: "video.nack", seen("nack: <>")), KeyCase(words: "video.rtx", seen("rtx: <>")),
    KeyCase(
      words: "video.fec",
      KeyWorld.lan(
        alice: ", video: { fec: <> }, devices: { camera: moving-bars }",
        bob: ", video: { fec: <> }, devices: { camera: none }")),
    KeyCase(words: "video.pli", seen("pli: <>")), KeyCase(words: "video.fir", seen("fir: <>")),
    KeyCase(words: "video.transport_cc", seen("transport_cc: <>")), KeyCase(words: "video.remb", seen("remb: <>")),
  ]

  /// Bob, who has no camera, sees Alice.
  private static func seen(_ video: String) -> String {
    KeyWorld.lan(
      alice: ", video: { \(video) }, devices: { camera: moving-bars }",
      bob: ", video: {}, devices: { camera: none }", rest: "media: real")
  }

  private static let withCarol = KeyWorld.lan(timeline: KeyWorld.later).replacing(
    "peers:", with: "peers:\n  carol: { <> }")

  /// Bob asks for what needs both sides.
  private static func real(_ alice: String) -> String {
    KeyWorld.lan(alice: alice, bob: ", audio: { fec: true, dtx: true }", rest: "media: real", talk: "2s")
  }

  private static let unanswered = KeyWorld.lan(
    alice: ", settings: { <> }", bob: ", settings: { <> }", timeline: KeyWorld.later
  )
  .replacing("- { id: accept, when: bob.call.state == ringing, do: bob.accept }", with: "")

  private static let settings: [KeyCase] = [
    KeyCase("knotos setting ring-timeout", ["ring-timeout: 2s", "ring-timeout: 5s"], unanswered),
    KeyCase(
      "knotos setting setup-timeout", ["2s", "5s"],
      KeyWorld.lan(
        alice: ", settings: { setup-timeout: <> }",
        timeline: "  - { at: 50ms, fault: dtls.drop, for: 30s }")),
    KeyCase(
      words: "knotos setting audio-resume",
      KeyWorld.lan(
        alice: ", settings: { audio-resume: <> }",
        timeline: "  - { at: 2s, fault: device.audio-interruption, peer: alice, ended_event: false, for: 200ms }\n"
          + "  - { at: 2500ms, fault: device.inactive, peer: alice, for: 200ms }", talk: "4s")),
    KeyCase(words: "knotos setting audio-session", KeyWorld.lan(alice: ", settings: { audio-session: <> }")),
    KeyCase(
      words: "knotos setting ice-restart",
      KeyWorld.lan(
        alice: ", settings: { ice-restart: <> }", timeline: "  - { at: 600ms, fault: link.down, link: a, for: 300ms }",
        talk: "5s")),
    KeyCase(
      "knotos setting socket-transports", ["polling", "websocket", "both"],
      KeyWorld.lan(alice: ", settings: { socket-transports: <> }")),
    KeyCase(
      "knotos setting reset-after", ["500ms", "4s"],
      KeyWorld.lan(alice: ", settings: { reset-after: <> }", timeline: KeyWorld.later)),
  ]

  private static let actions: [KeyCase] = [
    action("call", at: "20ms", "alice.call, to: bob"),
    KeyCase(
      "knotos action call.to", ["bob", "carol"],
      KeyWorld.lan().replacing("do: alice.call, to: bob", with: "do: alice.call, to: <>")
        .replacing("peers:", with: "peers:\n  carol: { profile: knotos, network: lan }")),
    action("accept", at: "10s", "bob.accept", in: unaccepted),
    action("decline", at: "10s", "bob.decline", in: unaccepted),
    action("hangup", at: "600ms", "bob.hangup"),
    action("mute", at: "600ms", "bob.mute"),
    action(
      "unmute", at: "700ms", "bob.unmute",
      in: KeyWorld.lan(timeline: "  - { at: 600ms, do: bob.mute }\n<>", talk: "2s")),
    action("dtmf", at: "600ms", "bob.dtmf, digits: \"4\"", in: withDigits),
    KeyCase(
      "knotos action dtmf.digits", ["4", "42"],
      withDigits.replacing("<>", with: "  - { at: 600ms, do: bob.dtmf, digits: \"<>\" }")),
    action("camera-off", at: "600ms", "bob.camera-off", in: filmed("<>")),
    action("camera-on", at: "800ms", "bob.camera-on", in: filmed("  - { at: 600ms, do: bob.camera-off }\n<>")),
    action("ice-restart", at: "600ms", "bob.ice-restart"),
    KeyCase(
      effect: "action switch-network", at: "600ms", "do: alice.switch-network, to: a", twoLines),
    KeyCase(
      "action switch-network.to", ["a", "c"],
      twoLines.replacing("<>", with: "  - { at: 600ms, do: alice.switch-network, to: <> }")),
  ]

  private static let withDigits = KeyWorld.lan(
    alice: ", audio: { codecs: [opus, telephone-event] }", bob: ", audio: { codecs: [opus, telephone-event] }",
    timeline: "<>", talk: "2s")

  private static func filmed(_ timeline: String) -> String {
    KeyWorld.lan(
      alice: ", video: { size: 160x120 }", bob: ", video: { size: 160x120 }", timeline: timeline, rest: "media: real",
      talk: "2s")
  }

  private static let unaccepted = KeyWorld.lan(timeline: "<>\n\(KeyWorld.later)")
    .replacing("- { id: accept, when: bob.call.state == ringing, do: bob.accept }", with: "")
  private static let twoLines = KeyWorld.lan(timeline: "<>", talk: "2s")
    .replacing("links:", with: "links:\n    c: { from: alice, to: lan, delay: 3ms }")

  private static func action(
    _ name: String, at time: String, _ what: String, in template: String = KeyWorld.lan(timeline: "<>", talk: "2s")
  ) -> KeyCase { KeyCase(effect: "knotos action \(name)", at: time, "do: \(what)", template) }
}
