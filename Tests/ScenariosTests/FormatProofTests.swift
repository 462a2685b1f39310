import CallCore
import Testing

@testable import ScenarioFormat

/// What the file alone proves of its expectations.
@Suite struct `Expectations that test nothing` {
  private static let received = "metric: bob.stats.inbound-rtp.audio.packetsReceived"
  private static let connected = "bob.call.state == connected"

  private func codes(_ expectation: String) -> [String] {
    FormatTest.load(
      timeline: """
          - { mark: half, at: 5s }
          - { mark: three, every: 1s, times: 3 }
          - { mark: fourth, every: 1s, of: three, times: 2 }
          - { mark: also, at: 2s }
          - { mark: rung, when: bob.call.state == ringing }
        """,
      expect: "  - { \(expectation) }",
      rest: "run: 20s\nmedia: synthetic\ndefine: { up: bob.call.state == connected, late: bob.call.state == ended }"
    ).diagnostics.filter { $0.code != .unusedDefinition }.map(\.code.rawValue)
  }

  @Test(arguments: [
    "count: bob.connected, gte: 0", "count: bob.connected, gt: -1", "count: bob.connected, gt: -0.5, gte: 0",
    "count: half, eq: 1", "count: three, gte: 2", "count: half, between: [6s, 9s], lt: 1",
    "count: three, between: [2s, 4s], eq: 2", "count: half, between: [half, 7s], eq: 1",
    "count: three, between: [three, 9s], eq: 3", "count: three, between: [three, half], gte: 3",
    "count: fourth, between: [three, half], gte: 2", "count: three, between: [1500ms, three], eq: 0",
    "count: half, between: [fourth, end], eq: 1", "count: bob.call.state == idle, gte: 1", "count: bob.idle, gte: 1",
    "\(received), gte: 0", "\(received), stat: rate, gte: 0", "\(received), stat: mean, gte: 0",
    "\(received), stat: count, gte: 1", "count: \"bob.call.state==idle\", gte: 1",
    "metric: \"wire.bytes(from: bob)\", stat: delta, gte: 0", "metric: \"wire.media(from: bob)\", stat: min, eq: 0",
    "metric: \"wire.media(from: bob)\", stat: first, lt: 1", "never: alice.selected.local.port > 65535",
    "always: \"alice.network in [wifi, none]\"", "metric: bob.q.mos, gte: 1", "metric: bob.q.concealment, lte: 100%",
    "metric: \"wire.bytes(from: bob)\", gte: 0", "ends: bob, code: local-hangup, share: { gte: 0% }",
    "ends: bob, code: local-hangup, share: { lte: 100% }",
    "ends: bob, code: local-hangup, share: { gt: -5%, lte: 100% }",
    "always: bob.call.state == connected or not bob.call.state == connected", "always: \"true\"",
    "always: bob.audible or not bob.audible", "always: up or not up",
    "always: \"bob.call.state in [idle, calling, ringing, connecting, connected, reconnecting, ended]\"",
    "always: bob.stats.inbound-rtp.audio.packetsReceived >= 0", "always: \"wire.media(from: bob) > -1\"",
    "always: bob.selected.local.port < 5 or bob.selected.local.port > 3", "always: bob.call.state == bob.call.state",
    "always: bob.selected.local.address != x or not bob.selected.local.address == y",
    "never: \(connected) and not \(connected)", "never: \(connected) and bob.call.state == idle",
    "never: bob.q.mos > 5", "never: bob.selected.local.port > 4 and bob.selected.local.port < 5",
    "never: alice.call.state == bob.call.state and alice.call.state == idle and bob.call.state == ended",
    "eventually: bob.call.state == idle", "eventually: bob.call.state != connected, within: 1s, of: start",
    "eventually: \"wire.media(from: bob) == 0\"", "eventually: not up, of: 0s",
    "eventually: \(connected), within: 1s, of: bob.connected", "eventually: \(connected), of: up",
    "eventually: bob.user.accepted, of: bob.user.accepted", "eventually: bob.call.state != idle, of: bob.ended",
    "sometimes: bob.call.state == idle", "sometimes: bob.audible or not bob.audible",
    "leads_to: { if: \(connected), then: \(connected), within: 1s }",
    "leads_to: { if: \(connected) and bob.audible, then: \(connected), within: 1s }",
    "leads_to: { if: up, then: not late, within: 1s }", "sequence: bob.call.state, is: [idle]",
    "sequence: bob.call.state, is: [connected], between: [bob.connected, 9s]", "set: bob.call.state, contains: [idle]",
    "set: bob.call.state, contains: [ended], between: [bob.ended, end]",
  ])
  func `what nothing could break is an error`(expectation: String) {
    #expect(codes(expectation) == ["E431"])
  }

