import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// The hash of a trace is of the world alone, whatever is asked of it.
@Suite struct TraceHashTests {
  /// One of each kind, and each source of values that the harness writes.
  private static let expectations = [
    "always: alice.connection.state != failed, between: [alice.connected, 9s]",
    "never: \"wire.media(from: alice, to: bob) > 100000\"", "never: \"wire.cleartext(from: alice) > 0\"",
    "eventually: bob.audible, within: 9s", "count: alice.ice.restart, eq: 0, between: [start, 9s]",
    "sequence: alice.call.state, is: [calling, connected]", "set: bob.call.state, contains: [connected]",
    "leads_to: { if: alice.call.state == connected, then: bob.audible, within: 2s }",
    "ends: alice, code: local-hangup", "recovers: cut, to: media-both-ways, within: 5s",
    "metric: bob.q.mos, stat: mean, gte: 2, window: [5s, 9s]",
    "metric: bob.q.concealment, stat: max, lt: 100%, window: [5s, 9s]",
    "metric: bob.q.recovery, stat: max, lte: 9s", "metric: alice.q.mouth_to_ear, stat: p95, lte: 1s, window: [5s, 9s]",
    "metric: alice.stats.inbound-rtp.audio.packetsReceived, stat: rate, gte: 1, window: [5s, 9s]",
    "never: network/alice/wifi.nat.mappings > 1000",
  ]

  private func hash(_ expectations: [String]) throws -> (hash: UInt64, count: UInt64) {
    let result = try play(
      "run: 15s\nmedia: real",
      timeline: """
        \(sevenSeconds)
          - { id: cut, at: 6s, fault: link.blackhole, link: bob/wifi, for: 1s }
        """,
      expect: expectations.map { "  - { \($0) }" }.joined(separator: "\n"))
    return (result.traceHash, result.eventCount)
  }

  @Test func `an expectation changes nothing of the hash`() throws {
    let alone = try hash(["ends: bob, code: remote-hangup"])
    for expectation in Self.expectations {
      let watched = try hash([expectation])
      #expect(watched == alone, "\(expectation)")
    }
    #expect(try hash(Self.expectations) == alone)
  }
}
