extension KeyCases {
  /// A comparison whose arms differ in the packets that alice sends.
  static let comparisons: [KeyCase] =
    [
      KeyCase(
        "compare.arms", ["{ a: {}, b: { alice.audio.ptime: 60ms } }", "{ a: {}, b: { alice.audio.ptime: 40ms } }"],
        compared(arms: "<>")),
      KeyCase("compare.baseline", ["a", "b"], compared(", baseline: <>")),
      KeyCase(words: "compare.pair_by", compared(", pair_by: <>")),
      KeyCase("compare.measure", ["[\(sent)]", "[\(heard)]"], compared(", measure: <>")),
      KeyCase("measure.metric", [sent, heard], compared(", measure: [{ metric: <> }]")),
      KeyCase("measure.stat", ["max", "rate"], compared(", measure: [{ metric: \(sent), stat: <> }]")),
      KeyCase(
        "measure.window", ["[start, bye]", "[bye, end]"],
        compared(", measure: [{ metric: \(sent), stat: delta, window: <> }]")),
      KeyCase(words: "measure.better", compared(", measure: [{ metric: \(heard), better: <> }]")),
      KeyCase("delta.delta", [sent, heard], compared(expect: "delta: <>, arms: [b, a], lt: -1000")),
      KeyCase("delta.arms", ["[a, b]", "[b, a]"], compared(expect: "delta: \(sent), arms: <>, lt: 0")),
      KeyCase(
        "delta.stat", ["max", "min"], compared(expect: "delta: \(heard), arms: [b, a], stat: <>, lt: -10")),
      KeyCase(
        "delta.window", ["[start, bye]", "[start, accept]"],
        compared(expect: "delta: \(heard), arms: [b, a], stat: delta, window: <>, lt: -10")),
      KeyCase(
        "delta.interval", ["60%", "99.9%"],
        compared(expect: "delta: \(sent), arms: [b, a], stat: max, interval: <>, gt: 0")),
      KeyCase(
        "delta.precision", ["1", "100000"],
        compared(expect: "delta: \(heard), arms: [b, a], stat: max, precision: <>, gt: -1000000")),
      KeyCase(words: "delta.better", compared(expect: "delta: \(heard), arms: [b, a], stat: max, better: <>, lt: 0")),
      KeyCase(
        "delta.if", ["loss == 20%", "loss == 30%"],
        compared(expect: "delta: \(sent), arms: [a, b], if: \"<>\", gt: 1").replacing(
          "loss: 20%", with: "loss: \"${loss}\""
        ).replacing("compare:", with: "matrix: { loss: [20%] }\ncompare:")),
      KeyCase(
        "delta.severity", ["fail", "warn"], compared(expect: "delta: \(sent), arms: [b, a], severity: <>, gt: 0")),
    ]
    + [("lt", "10", "-1000000"), ("lte", "10", "-1000000"), ("gt", "-1000000", "10"), ("gte", "-1000000", "10")].map {
      name, met, missed in
      KeyCase(
        "delta.\(name)", [met, missed], compared(expect: "delta: \(heard), arms: [b, a], stat: max, \(name): <>"))
    } + [
      KeyCase(
        "delta.eq", ["0", "1"],
        compared(expect: "delta: bob.stats.inbound-rtp.audio.nackCount, arms: [b, a], stat: max, eq: <>"))
    ]

  private static let sent = "alice.stats.outbound-rtp.audio.bytesSent"
  private static let heard = "bob.stats.inbound-rtp.audio.packetsReceived"

  private static func compared(
    _ keys: String = "", arms: String = "{ a: {}, b: { alice.audio.ptime: 60ms } }", expect: String? = nil
  ) -> String {
    KeyWorld.lan(
      line: ", loss: 20%", expect: KeyWorld.ends + (expect.map { "\n  - { \($0) }" } ?? ""),
      rest: "compare: { arms: \(arms)\(keys) }", talk: "3s")
  }
}