  @Test(arguments: [
    "count: bob.connected, lt: 0", "count: bob.connected, lte: -1", "count: bob.connected, eq: 1.5",
    "count: bob.connected, gt: 1, lt: 2", "count: bob.connected, eq: 1, gte: 2", "\(received), lt: 0",
    "\(received), stat: count, lte: 0", "\(received), stat: rate, lt: 0", "metric: bob.q.concealment, gt: 100%",
    "metric: bob.q.mos, gt: 5", "metric: bob.stats.inbound-rtp.audio.jitter, lt: 0ms",
    "ends: bob, code: local-hangup, share: { gte: 120% }", "ends: bob, code: local-hangup, share: { gt: 100% }",
    "ends: bob, code: local-hangup, share: { lt: 0% }", "ends: bob, code: local-hangup, share: { gte: 60%, lte: 40% }",
  ])
  func `bounds that no value meets are an error`(expectation: String) {
    #expect(codes(expectation) == ["E417"])
  }

  @Test(arguments: [
    "always: \(connected) and not \(connected)", "never: bob.audible or not bob.audible", "always: bob.q.mos > 5",
    "eventually: \(connected) and bob.call.state == idle", "sometimes: \"wire.media(from: bob) < 0\"",
    "metric: \"wire.media(from: bob)\", stat: first, gt: 0", "metric: \"wire.media(from: bob)\", stat: min, gte: 1",
    "leads_to: { if: \(connected), then: bob.q.mos < 1, within: 1s }", "count: half, eq: 2",
    "sequence: bob.call.state, is: [connected, connected], strict: true",
  ])
  func `what nothing could meet is an error`(expectation: String) {
    #expect(codes(expectation) == ["E432"])
  }

  @Test func `a series that counts from an entry begins with its first firing`() {
    #expect(codes("count: fourth, gte: 2") == ["E431"])
  }

  @Test(arguments: [
    ("leads_to: { if: up and late, then: bob.audible, within: 1s }", "E425"),
    ("count: up and late, eq: 0", "E425"), ("recovers: half, to: up or not up, within: 1s", "E226"),
    ("eventually: up, within: 1s, of: end", "E425"), ("ends: bob, code: declined, of: end", "E425"),
    ("sequence: bob.call.state, is: [{ state: ended, by: 1s }], of: end", "E425"),
    ("sequence: bob.call.state, is: [ended], of: half", "E412"),
    ("metric: bob.stats.candidate-pair.lastPacketReceivedTimestamp, stat: sum, gt: 1s", "E412"),
    ("always: up, between: [end, 9s]", "E433"), ("always: up, between: [start, go]", "E433"),
    ("always: up, until: start", "E433"), ("always: up, between: [9s, 5s]", "E433"),
    ("always: up, between: [half, 2s]", "E433"), ("always: up, between: [bob.connected, bob.connected]", "E433"),
    ("always: up, between: [20s, end]", "E433"), ("always: up, between: [21s, end]", "E423"),
    ("set: bob.call.state, contains: [ringing, ringing]", "E107"), ("ends: bob, code: [declined, declined]", "E107"),
  ])
  func `what is never tested is an error`(expectation: String, code: String) {
    #expect(codes(expectation) == [code])
  }

  @Test(arguments: [
    "count: bob.connected, gte: 1", "count: bob.connected, eq: 0", "count: bob.connected, gt: 0, lt: 2",
    "count: bob.connected, gt: 1, gte: 2, lte: 2", "count: bob.call.state == idle, gte: 2", "count: rung, eq: 1",
    "count: three, between: [rung, end], gte: 1", "count: three, between: [also, 9s], gte: 2",
    "count: also, between: [1s, three], gte: 1", "count: bob.idle, between: [5s, end], gte: 1",
    "metric: bob.stats.inbound-rtp.audio.packetsLost, gte: 0", "\(received), stat: delta, gte: 0",
    "\(received), stat: count, gte: 2", "metric: bob.q.concealment, lt: 100%",
    "metric: \"wire.bytes(from: bob)\", gt: 9",
    "metric: bob.q.mos, gte: 2, across: seeds", "ends: bob, code: local-hangup, share: { gt: 0% }",
    "ends: bob, code: local-hangup, share: { gte: 100% }", "ends: bob, code: local-hangup, share: { eq: 0% }",
    "always: \(connected) or bob.call.state == ringing", "always: bob.selected.local.port > 5 or bob.audible",
    "always: alice.call.state == bob.call.state", "never: alice.selected.local.port == bob.selected.local.port",
    "never: bob.selected.local.port > 4 and bob.selected.local.port < 6", "never: bob.selected.local.address == x",
    "always: bob.selected.local.address != alice.selected.local.address",
    "eventually: bob.call.state == idle, of: bob.ended", "eventually: bob.call.state == idle, hold: 5s",
    "eventually: \(connected), of: half", "eventually: bob.audible, of: bob.connected",
    "eventually: alice.call.state == connected, of: bob.connected", "sometimes: late",
    "leads_to: { if: \(connected), then: alice.call.state == connected, within: 1s }",
    "leads_to: { if: up, then: late, within: 1s }", "sequence: bob.call.state, is: [idle, ringing]",
    "sequence: bob.call.state, is: [idle], strict: true", "sequence: bob.call.state, is: [ended, ended]",
    "sequence: bob.call.state, is: [{ state: idle, by: 1s }], of: bob.ended",
    "sequence: bob.call.state, is: [idle], between: [bob.ended, end]", "set: bob.call.state, contains: [idle, ended]",
    "always: up, between: [bob.connected, end]", "always: up, between: [bob.connected, 15s]",
    "never: late, until: half", "always: up, between: [19s, end]",
    "never: \"bob.selected.relayProtocol in [udp, tcp, tls]\"", "always: bob.selected.relayProtocol == none",
  ])
  func `what can go either way is none`(expectation: String) {
    #expect(codes(expectation) == [])
  }

