extension KeyCases {
  static let timeline: [KeyCase] = entries + links + moves + routers + servers + signals + packets

  private static func entry(_ text: String, talk: String = "1s") -> String {
    KeyWorld.lan(timeline: "  - { \(text) }", talk: talk)
  }

  private static let delay = "fault: link.set, link: a, delay: 20ms"

  private static let entries: [KeyCase] = [
    KeyCase("timeline entry.id", ["x", "y"], entry("id: <>, at: 500ms, \(delay)")),
    KeyCase("timeline entry.at", ["500ms", "700ms"], entry("at: <>, \(delay)")),
    KeyCase("timeline entry.after", ["100ms", "300ms"], entry("after: <>, of: accept, \(delay)")),
    KeyCase("timeline entry.of", ["accept", "bob.connected", "call"], entry("after: 300ms, of: <>, \(delay)")),
    KeyCase(
      "timeline entry.when", ["bob.call.state == ringing", "bob.call.state == connected"],
      entry("when: <>, \(delay)")),
    KeyCase("timeline entry.every", ["100ms", "150ms"], entry("every: <>, until: bye, \(delay)")),
    KeyCase("timeline entry.until", ["500ms", "900ms"], entry("every: 100ms, until: <>, \(delay)")),
    KeyCase("timeline entry.times", ["2", "4"], entry("every: 100ms, times: <>, \(delay)")),
    KeyCase("timeline entry.do", ["bob.mute", "alice.mute"], entry("at: 600ms, do: <>")),
    KeyCase("timeline entry.control", ["true", "false"], entry("at: 600ms, fault: link.up, link: a, control: <>")),
    KeyCase(
      "timeline entry.refused", ["true", "false", "no connected call"],
      entry("at: 600ms, do: bob.accept, refused: <>")),
    KeyCase("timeline entry.mark", ["x", "y"], entry("at: 600ms, mark: <>")),
    KeyCase("timeline entry.for", ["100ms", "400ms"], entry("at: 500ms, for: <>, \(delay)")),
    KeyCase("timeline entry.clear", ["one", "two"], clearing),
    KeyCase("timeline entry.send", ["call_offer", "call_hangup"], sending.replacing("call_offer", with: "<>")),
    KeyCase("send.from", ["mallory", "eve"], sending.replacing("from: mallory", with: "from: <>")),
    KeyCase("send.to", ["alice", "bob"], sending.replacing("to: carol", with: "to: <>")),
    KeyCase(
      "send.fields",
      ["{ sdp: x }", "{ callId: c, candidate: 7 }", "{ callId: c, candidate: 7, media: [audio, 2] }"],
      sending.replacing("{ callId: c }", with: "<>")),
    KeyCase(
      "send.like", ["", ", like: call_offer", ", like: ice_candidate"],
      sending.replacing(", fields: { callId: c }", with: "<>")),
  ]

  private static let clearing = KeyWorld.lan(
    timeline: """
        - { id: one, at: 300ms, \(delay) }
        - { id: two, at: 400ms, fault: link.set, link: b, delay: 30ms }
        - { at: 600ms, clear: <> }
      """, talk: "1s")

  private static let sending = KeyWorld.lan(
    timeline: "  - { at: 500ms, send: call_offer, from: mallory, to: carol, fields: { callId: c } }", talk: "1s"
  ).replacing(
    "peers:",
    with: """
      peers:
        mallory: { stack: puppet }
        eve: { stack: puppet }
        carol: { profile: knotos, network: lan }
      """)

  // MARK: Faults

  /// That the fault does something, and that each of `arguments` matters to it.
  ///
  /// - Parameter rest: what follows the fault, with `@NAME` for each argument.
  private static func fault(
    _ kind: String, _ rest: String, _ arguments: [(name: String, values: [String])],
    in world: @Sendable (String) -> String = { KeyWorld.lan(timeline: $0, talk: "1s") }, at: String = "500ms"
  ) -> [KeyCase] {
    let entry = "  - { at: \(at), fault: \(kind)\(rest) }"
    func filled(_ argument: String) -> String {
      arguments.reduce(entry) { text, other in
        text.replacing("@\(other.name)", with: other.name == argument ? "<>" : other.values[0])
      }
    }
    let effect = arguments.reduce("fault: \(kind)\(rest)") { $0.replacing("@\($1.name)", with: $1.values[0]) }
    return [KeyCase(effect: "fault \(kind)", at: at, effect, world("<>"))]
      + arguments.map { KeyCase("fault \(kind).\($0.name)", $0.values, world(filled($0.name))) }
  }

