extension KeyCases {
  static let expectations: [KeyCase] =
    headers
    + [
      KeyCase(
        "sequence.sequence", ["alice.call.state", "bob.call.state"], judged("sequence: <>, is: [calling, connected]")),
      KeyCase(
        "sequence.is", ["[calling, connected]", "[connected, calling]"], judged("sequence: alice.call.state, is: <>")),
      KeyCase(words: "sequence.strict", judged("sequence: alice.call.state, is: [calling, connected], strict: <>")),
      KeyCase(
        "sequence.of", ["start", "bye"],
        judged("sequence: alice.call.state, is: [calling, { state: ended, by: 500ms }], of: <>")),
      KeyCase(
        "sequence.between", ["[start, end]", "[bye, end]"],
        judged("sequence: alice.call.state, is: [calling, connected], between: <>")),
      KeyCase("step.state", ["calling", "ringing"], judged("sequence: alice.call.state, is: [{ state: <>, by: 9s }]")),
      KeyCase("step.by", ["1ms", "9s"], judged("sequence: alice.call.state, is: [{ state: calling, by: <> }]")),
      KeyCase("set.set", ["alice.call.state", "bob.call.state"], judged("set: <>, contains: [calling]")),
      KeyCase("set.contains", ["[calling]", "[ringing]"], judged("set: alice.call.state, contains: <>")),
      KeyCase(words: "set.strict", judged("set: alice.call.state, contains: [calling], strict: <>")),
      KeyCase(
        "set.between", ["[start, end]", "[bye, end]"], judged("set: alice.call.state, contains: [calling], between: <>")
      ),
      KeyCase(
        "eventually.eventually", ["alice.call.state == calling", "alice.call.state == ringing"],
        judged("eventually: <>")),
      KeyCase("eventually.within", ["1ms", "9s"], judged("eventually: alice.call.state == connected, within: <>")),
      KeyCase(
        "eventually.of", ["start", "bye"], judged("eventually: alice.call.state == ended, within: 500ms, of: <>")),
      KeyCase("eventually.hold", ["1ms", "5s"], judged("eventually: alice.call.state == calling, hold: <>")),
      KeyCase("always.always", always("<>, between: [accept, bye]"), judged("always: <>")),
      KeyCase(
        "always.between", ["[accept, bye]", "[accept, end]"], judged("always: alice.call.state != ended, between: <>")),
      KeyCase("always.until", ["bye", "end"], judged("always: not alice.call.state == ended, until: <>")),
      KeyCase("never.never", ["alice.call.state == ringing", "alice.call.state == ended"], judged("never: <>")),
      KeyCase(
        "never.between", ["[accept, bye]", "[accept, end]"], judged("never: alice.call.state == ended, between: <>")),
      KeyCase("never.until", ["bye", "end"], judged("never: alice.call.state == ended, until: <>")),
      KeyCase(
        "implication.if", ["bob.call.state == ringing", "bob.call.state == ended"],
        judged("leads_to: { if: <>, then: bob.call.state == connected, within: 5s }")),
      KeyCase(
        "implication.then", ["bob.call.state == connected", "bob.call.state == calling"],
        judged("leads_to: { if: bob.call.state == ringing, then: <>, within: 5s }")),
      KeyCase(
        "implication.within", ["500ms", "5s"],
        judged("leads_to: { if: bob.call.state == ringing, then: bob.call.state == ended, within: <> }")),
      KeyCase("ends.ends", ["alice", "bob"], judged("ends: <>, code: local-hangup")),
      KeyCase("ends.code", ["local-hangup", "busy"], judged("ends: alice, code: <>")),
      KeyCase("ends.code", ["[busy, local-hangup]", "[busy, ring-timeout]"], judged("ends: alice, code: <>")),
      KeyCase("ends.within", ["1ms", "9s"], judged("ends: bob, code: remote-hangup, within: <>")),
      KeyCase("ends.of", ["start", "bye"], judged("ends: alice, code: local-hangup, within: 500ms, of: <>")),
      KeyCase("count.count", ["bob.ringing", "alice.ringing"], judged("count: <>, gte: 1")),
      KeyCase("count.between", ["[start, bye]", "[bye, end]"], judged("count: bob.ringing, gte: 1, between: <>")),
      KeyCase("recovers.recovers", ["cut", "other"], recovering.replacing("recovers: cut", with: "recovers: <>")),
      KeyCase(
        "recovers.to", ["media-both-ways", "alice.call.state == ringing"],
        recovering.replacing("to: media-both-ways", with: "to: <>")),
      KeyCase("recovers.within", ["2s", "7s"], recovering.replacing("within: 2s", with: "within: <>")),
      KeyCase(
        "recovers.hold", ["1ms", "30s"], recovering.replacing("within: 2s, hold: 10ms", with: "within: 7s, hold: <>")),
      KeyCase(
        "metric.metric", ["bob.stats.inbound-rtp.audio.packetsReceived", "bob.stats.inbound-rtp.audio.packetsLost"],
        judged("metric: <>, gt: 1")),
      KeyCase(
        "metric.stat", ["first", "last"],
        judged("metric: bob.stats.inbound-rtp.audio.packetsReceived, stat: <>, gt: 30")),
      KeyCase(
        "metric.window", ["[start, bye]", "[call, accept]"],
        judged("metric: bob.stats.inbound-rtp.audio.packetsReceived, window: <>, gt: 1")),
      KeyCase(words: "metric.across", judged("metric: bob.stats.inbound-rtp.audio.packetsReceived, across: <>, lt: 2")),
      KeyCase(
        "sometimes.sometimes", ["alice.call.state == connected", "alice.call.state == ringing"], judged("sometimes: <>")
      ),
    ] + bounds("count", "count: bob.ringing", 1)
    + bounds("metric", "metric: bob.stats.inbound-rtp.audio.packetsLost", 0) + shares

