extension KeyCases {
  /// The actions and settings of the profile Vonage.
  static let vonage: [KeyCase] = userActionsOfVonage + callsOfVonage + operatorActionsOfVonage + settingsOfVonage

  /// Alice and Bob in one session on one network.
  private static func session(
    alice: String = "", bob: String = "", before: String = "", timeline: String = "", talk: String = "2s"
  ) -> String {
    KeyWorld.joined(
      "vonage", to: "session", "daily", alice: alice, bob: bob, before: before, timeline: timeline, talk: talk)
  }

  private static func action(_ name: String, at time: String, _ what: String, in template: String) -> KeyCase {
    KeyCase(effect: "vonage action \(name)", at: time, "do: \(what)", template)
  }

  private static let inSession = session(timeline: "<>")
  private static let ahead = session(before: "<>")
  private static func filmed(_ timeline: String, alice: String = "") -> String {
    session(alice: ", video: { size: 160x120 }\(alice)", bob: ", video: { size: 160x120 }", timeline: timeline)
  }

  private static let unpublished = "  - { at: 1s, do: bob.unpublish }\n"
  private static let moderator = ", settings: { role: moderator }"

  private static let userActionsOfVonage: [KeyCase] = [
    action("connect", at: "250ms", "alice.connect, session: daily", in: ahead),
    KeyCase(
      "vonage action connect.session", ["daily", "weekly"],
      session().replacing("do: alice.connect, session: daily", with: "do: alice.connect, session: <>")),
    action("disconnect", at: "1s", "bob.disconnect", in: inSession),
    action("publish", at: "1s", "bob.publish, name: second", in: inSession),
    KeyCase(
      "vonage action publish.name", ["main", "second"], session(timeline: "  - { at: 1s, do: bob.publish, name: <> }")),
    action("unpublish", at: "1s", "bob.unpublish", in: inSession),
    KeyCase(
      "vonage action unpublish.name", ["main", "second"],
      session(timeline: "  - { at: 1s, do: bob.unpublish, name: <> }")),
    action(
      "subscribe", at: "1s", "bob.subscribe, user: alice",
      in: session(bob: ", settings: { subscribes: false }", timeline: "<>")),
    KeyCase(
      "vonage action subscribe.user", ["alice", "bob"],
      session(
        bob: ", settings: { subscribes: false }", timeline: "  - { at: 1s, do: bob.subscribe, user: <> }")),
    action("unsubscribe", at: "1s", "bob.unsubscribe, user: alice", in: inSession),
    KeyCase(
      "vonage action unsubscribe.user", ["alice", "bob"],
      session(timeline: "  - { at: 1s, do: bob.unsubscribe, user: <> }")),
    action("mute", at: "1s", "bob.mute", in: inSession),
    action("unmute", at: "1500ms", "bob.unmute", in: session(timeline: "  - { at: 1s, do: bob.mute }\n<>")),
    action("camera-off", at: "1s", "bob.camera-off", in: filmed("<>")),
    action("camera-on", at: "1500ms", "bob.camera-on", in: filmed("  - { at: 1s, do: bob.camera-off }\n<>")),
    action("subscribe-to-audio", at: "1s", "bob.subscribe-to-audio, wanted: false", in: inSession),
    KeyCase(
      words: "vonage action subscribe-to-audio.wanted",
      session(timeline: "  - { at: 1s, do: bob.subscribe-to-audio, wanted: <> }")),
    action("subscribe-to-video", at: "1s", "bob.subscribe-to-video, wanted: false", in: filmed("<>")),
    KeyCase(
      words: "vonage action subscribe-to-video.wanted",
      filmed("  - { at: 1s, do: bob.subscribe-to-video, wanted: <> }")),
    action("signal", at: "1s", "bob.signal, type: chat, data: hello", in: inSession),
    KeyCase(
      "vonage action signal.type", ["chat", "note"], session(timeline: "  - { at: 1s, do: bob.signal, type: <> }")),
    KeyCase(
      "vonage action signal.data", ["hello", "goodbye"],
      session(timeline: "  - { at: 1s, do: bob.signal, data: <> }")),
    KeyCase(
      "vonage action signal.size", ["10", "20"], session(timeline: "  - { at: 1s, do: bob.signal, size: <> }")),
    KeyCase(
      "vonage action signal.to", with: "to: alice", session(timeline: "  - { at: 1s, do: bob.signal, data: hello<> }")),
    KeyCase(
      words: "vonage action signal.retry-after-reconnect",
      session(
        timeline: """
            - { at: 1s, fault: link.down, link: b, for: 3s }
            - { at: 2s, do: bob.signal, data: hello, retry-after-reconnect: <> }
          """, talk: "8s")),
    action(
      "force-disconnect", at: "1s", "alice.force-disconnect, user: bob", in: session(alice: moderator, timeline: "<>")),
    KeyCase(
      "vonage action force-disconnect.user", ["alice", "bob"],
      session(alice: moderator, timeline: "  - { at: 1s, do: alice.force-disconnect, user: <> }")),
    action("force-mute", at: "1s", "alice.force-mute, user: bob", in: session(alice: moderator, timeline: "<>")),
    KeyCase(
      "vonage action force-mute.user", ["alice", "bob"],
      session(alice: moderator, timeline: "  - { at: 1s, do: alice.force-mute, user: <> }")),
  ]