  private static let links: [KeyCase] =
    fault("link.down", ", link: @link, for: 200ms", [("link", ["a", "b"])])
    + fault(
      "link.up", ", link: @link", [("link", ["a", "c"])],
      in: {
        KeyWorld.lan(line: ", start: down", timeline: $0).replacing(
          "links:", with: "links:\n    c: { from: bob, to: lan, start: down }")
      }, at: "50ms")
    + fault("link.set", ", link: @link, delay: 30ms", [("link", ["a", "b"])])
    + [
      KeyCase("fault link.set.direction", ["", ", direction: tx", ", direction: rx"], entry("at: 500ms, \(delay)<>"))
    ]
    + impairments(
      "fault link.set",
      entry("at: 50ms, fault: link.set, link: a, for: 20s, duplicate: 0%<>").replacing(", duplicate: 0%<>", with: "<>")
    )
    .map { $0.values[0].isEmpty ? KeyCase($0.site, [", delay: 1ms", ", delay: 1ms" + $0.values[1]], $0.template) : $0 }
    + fault(
      "link.flap", ", link: @link, down: @down, up: @up, cycles: @cycles",
      [("link", ["a", "b"]), ("down", ["50ms", "90ms"]), ("up", ["100ms", "140ms"]), ("cycles", ["2", "3"])])
    + fault("link.blackhole", ", link: @link, for: 200ms", [("link", ["a", "b"])])
    + [
      KeyCase(
        "fault link.blackhole.direction", ["", ", direction: tx", ", direction: rx"],
        entry("at: 500ms, fault: link.blackhole, link: a, for: 200ms<>")),
      KeyCase(
        "fault link.blackhole.larger_than", ["", ", larger_than: 100B", ", larger_than: 5000B"],
        entry("at: 50ms, fault: link.blackhole, link: a, for: 200ms<>")),
    ]
    + fault(
      "link.one-way", ", link: @link, direction: @direction, for: 200ms",
      [("link", ["a", "b"]), ("direction", ["tx", "rx"])])

  private static let moves = fault(
    "link.move", ", link: @link, network: @network, for: 300ms",
    [("link", ["a", "b"]), ("network", ["side", "other"])],
    in: {
      KeyWorld.lan(timeline: $0, talk: "2s").replacing(
        "networks: {",
        with: "networks: { side: { cidr: 10.1.0.0/24, to: lan }, other: { cidr: 10.2.0.0/24, to: lan },")
    })

  private static let natWorld: @Sendable (String) -> String = { KeyWorld.nat(timeline: $0, talk: "1s") }

  private static let routers: [KeyCase] =
    ["nat.reboot", "nat.expire", "nat.remap"].flatMap {
      fault($0, ", network: @network", [("network", ["home", "away"])], in: natWorld)
    }
    + [
      KeyCase(
        "fault nat.reboot.address", ["", ", address: new", ", address: 203.0.113.77"],
        natWorld("  - { at: 500ms, fault: nat.reboot, network: home<> }"))
    ]
    + fault("nat.set", ", network: @network, map: address", [("network", ["home", "away"])], in: natWorld, at: "50ms")
    + natChanges
    + fault(
      "firewall.block", ", network: @network, protocol: @protocol, for: 300ms",
      [("network", ["home", "away"]), ("protocol", ["udp", "tcp", "all"])], in: natWorld, at: "50ms")
    + fault(
      "firewall.allow", ", network: @network, protocol: @protocol, ports: @ports, for: 3s",
      [("network", ["home", "away"]), ("protocol", ["udp", "tcp", "all"])], in: natWorld
    )
    .map {
      var key = KeyCase(
        $0.site, $0.values.map { $0.replacing("@ports", with: "[3478]") },
        $0.template.replacing("@ports", with: "[3478]"))
      key.isEffect = $0.isEffect
      return key
    }
    + [
      KeyCase(
        "fault firewall.allow.ports", ["[3478]", "[443]"],
        natWorld("  - { at: 50ms, fault: firewall.allow, network: home, ports: <>, for: 3s }"))
    ]
    + [
      KeyCase(
        "fault firewall.block.ports", ["", ", ports: [3478]", ", ports: [443]"],
        natWorld("  - { at: 50ms, fault: firewall.block, network: home, for: 300ms<> }"))
    ]

