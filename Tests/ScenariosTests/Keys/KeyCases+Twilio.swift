extension KeyCases {
  /// The actions and settings of the profile Twilio.
  static let twilio: [KeyCase] = actionsOfTwilio + settingsOfTwilio

  /// Alice and Bob in one room on one network.
  private static func room(
    alice: String = "", bob: String = "", before: String = "", timeline: String = "", rest: String = "",
    talk: String = "2s", limit: String = "60s"
  ) -> String {
    KeyWorld.joined(
      "twilio", to: "room", "daily", alice: alice, bob: bob, before: before, timeline: timeline, rest: rest, talk: talk,
      limit: limit)
  }

  private static func action(_ name: String, at time: String, _ what: String, in template: String) -> KeyCase {
    KeyCase(effect: "twilio action \(name)", at: time, "do: \(what)", template)
  }

  private static let inRoom = room(timeline: "<>")
  private static let ahead = room(before: "<>")
  private static let silent = ", settings: { mic-at-connect: false }"
  private static func filmed(creating rules: String) -> String {
    room(
      alice: ", video: { size: 160x120, codecs: [H264] }", bob: ", video: { size: 160x120 }",
      before: "  - { at: 20ms, do: bob.create-room, room: daily, \(rules) }")
  }
  private static func filmed(_ timeline: String) -> String {
    room(alice: ", video: { size: 160x120 }", bob: ", video: { size: 160x120 }", timeline: timeline)
  }

  /// Bob publishes a data track, and something follows.
  private static func data(_ arguments: String, _ rest: String = "") -> String {
    room(timeline: "  - { at: 1s, do: bob.publish-data, \(arguments) }\n\(rest)")
  }

  /// Bob sends on a data track with this setting, and loses much.
  private static func losing(_ setting: String) -> String {
    room(
      timeline: """
          - { at: 1s, do: bob.publish-data, track-name: chat, \(setting) }
          - { at: 1400ms, fault: link.set, link: b, loss: 40% }
          - { at: 1500ms, do: bob.send-message, track-name: chat, bytes: 1KiB, messages: 40 }
        """, talk: "4s")
  }

  private static func message(_ arguments: String) -> String {
    data("track-name: chat", "  - { at: 1500ms, do: bob.send-message, \(arguments) }")
  }

  private static let actionsOfTwilio: [KeyCase] = [
    KeyCase(
      "video.simulcast", ["1", "2", "3"],
      room(
        alice: ", video: { size: 640x480, simulcast: <> }", bob: ", video: {}, devices: { camera: none }",
        rest: "media: synthetic")),
    action("connect", at: "250ms", "alice.connect, room: daily", in: ahead),
    KeyCase(
      "twilio action connect.room", ["daily", "weekly"],
      room().replacing("do: alice.connect, room: daily", with: "do: alice.connect, room: <>")),
    action("disconnect", at: "1s", "bob.disconnect", in: inRoom),
    action("mic-off", at: "1s", "bob.mic-off", in: inRoom),
    action("mic-on", at: "1500ms", "bob.mic-on", in: room(timeline: "  - { at: 1s, do: bob.mic-off }\n<>")),
    action("publish", at: "1s", "bob.publish, track-name: second", in: inRoom),
    KeyCase(
      "twilio action publish.track-name", ["second", "third"],
      room(timeline: "  - { at: 1s, do: bob.publish, track-name: <> }")),
    action("publish-data", at: "1s", "bob.publish-data, track-name: chat", in: inRoom),
    KeyCase("twilio action publish-data.track-name", ["chat", "talk"], data("track-name: <>")),
    KeyCase(words: "twilio action publish-data.ordered", losing("ordered: <>")),
    KeyCase(
      "twilio action publish-data.max-packet-life-time", ["100ms", "200ms"],
      losing("max-packet-life-time: <>")),
    KeyCase(
      "twilio action publish-data.max-retransmits", ["0", "2"], losing("max-retransmits: <>")),
    action("unpublish-data", at: "1500ms", "bob.unpublish-data, track-name: chat", in: data("track-name: chat", "<>")),
    KeyCase(
      "twilio action unpublish-data.track-name", ["chat", "talk"],
      data("track-name: chat", "  - { at: 1500ms, do: bob.unpublish-data, track-name: <> }")),
    action(
      "send-message", at: "1500ms", "bob.send-message, track-name: chat, text: hello",
      in: data("track-name: chat", "<>")),
    KeyCase("twilio action send-message.track-name", ["chat", "talk"], message("track-name: <>, text: hello")),
    KeyCase("twilio action send-message.text", ["hello", "hallo"], message("track-name: chat, text: <>")),
    KeyCase("twilio action send-message.bytes", ["10B", "20B"], message("track-name: chat, bytes: <>")),
    KeyCase("twilio action send-message.messages", ["1", "2"], message("track-name: chat, text: a, messages: <>")),
    action("camera-off", at: "1s", "bob.camera-off", in: filmed("<>")),
    action("camera-on", at: "1500ms", "bob.camera-on", in: filmed("  - { at: 1s, do: bob.camera-off }\n<>")),
    action("create-room", at: "20ms", "bob.create-room, room: daily", in: ahead),
    KeyCase(
      "twilio action create-room.room", ["daily", "weekly"],
      room(before: "  - { at: 20ms, do: bob.create-room, room: <>, max-participants: 1 }")),
    KeyCase(
      "twilio action create-room.max-participants", ["1", "2"],
      room(before: "  - { at: 20ms, do: bob.create-room, room: daily, max-participants: <> }")),
    KeyCase(
      "twilio action create-room.max-participant-duration", ["600s", "610s"],
      room(
        alice: silent, bob: silent,
        before: "  - { at: 20ms, do: bob.create-room, room: daily, max-participant-duration: <> }", talk: "620s",
        limit: "15min")),
    KeyCase(
      "twilio action create-room.max-published-tracks", ["1", "2"],
      room(
        before: "  - { at: 20ms, do: bob.create-room, room: daily, max-published-tracks: <> }",
        timeline: "  - { at: 1s, do: alice.publish, track-name: more }")),
    KeyCase(words: "twilio action create-room.audio-only", filmed(creating: "audio-only: <>")),
    KeyCase(words: "twilio action create-room.video-codec", filmed(creating: "video-codec: <>")),
    KeyCase(
      "twilio action create-room.empty-room-timeout", ["1min", "2min"],
      room(
        alice: silent, bob: silent,
        before: "  - { at: 20ms, do: bob.create-room, room: daily, empty-room-timeout: <> }",
        timeline: """
            - { at: 1s, do: alice.disconnect }
            - { at: 1s, do: bob.disconnect }
            - { at: 70s, do: bob.create-room, room: daily, refused: true }
          """, talk: "80s", limit: "5min")),
    KeyCase(
      "twilio action create-room.unused-room-timeout", ["1min", "2min"],
      room(
        alice: silent, bob: silent,
        before: "  - { at: 20ms, do: bob.create-room, room: weekly, unused-room-timeout: <> }",
        timeline: "  - { at: 70s, do: bob.create-room, room: weekly, refused: true }", talk: "80s", limit: "5min")),
    action("complete-room", at: "1s", "bob.complete-room, room: daily", in: inRoom),
    KeyCase(
      "twilio action complete-room.room", ["daily", "weekly"],
      room(timeline: "  - { at: 1s, do: bob.complete-room, room: <> }")),
    action("set-ad-hoc", at: "20ms", "bob.set-ad-hoc, allowed: false", in: ahead),
    KeyCase(
      words: "twilio action set-ad-hoc.allowed", room(before: "  - { at: 20ms, do: bob.set-ad-hoc, allowed: <> }")),
    action("set-busy", at: "20ms", "bob.set-busy, busy: true", in: ahead),
    KeyCase(words: "twilio action set-busy.busy", room(before: "  - { at: 20ms, do: bob.set-busy, busy: <> }")),
    KeyCase(
      "twilio action set-busy.retry-after", ["500ms", "900ms"],
      room(before: "  - { at: 20ms, do: bob.set-busy, busy: true, retry-after: <> }")),
    KeyCase(
      words: "twilio action set-busy.keep-alive",
      room(before: "  - { at: 20ms, do: bob.set-busy, busy: true, retry-after: 500ms, keep-alive: <> }")),
    action("set-quota", at: "20ms", "bob.set-quota, what: rooms, count: 0", in: ahead),
    KeyCase(
      words: "twilio action set-quota.what", room(before: "  - { at: 20ms, do: bob.set-quota, what: <>, count: 1 }")),
    KeyCase(
      "twilio action set-quota.count", ["0", "1"],
      room(before: "  - { at: 20ms, do: bob.set-quota, what: participants, count: <> }")),
    action("set-refusal", at: "20ms", "bob.set-refusal, code: \"53104\"", in: ahead),
    // A track, a resumption and a restart of ICE.
    KeyCase(
      words: "twilio action set-refusal.code",
      room(
        before: "  - { at: 20ms, do: bob.set-refusal, code: \"<>\" }",
        timeline: """
            - { at: 1200ms, do: alice.publish, track-name: more }
            - { at: 1500ms, fault: link.down, link: a, for: 17s }
          """, talk: "40s")),
  ]

  private static let settingsOfTwilio: [KeyCase] = [
    KeyCase("twilio setting identity", ["ann", "anna"], room(alice: ", settings: { identity: <> }")),
    KeyCase(words: "twilio setting token", room(alice: ", settings: { token: <> }")),
    KeyCase(
      "twilio setting token-ttl", ["1s", "60s"],
      room(
        alice: ", settings: { token-ttl: <> }", timeline: "  - { at: 1500ms, fault: link.down, link: a, for: 17s }",
        talk: "40s")),
    KeyCase(words: "twilio setting mic-at-connect", room(alice: ", settings: { mic-at-connect: <> }")),
    KeyCase(
      words: "twilio setting camera-at-connect",
      filmed("").replacing(
        "alice: { profile: twilio", with: "alice: { profile: twilio, settings: { camera-at-connect: <> }")),
    KeyCase("twilio setting mic-name", ["mic", "voice"], room(alice: ", settings: { mic-name: <> }")),
    KeyCase(words: "twilio setting bandwidth-profile", room(alice: ", settings: { bandwidth-profile: <> }")),
    KeyCase(
      words: "twilio setting track-switch-off",
      room(alice: ", settings: { bandwidth-profile: grid, track-switch-off: <> }")),
    KeyCase(
      words: "twilio setting camera-priority",
      filmed("").replacing(
        "alice: { profile: twilio", with: "alice: { profile: twilio, settings: { camera-priority: <> }")),
    KeyCase(words: "twilio setting dominant-speaker", room(alice: ", settings: { dominant-speaker: <> }")),
    KeyCase(words: "twilio setting network-quality", room(alice: ", settings: { network-quality: <> }")),
    KeyCase(
      words: "twilio setting sample-code",
      room(alice: ", settings: { sample-code: <> }", before: "  - { at: 10ms, do: alice.mic-off }")),
    KeyCase(
      words: "twilio setting turn-off",
      room(alice: ", settings: { turn-off: <> }", timeline: "  - { at: 1s, do: alice.mic-off }")),
  ]
}