  @Test func `an error says what is so, where, and what to write`() {
    let text = FormatTest.text(
      FormatTest.load(
        expect: """
            - { eventually: bob.call.state == connected, within: 1s, of: bob.connected }
            - { ends: bob, code: local-hangup, share: { gte: 120% } }
            - { count: bob.connected, gte: 0 }
            - { ends: bob, code: local-hangup, share: { gte: 0.5 } }
          """))
    for line in [
      "t.yaml:13:5: error[E431]: nothing could break this: it is so at 'bob.connected' already",
      "^ count from something that comes before, or add hold",
      "t.yaml:14:52: error[E417]: no value meets this: it is 0% to 100%",
      "t.yaml:15:34: error[E431]: every value meets this: it is 0 or more", "^^^ write 50%",
    ] {
      #expect(text.contains(line), "\(text)")
    }
  }

  @Test(
    arguments: [
      ("bob.q.mos", "gte: -4", "E431"), ("bob.q.mos", "gt: 4", "E417"), ("bob.q.mos", "gte: -3.9", nil),
      ("bob.q.concealment", "lte: 100%", "E431"), ("bob.q.concealment", "lt: 100%", nil),
      ("bob.stats.inbound-rtp.audio.packetsLost", "gt: -1000", nil),
    ] as [(String, String, String?)])
  func `a difference has bounds that some of its values meet`(value: String, bound: String, code: String?) {
    let codes = FormatTest.load(
      expect: "  - { delta: \(value), arms: [b, a], \(bound) }",
      rest: "compare: { arms: { a: {}, b: {} } }\nmedia: synthetic"
    ).diagnostics.filter { $0.code.severity == .error }.map(\.code.rawValue)
    #expect(codes == [code].compactMap(\.self))
  }

  @Test func `predicates with more values than can be tried are left alone`() {
    let parts = (1...40).map { "bob.selected.local.port == \($0 * 10) or alice.selected.local.port == \($0)" }
    let text = parts.joined(separator: " or ") + " or bob.audible or not bob.audible or alice.call.id == x"
    #expect(codes("always: \(text) or bob.call.id == y or alice.selected.local.address == z") == [])
  }
}

@Suite struct NumberRangeTests {
  private static let signs: [Comparison] = [.less, .lessOrEqual, .greater, .greaterOrEqual, .equal]

  /// Against trying numbers one by one.
  @Test(arguments: [
    NumberRange.count, .share, NumberRange(), NumberRange(isWhole: true), NumberRange(from: 1, to: 5),
    NumberRange(from: -2, to: 2, isWhole: true),
  ])
  func `bounds leave nothing or everything exactly when numbers say so`(range: NumberRange) {
    let numbers = stride(from: -8.0, through: 8, by: 0.125).filter(range.contains)
    let limits = [-3.0, -0.5, 0, 0.5, 1, 2, 4.5, 5]
    for sign in Self.signs {
      for other in Self.signs {
        for (low, high) in limits.flatMap({ low in limits.map { (low, $0) } }) {
          let bounds = [(sign, low), (other, high)].map {
            Wanted.Bound(comparison: $0.0, value: .real($0.1), span: .builtIn)
          }
          let met = numbers.filter { number in bounds.allSatisfy { $0.admits(number) } }
          let rest = range.meeting(bounds)
          #expect(rest.isEmpty == met.isEmpty, "\(bounds) of \(range)")
          // Every bound cuts off something of what has no end.
          #expect((rest == range) == (met == numbers), "\(bounds) of \(range)")
        }
      }
    }
  }
}