  /// Each key of a NAT alone, as a change of one that runs.
  static let natChanges = NATCases(place: "fault nat.set", world: settingNAT).all

  /// The NAT changes, and only then somebody calls.
  private static func settingNAT(_ beside: (nat: String, timeline: String)) -> String {
    let entry = "  - { id: \(KeyCase.entry), at: 50ms, fault: nat.set, network: home<> }"
    return KeyWorld.nat(beside.nat, timeline: "\(entry)\n\(beside.timeline)", talk: "1s")
      .replacing("at: 100ms, do: alice.call", with: "at: 15s, do: alice.call")
  }

  private static let turnWorld: @Sendable (String) -> String = {
    KeyWorld.relayed(", transports: [udp, tcp]", timeline: $0, talk: "3s")
      .replacing("servers: {", with: "servers: { second: { kind: turn, transports: [udp, tcp] },")
  }
  private static let tlsWorld: @Sendable (String) -> String = {
    turnWorld($0).replacing("transports: [udp, tcp]", with: "transports: [tls]")
  }
  private static let relays = [(name: "server", values: ["relay", "second"])]

  private static let servers: [KeyCase] =
    ["turn.restart", "turn.disconnect"].flatMap { fault($0, ", server: @server", relays, in: turnWorld) }
    // Those of the relay that the call goes through are missed.
    + ["turn.expire-permissions", "turn.expire-channels"].flatMap {
      fault($0, ", server: @server", [("server", ["second", "relay"])], in: turnWorld)
    }
    + fault("turn.deny", ", server: @server, for: 1s", relays, in: turnWorld, at: "50ms")
    + fault("turn.stale-nonce", ", server: @server", relays, in: turnWorld, at: "150ms")
    + fault(
      "turn.reject", ", server: @server, code: @code, for: 9s", relays + [("code", ["400", "500"])], in: turnWorld,
      at: "50ms")
    + [
      KeyCase(
        "fault turn.reject.request",
        [", request: allocate", ", request: refresh", ", request: create-permission", ", request: channel-bind"],
        KeyWorld.relayed(
          ", lifetime: 4s", timeline: "  - { at: 50ms, fault: turn.reject, server: relay, code: 400, for: 9s<> }",
          talk: "6s"))
    ]
    + fault(
      "turn.certificate", ", server: @server, certificate: @certificate, for: 9s",
      relays + [("certificate", ["expired", "valid", "not-yet-valid", "wrong-name", "unknown-issuer"])], in: tlsWorld,
      at: "50ms")
    + fault("stun.silent", ", server: @server, for: 9s", relays, in: turnWorld, at: "50ms")

  private static let signals: [KeyCase] =
    ["signal.drop", "signal.delay", "signal.duplicate", "signal.reorder", "signal.corrupt"].flatMap { kind in
      let by = kind == "signal.delay" ? ", by: 200ms" : ""
      let template = entry("at: 50ms, fault: \(kind), for: 5s\(by)<>", talk: "1s")
      return [
        KeyCase(
          effect: "fault \(kind)", at: "50ms", "fault: \(kind), for: 5s\(by)", KeyWorld.lan(timeline: "<>", talk: "1s")),
        KeyCase("fault \(kind).message", ["", ", message: call_answer", ", message: ice_candidate"], template),
        KeyCase("fault \(kind).from", [", from: alice", ", from: bob"], template),
        KeyCase("fault \(kind).to", [", to: alice", ", to: bob"], template),
        KeyCase("fault \(kind).count", ["", ", count: 1"], template),
      ]
    } + [
      KeyCase(
        "fault signal.corrupt.field", ["callId", "candidate", "description"],
        entry("at: 50ms, fault: signal.corrupt, for: 5s, field: <>", talk: "1s")),
      KeyCase(
        "fault signal.corrupt.value", ["x", "'candidate:1 1 udp 2130706431 192.168.9.9 5000 typ host'"],
        entry("at: 50ms, fault: signal.corrupt, for: 5s, field: candidate, value: <>", talk: "1s")),
      KeyCase("fault signal.delay.by", ["100ms", "300ms"], entry("at: 50ms, fault: signal.delay, for: 5s, by: <>")),
      KeyCase(
        effect: "fault signal.blackhole", at: "50ms", "fault: signal.blackhole, for: 5s",
        KeyWorld.lan(timeline: "<>", talk: "1s")),
      KeyCase("fault signal.blackhole.message", ["", ", message: call_answer", ", message: ice_candidate"], blackhole),
      KeyCase("fault signal.blackhole.from", [", from: alice", ", from: bob"], blackhole),
      KeyCase("fault signal.blackhole.to", [", to: alice", ", to: bob"], blackhole),
    ] + fault("signal.disconnect", ", peer: @peer, for: 1s", [("peer", ["alice", "bob"])])