  private static func judged(_ text: String) -> String { KeyWorld.judged(text) }
  private static func always(_ text: String) -> [String] {
    ["alice.call.state != ended", "alice.call.state == ended"].map { text.replacing("<>", with: $0) }
  }

  /// A bound that the value meets and one that it misses.
  private static func bounds(_ kind: String, _ what: String, _ value: Int) -> [KeyCase] {
    [
      ("lt", value + 1, value), ("lte", value, value - 1), ("gt", value - 1, value), ("gte", value, value + 1),
      ("eq", value, value + 1),
    ]
    .map { name, met, missed in KeyCase("\(kind).\(name)", ["\(met)", "\(missed)"], judged("\(what), \(name): <>")) }
  }

  /// Of one run, it holds in all or in none.
  private static let shares = [
    ("lt", "busy", ["0%", "10%"]), ("lte", "local-hangup", ["90%", "100%"]), ("gt", "local-hangup", ["90%", "100%"]),
    ("gte", "busy", ["0%", "10%"]), ("eq", "local-hangup", ["90%", "100%"]),
  ].map { name, code, values in
    KeyCase("share.\(name)", values, judged("ends: alice, code: \(code), share: { \(name): <> }"))
  }

  /// Media are lost for longer than they may be.
  private static let recovering = KeyWorld.lan(
    timeline: """
        - { id: cut, at: 1s, fault: link.blackhole, link: a, for: 4s }
        - { id: other, at: 6s, fault: clock.jump, peer: bob, by: 1s }
      """, expect: "  - { recovers: cut, to: media-both-ways, within: 2s, hold: 10ms }", talk: "9s")

  private static let kinds = [
    "sequence: alice.call.state, is: [ringing]", "set: alice.call.state, contains: [ringing]",
    "eventually: alice.call.state == ringing", "always: alice.call.state == ringing, between: [accept, bye]",
    "never: alice.call.state == connected",
    "leads_to: { if: bob.call.state == ringing, then: bob.call.state == calling, within: 1s }",
    "ends: alice, code: busy", "count: bob.ringing, gte: 3",
    "metric: bob.stats.inbound-rtp.audio.packetsReceived, lt: 1",
  ]

  /// What every kind has: each expectation here fails unless it is left out or only warns.
  private static let headers: [KeyCase] =
    kinds.flatMap { text in
      let kind = String(text.prefix { $0 != ":" })
      return [
        KeyCase("\(kind).severity", ["fail", "warn"], judged("\(text), severity: <>")),
        KeyCase(
          "\(kind).if", ["m == 1", "m == 2"],
          KeyWorld.lan(
            expect: "\(KeyWorld.ends)\n  - { \(text), if: \"<>\" }", rest: "matrix: { m: [1] }", talk: "1s",
            limits: "virtual: \"${m}min\"")),
      ]
    } + [
      KeyCase(
        "recovers.severity", ["fail", "warn"], recovering.replacing("within: 2s", with: "within: 2s, severity: <>")),
      KeyCase(
        "recovers.if", ["m == 1", "m == 2"],
        recovering.replacing("within: 2s", with: "within: 2s, if: \"<>\"")
          .replacing("id: t", with: "id: t\nmatrix: { m: [1] }")
          .replacing("virtual: 60s", with: "virtual: \"${m}min\"")
          .replacing("expect:", with: "expect:\n\(KeyWorld.ends)")),
      KeyCase("sometimes.severity", ["fail", "warn"], judged("sometimes: alice.call.state == ringing, severity: <>")),
      KeyCase(
        "sometimes.if", ["m == 1", "m == 2"],
        KeyWorld.lan(
          expect: "\(KeyWorld.ends)\n  - { sometimes: alice.call.state == ringing, if: \"<>\" }",
          rest: "matrix: { m: [1] }", limits: "virtual: \"${m}min\"")),
    ]
}