  /// Bob, whose app takes pushes, is invited after 400 ms.
  private static func invited(_ timeline: String) -> String {
    session(bob: ", settings: { callkit: true }, devices: { push_delay: 100ms }", timeline: timeline).replacing(
      "do: bob.connect, session: daily", with: "do: alice.invite, user: bob, session: daily")
  }

  private static let callsOfVonage: [KeyCase] = [
    action(
      "invite", at: "1s", "alice.invite, user: bob, session: weekly",
      in: session(bob: ", settings: { callkit: true }", timeline: "<>", talk: "4s")),
    KeyCase(
      "vonage action invite.user", ["alice", "bob"],
      session(
        bob: ", settings: { callkit: true }", timeline: "  - { at: 1s, do: alice.invite, user: <>, session: weekly }",
        talk: "4s")),
    KeyCase(
      "vonage action invite.session", ["daily", "weekly"],
      session(
        bob: ", settings: { callkit: true }", timeline: "  - { at: 1s, do: alice.invite, user: bob, session: <> }",
        talk: "4s")),
    action("accept", at: "1s", "bob.accept", in: invited("<>")),
    action("decline", at: "1s", "bob.decline", in: invited("<>")),
    KeyCase(words: "vonage setting callkit", session(alice: ", settings: { callkit: <> }")),
  ]

  private static let operatorActionsOfVonage: [KeyCase] = [
    action("create-session", at: "20ms", "bob.create-session, session: daily, mode: relayed", in: ahead),
    KeyCase(
      "vonage action create-session.session", ["daily", "weekly"],
      session(before: "  - { at: 20ms, do: bob.create-session, session: <>, mode: relayed }")),
    KeyCase(
      words: "vonage action create-session.mode",
      session(before: "  - { at: 20ms, do: bob.create-session, session: daily, mode: <> }")),
    action("set-limit", at: "20ms", "bob.set-limit, what: connections, count: 1", in: ahead),
    KeyCase(
      words: "vonage action set-limit.what", session(before: "  - { at: 20ms, do: bob.set-limit, what: <>, count: 1 }")),
    KeyCase(
      "vonage action set-limit.count", ["1", "2"],
      session(before: "  - { at: 20ms, do: bob.set-limit, what: connections, count: <> }")),
    action("set-refusal", at: "20ms", "bob.set-refusal, code: \"1503\"", in: ahead),
    KeyCase(
      words: "vonage action set-refusal.code", session(before: "  - { at: 20ms, do: bob.set-refusal, code: <> }")),
  ]

  private static let settingsOfVonage: [KeyCase] = [
    KeyCase(words: "vonage setting token", session(alice: ", settings: { token: <> }")),
    KeyCase(words: "vonage setting role", session(alice: ", settings: { role: <> }")),
    KeyCase(words: "vonage setting publishes", session(alice: ", settings: { publishes: <> }")),
    KeyCase(words: "vonage setting subscribes", session(alice: ", settings: { subscribes: <> }")),
    KeyCase(
      words: "vonage setting capturer",
      filmed(
        "  - { at: 1s, fault: device.background, peer: alice, for: 900ms }", alice: ", settings: { capturer: <> }")),
    KeyCase(
      words: "vonage setting views-in-background",
      session(
        alice: ", video: { size: 160x120 }, settings: { views-in-background: <> }", bob: ", video: { size: 160x120 }",
        timeline:
          "  - { at: 1s, fault: device.background, peer: alice, for: 3s }\n  - { at: 1500ms, do: bob.publish, name: second }",
        talk: "4s")),
    KeyCase(
      words: "vonage setting audio-fallback",
      session(
        alice: ", video: { size: 160x120 }, settings: { audio-fallback: <> }", bob: ", video: { size: 160x120 }",
        timeline: "  - { at: 1s, fault: link.set, link: b, direction: rx, loss: 40% }", talk: "8s")),
  ]
}
