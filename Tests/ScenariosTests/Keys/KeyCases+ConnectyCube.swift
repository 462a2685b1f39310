extension KeyCases {
  /// The actions and settings of the profile ConnectyCube.
  static let connectyCube: [KeyCase] = actionsOfConnectyCube + recorderOfConnectyCube + settingsOfConnectyCube

  private static func cube(
    alice: String = "", bob: String = "", timeline: String = "", rest: String = "", talk: String = "2s"
  ) -> String {
    KeyWorld.lan(
      alice: alice, bob: bob, timeline: timeline, expect: "  - { ends: alice, code: hung-up }", rest: rest, talk: talk
    )
    .replacing("profile: knotos", with: "profile: connectycube")
    .replacing("bob.call.state == ringing", with: "bob.session.state == pending")
    .replacing("kind: signalling", with: "kind: chat")
  }

  private static let answer = "- { id: accept, when: bob.session.state == pending, do: bob.accept }"
  private static let ringing = cube(timeline: "<>\n\(KeyWorld.later)").replacing(answer, with: "")
  private static let unanswered = cube(alice: ", settings: { <> }", timeline: KeyWorld.later)
    .replacing(answer, with: "")
  private static let filmed = (alice: ", video: { size: 160x120 }", bob: ", video: { size: 160x120 }")

  private static func action(
    _ name: String, at time: String, _ what: String, in template: String = cube(timeline: "<>")
  ) -> KeyCase { KeyCase(effect: "connectycube action \(name)", at: time, "do: \(what)", template) }

  private static func filmed(_ timeline: String) -> String {
    cube(alice: filmed.alice, bob: filmed.bob, timeline: timeline, rest: "media: real")
  }

  private static let actionsOfConnectyCube: [KeyCase] = [
    action(
      "initialize-rtc", at: "20ms", "alice.initialize-rtc",
      in: cube(alice: ", settings: { initialize-rtc: false }", timeline: "<>")),
    action("call", at: "90ms", "alice.call, to: bob"),
    KeyCase(
      "connectycube action call.to", ["bob", "[bob, carol]"],
      cube().replacing("do: alice.call, to: bob", with: "do: alice.call, to: <>")
        .replacing("peers:", with: "peers:\n  carol: { profile: connectycube, network: lan }")),
    KeyCase(
      words: "connectycube action call.type",
      cube(alice: filmed.alice, bob: filmed.bob, rest: "media: real")
        .replacing("do: alice.call, to: bob", with: "do: alice.call, to: bob, type: <>")),
    KeyCase(
      "connectycube action call.user-info", ["hello", "good morning"],
      cube().replacing("do: alice.call, to: bob", with: "do: alice.call, to: bob, user-info: <>")),
    action("accept", at: "10s", "bob.accept", in: ringing),
    KeyCase(
      "connectycube action accept.user-info", ["yes", "of course"],
      cube().replacing("do: bob.accept", with: "do: bob.accept, user-info: <>")),
    action("reject", at: "10s", "bob.reject", in: ringing),
    KeyCase(
      "connectycube action reject.user-info", ["no", "not now"],
      cube().replacing("do: bob.accept", with: "do: bob.reject, user-info: <>")),
    action("hangup", at: "600ms", "bob.hangup"),
    KeyCase(
      "connectycube action hangup.user-info", ["bye", "see you"],
      cube().replacing("do: alice.hangup", with: "do: alice.hangup, user-info: <>")),
    KeyCase(
      "connectycube action hangup.with", ["bob", "carol"],
      cube(timeline: "  - { at: 600ms, do: bob.hangup, with: <> }")
        .replacing("peers:", with: "peers:\n  carol: { profile: connectycube, network: lan }")),
    action("mute", at: "600ms", "bob.mute"),
    action("unmute", at: "700ms", "bob.unmute", in: cube(timeline: "  - { at: 600ms, do: bob.mute }\n<>")),
    action("mute-remote", at: "600ms", "bob.mute-remote, user: alice"),
    action(
      "unmute-remote", at: "700ms", "bob.unmute-remote, user: alice",
      in: cube(timeline: "  - { at: 600ms, do: bob.mute-remote, user: alice }\n<>")),
    KeyCase(
      "connectycube action mute-remote.user", ["alice", "carol"],
      cube(timeline: "  - { at: 600ms, do: bob.mute-remote, user: <> }")
        .replacing("peers:", with: "peers:\n  carol: { profile: connectycube, network: lan }")),
    KeyCase(
      "connectycube action unmute-remote.user", ["alice", "carol"],
      cube(
        timeline:
          "  - { at: 600ms, do: bob.mute-remote, user: alice }\n  - { at: 700ms, do: bob.unmute-remote, user: <> }"
      )
      .replacing("peers:", with: "peers:\n  carol: { profile: connectycube, network: lan }")),
    action("camera-off", at: "600ms", "bob.camera-off", in: filmed("<>")),
    action("camera-on", at: "800ms", "bob.camera-on", in: filmed("  - { at: 600ms, do: bob.camera-off }\n<>")),
    action("ice-restart", at: "600ms", "alice.ice-restart"),
    KeyCase(
      words: "connectycube action audio-device.to",
      cube(
        timeline:
          "  - { at: 600ms, do: alice.audio-device, to: speaker }\n  - { at: 700ms, do: alice.audio-device, to: <> }")),
    action("audio-device", at: "600ms", "alice.audio-device, to: speaker"),
    action("share-screen", at: "600ms", "alice.share-screen", in: filmed("<>")),
    KeyCase(
      "connectycube action share-screen.fps", ["10", "20"],
      filmed("  - { at: 600ms, do: alice.share-screen, fps: <> }")),
    KeyCase(
      words: "connectycube action share-screen.adapts",
      filmed("  - { at: 600ms, do: alice.share-screen, adapts: <> }")),
    action(
      "stop-screen-share", at: "900ms", "alice.stop-screen-share",
      in: filmed("  - { at: 600ms, do: alice.share-screen }\n<>")),
    action("switch-camera", at: "600ms", "alice.switch-camera", in: filmed("<>")),
  ]

  private static func sunk(_ timeline: String) -> String { cube(timeline: timeline, rest: "media: real") }
  private static func thrice(_ timeline: String) -> String {
    sunk(timeline).replacing("peers:", with: "peers:\n  carol: { profile: connectycube, network: lan }")
  }

  private static func format(_ parameter: String, _ values: [String]) -> KeyCase {
    KeyCase(
      "connectycube action recorder-format.\(parameter)", values,
      cube(timeline: "  - { at: 600ms, do: alice.recorder-format, \(parameter): <> }"))
  }

  private static let recorderOfConnectyCube: [KeyCase] = [
    action("recorder-format", at: "600ms", "alice.recorder-format, fps: 20"),
    format("width", ["320", "480"]), format("height", ["240", "320"]), format("bitrate", ["100kbps", "200kbps"]),
    format("fps", ["10", "20"]),
    KeyCase(
      words: "connectycube action recorder-format.rotation",
      cube(
        timeline:
          "  - { at: 600ms, do: alice.recorder-format, rotation: 270 }\n  - { at: 700ms, do: alice.recorder-format, rotation: <> }"
      )
    ),
    action("start-recording", at: "600ms", "alice.start-recording", in: filmed("<>")),
    action(
      "stop-recording", at: "900ms", "alice.stop-recording",
      in: filmed("  - { at: 600ms, do: alice.start-recording }\n<>")),
    action("add-audio-sink", at: "600ms", "alice.add-audio-sink, user: bob", in: sunk("<>")),
    action(
      "remove-audio-sink", at: "900ms", "alice.remove-audio-sink, user: bob",
      in: sunk("  - { at: 600ms, do: alice.add-audio-sink, user: bob }\n<>")),
    KeyCase(
      "connectycube action add-audio-sink.user", ["bob", "carol"],
      thrice("  - { at: 600ms, do: alice.add-audio-sink, user: <> }")),
    KeyCase(
      "connectycube action remove-audio-sink.user", ["bob", "carol"],
      thrice(
        "  - { at: 600ms, do: alice.add-audio-sink, user: bob }\n  - { at: 900ms, do: alice.remove-audio-sink, user: <> }"
      )),
    KeyCase(words: "connectycube setting low-performance", cube(alice: ", settings: { low-performance: <> }")),
    KeyCase(
      "connectycube setting recorder-space", ["1kB", "1000kB"],
      filmed("  - { at: 600ms, do: alice.start-recording }")
        .replacing(filmed.alice, with: "\(filmed.alice), settings: { recorder-space: <> }")),
  ]

  /// A call between two apps with CallKit, of which one has a setting more.
  private static func callKit(
    alice: String = "", bob: String = "", devices: String = "", timeline: String = "", talk: String = "3s"
  ) -> String {
    cube(
      alice: ", settings: { callkit: true\(alice) }", bob: ", settings: { callkit: true\(bob) }\(devices)",
      timeline: timeline, talk: talk)
  }

  private static let withCallKit: [KeyCase] = [
    KeyCase(words: "connectycube setting callkit", cube(alice: ", settings: { callkit: <> }")),
    KeyCase(words: "connectycube setting manual-audio", callKit(alice: ", manual-audio: <>")),
    KeyCase(words: "connectycube setting audio-enabling", callKit(bob: ", audio-enabling: <>")),
    KeyCase(
      "connectycube setting audio-deinitialization", ["did-deactivate", "end-action", "session-did-close"],
      callKit(
        alice: ", audio-deinitialization: <>",
        timeline: "  - { id: early, at: 1s, do: alice.hangup }\n  - { at: 2s, do: alice.call, to: bob }", talk: "4s")),
    KeyCase(words: "connectycube setting audio-reset", callKit(alice: ", audio-reset: <>")),
    KeyCase(words: "connectycube setting push-report", callKit(bob: ", push-report: <>")),
    KeyCase(words: "devices.incoming_calls", callKit(devices: ", devices: { incoming_calls: <> }")),
    KeyCase(
      words: "connectycube setting airplay",
      cube(
        alice: ", settings: { audio-mode: video-chat, airplay: <> }",
        timeline: "  - { at: 600ms, fault: device.route-change, peer: alice, accessory: airplay, for: 500ms }\n")),
    KeyCase(words: "devices.background_voip", callKit(devices: ", devices: { background_voip: <> }")),
    KeyCase("devices.push_delay", ["100ms", "400ms"], callKit(devices: ", devices: { push_delay: <> }")),
    KeyCase(
      "devices.front_camera_formats", ["[320x240@15]", "[64x48@30, 160x120@15]"],
      filmed("").replacing(
        ", video: { size: 160x120 }",
        with: ", video: { size: 160x120 }, devices: { front_camera_formats: <> }")),
    KeyCase(
      "devices.back_camera_formats", ["[320x240@15]", "[160x120@15]"],
      filmed("  - { at: 600ms, do: alice.switch-camera }\n").replacing(
        ", video: { size: 160x120 }",
        with: ", video: { size: 160x120 }, devices: { back_camera_formats: <> }")),
    KeyCase(
      words: "devices.front_camera",
      filmed("").replacing(
        ", video: { size: 160x120 }", with: ", video: { size: 160x120 }, devices: { front_camera: <> }")),
  ]

  private static let settingsOfConnectyCube: [KeyCase] =
    withCallKit + [
      KeyCase(
        words: "connectycube setting dtls",
        cube(alice: ", settings: { dtls: <> }", bob: ", settings: { dtls: false }")),
      KeyCase(
        "connectycube setting stats-report-interval", ["0s", "500ms", "1s"],
        cube(alice: ", settings: { stats-report-interval: <> }")),
      KeyCase(
        words: "connectycube setting several-sessions",
        cube(
          alice: ", settings: { several-sessions: <> }",
          timeline: "  - { at: 600ms, do: carol.call, to: alice }"
        ).replacing("peers:", with: "peers:\n  carol: { profile: connectycube, network: lan }")),
      KeyCase(words: "connectycube setting call-log", cube(bob: ", settings: { call-log: <> }")),
      KeyCase(words: "connectycube setting audio-mode", cube(alice: ", settings: { audio-mode: <> }")),
      KeyCase("connectycube setting answer-interval", ["answer-interval: 12s", "answer-interval: 20s"], unanswered),
      KeyCase(
        "connectycube setting dialling-interval", ["dialling-interval: 4s", "dialling-interval: 7s"], unanswered),
      KeyCase(
        "connectycube setting disconnect-interval", ["2s", "4s"],
        cube(
          alice: ", settings: { disconnect-interval: <> }",
          timeline: "  - { at: 1s, fault: link.blackhole, link: a, for: 25s }", talk: "30s")),
      KeyCase(
        words: "connectycube setting waits-after-failure",
        cube(
          alice: ", settings: { waits-after-failure: <> }",
          timeline: "  - { at: 1s, fault: link.blackhole, link: a, for: 25s }", talk: "30s")),
      KeyCase(
        "connectycube setting setup-timeout", ["2s", "5s"],
        cube(alice: ", settings: { setup-timeout: <> }", timeline: "  - { at: 50ms, fault: dtls.drop, for: 30s }")),
      KeyCase(words: "connectycube setting initialize-rtc", cube(alice: ", settings: { initialize-rtc: <> }")),
      KeyCase(
        words: "connectycube setting audio-session",
        cube(alice: ", settings: { audio-session: <> }", timeline: "  - { at: 3s, do: alice.call, to: bob }")),
      KeyCase(
        words: "connectycube setting ice-restart",
        cube(
          alice: ", settings: { ice-restart: <> }",
          timeline: "  - { at: 600ms, fault: link.down, link: a, for: 300ms }",
          talk: "5s")),
      KeyCase(
        "connectycube setting audio-bandwidth", ["16kbps", "64kbps"],
        cube(alice: ", settings: { audio-bandwidth: <> }", rest: "media: real")),
      KeyCase(
        "connectycube setting video-bandwidth", ["100kbps", "900kbps"],
        cube(alice: filmed.alice + ", settings: { video-bandwidth: <> }", bob: filmed.bob, rest: "media: real")),
    ]
}