  private static let blackhole = entry("at: 50ms, fault: signal.blackhole, for: 5s<>")

  private static let packets: [KeyCase] =
    fault("dtls.drop", ", from: @from, for: 2s", [("from", ["alice", "bob"])], at: "50ms")
    + [
      KeyCase(
        "fault dtls.drop.flight", [", flight: 1", ", flight: 4"], entry("at: 50ms, fault: dtls.drop, for: 2s<>")),
      KeyCase(
        "fault dtls.drop.nth", ["", ", nth: 1", ", nth: [2, 3]"], entry("at: 50ms, fault: dtls.drop, for: 2s<>")),
      KeyCase(
        "fault dtls.drop.count", ["", ", count: 1", ", count: 2"], entry("at: 50ms, fault: dtls.drop, for: 2s<>")),
      KeyCase(
        "fault packet.drop.protocol", DeclaredKeys.words(of: "fault packet.drop.protocol"),
        turnWorld("  - { at: 50ms, fault: packet.drop, protocol: <>, for: 1s }").replacing(
          "transports: [udp, tcp]", with: "transports: [udp, tcp, tls]")),
      KeyCase("fault packet.drop.from", [", from: alice", ", from: bob"], dropping),
      KeyCase("fault packet.drop.to", [", to: alice", ", to: bob"], dropping),
      KeyCase("fault packet.drop.nth", ["", ", nth: 1", ", nth: [2, 3]"], dropping),
      KeyCase("fault packet.drop.count", ["", ", count: 1", ", count: 2"], dropping),
      KeyCase(
        effect: "fault packet.drop", at: "50ms", "fault: packet.drop, protocol: rtp, for: 1s",
        KeyWorld.lan(timeline: "<>", talk: "1s")),
      KeyCase(
        "fault packet.forge.protocol", ["stun", "dtls", "rtp", "rtcp"],
        KeyWorld.lan(timeline: "  - { at: 1ms, fault: packet.forge, protocol: <>, to: bob, for: 9s }", talk: "8s")),
      KeyCase(
        "fault packet.forge.to", ["alice", "bob"], entry("at: 50ms, fault: packet.forge, protocol: rtp, to: <>")),
      KeyCase("fault packet.forge.nth", ["", ", nth: 1", ", nth: [2, 3]"], forging),
      KeyCase("fault packet.forge.count", ["", ", count: 1", ", count: 2"], forging),
      KeyCase(
        effect: "fault packet.forge", at: "50ms", "fault: packet.forge, protocol: rtp, to: bob, for: 1s",
        KeyWorld.lan(timeline: "<>", talk: "1s")),
      KeyCase("fault dtls.fail.peer", ["alice", "bob"], entry("at: 2s, fault: dtls.fail, peer: <>")),
      KeyCase(
        effect: "fault dtls.fail", at: "2s", "fault: dtls.fail, peer: alice", KeyWorld.lan(timeline: "<>", talk: "4s")),
      KeyCase(
        "fault data-channel.fail.peer", ["alice", "bob"],
        KeyWorld.lan(
          alice: ", data_channels: { chat: {} }",
          timeline: "  - { at: 2s, fault: data-channel.fail, peer: <> }", talk: "4s")),
      KeyCase(
        effect: "fault data-channel.fail", at: "2s", "fault: data-channel.fail, peer: alice",
        KeyWorld.lan(alice: ", data_channels: { chat: {} }", timeline: "<>", talk: "4s")),
      KeyCase("fault clock.jump.peer", ["alice", "bob"], jumping.replacing("peer: alice", with: "peer: <>")),
      KeyCase("fault clock.jump.by", ["1s", "-100s"], jumping.replacing("by: -100s", with: "by: <>")),
      KeyCase(
        effect: "fault clock.jump", at: "50ms", "fault: clock.jump, peer: alice, by: -100s",
        KeyWorld.lan(timeline: "<>", talk: "8s")),
    ]
    + fault(
      "device.audio-late", ", peer: @peer, by: @by, for: 500ms",
      [("peer", ["alice", "bob"]), ("by", ["30ms", "90ms"])],
      in: { KeyWorld.lan(timeline: $0, rest: "media: real", talk: "1s") })
    + fault(
      "device.events-late", ", peer: @peer, event: @event, by: @by, for: 5s",
      [
        ("peer", ["alice", "bob"]), ("event", ["icecandidate", "connectionstatechange"]), ("by", ["300ms", "700ms"]),
      ],
      in: { KeyWorld.lan(timeline: $0, talk: "1s") }, at: "1ms")
    + ["background", "inactive", "suspend", "kill"].flatMap { name in
      fault(
        "device.\(name)", ", peer: @peer, for: 8s", [("peer", ["alice", "bob"])],
        in: { KeyWorld.lan(timeline: $0, talk: "20s") })
    }
    + fault(
      "device.audio-interruption", ", peer: @peer, ended_event: @ended_event, for: 3s",
      [("peer", ["alice", "bob"]), ("ended_event", ["true", "false"])],
      in: { KeyWorld.lan(timeline: $0, talk: "10s") })
    + fault(
      "device.phone-call", ", peer: @peer, answered: @answered, for: 3s",
      [("peer", ["alice", "bob"]), ("answered", ["true", "false"])],
      in: { KeyWorld.lan(timeline: $0, talk: "10s") })
    + fault(
      "device.memory-pressure", ", peer: @peer, for: 8s", [("peer", ["alice", "bob"])],
      in: { timeline in
        KeyWorld.lan(
          timeline: "  - { at: 600ms, fault: device.suspend, peer: alice, for: 18s }\n"
            + "  - { at: 700ms, fault: device.suspend, peer: bob, for: 18s }\n" + timeline, talk: "20s")
      }, at: "2s")
    + fault(
      "device.route-change", ", peer: @peer, accessory: @accessory, for: 1s",
      [("peer", ["alice", "bob"]), ("accessory", DeclaredKeys.words(of: "fault device.route-change.accessory"))],
      in: { KeyWorld.lan(timeline: $0, talk: "3s") })
    + fault(
      "device.camera-interruption", ", peer: @peer, reason: @reason, for: 1s",
      [("peer", ["alice", "bob"]), ("reason", DeclaredKeys.words(of: "fault device.camera-interruption.reason"))],
      in: {
        KeyWorld.lan(
          alice: ", video: { size: 160x120 }", bob: ", video: { size: 160x120 }", timeline: $0, talk: "3s")
      })
    + fault(
      "device.traffic", ", peer: @peer, direction: @direction, flows: @flows, size: @size, pause: @pause, for: 2s",
      [
        ("peer", ["alice", "bob"]), ("direction", ["tx", "rx"]), ("flows", ["1", "3"]), ("size", ["10kB", "20kB"]),
        ("pause", ["100ms", "300ms"]),
      ],
      in: { KeyWorld.lan(timeline: $0, talk: "3s") })

  private static let forging = entry("at: 50ms, fault: packet.forge, protocol: rtp, to: bob, for: 1s<>")
  private static let dropping = entry("at: 50ms, fault: packet.drop, protocol: rtp, for: 1s<>")
  /// The clock shows in the sender reports of its owner.
  private static let jumping = KeyWorld.lan(
    timeline: "  - { at: 50ms, fault: clock.jump, peer: alice, by: -100s }", talk: "8s")
}
