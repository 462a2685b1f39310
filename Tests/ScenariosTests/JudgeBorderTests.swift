import Testing

@testable import ScenarioJudge
@testable import ScenarioRun

/// What belongs to which side of a border, where several things come at the same time.
@Suite struct JudgeBorderTests {
  /// Alice calls Bob twice; the first call ends at 8 s, the second one at 18 s.
  private static let twoCalls = """
      - { at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, after: 1s, times: 2, do: bob.accept }
      - { id: bye, at: 8s, do: alice.hangup }
      - { id: redial, at: 10s, do: alice.call, to: bob }
      - { at: 18s, do: alice.hangup }
    """
  private static let received = "alice.stats.inbound-rtp.audio.packetsReceived"
  private static let bytes = "alice.stats.inbound-rtp.audio.bytesReceived"

  private func judge(_ expectations: [String], timeline: String = twoCalls, _ rest: String = "run: 24s") throws
    -> RunResult
  {
    try play(rest, timeline: timeline, expect: expectations.map { "  - { \($0) }" }.joined(separator: "\n"))
  }

  @Test func `a sample at the very end of a deadline is in time`() throws {
    let number = try judge(["metric: \(Self.received), stat: max, window: [5s, 5251ms], gte: 0.1"]).measurements[0]
    let count = Int(try #require(number.measured))
    let result = try judge([
      "eventually: \(Self.received) >= \(count), within: 250ms, of: 5s",
      "eventually: \(Self.received) >= \(count), within: 249999us, of: 5s",
    ])
    #expect(result.findings.map(\.actual).map { $0.hasPrefix("not true by 5.25 s") } == [true], "\(result.findings)")
  }

  @Test func `what a sample makes an entry do at the very end of a deadline is in time`() throws {
    let number = try judge(["metric: \(Self.received), stat: max, window: [5s, 5001ms], gte: 0.1"]).measurements[0]
    let count = Int(try #require(number.measured))
    let result = try judge(
      ["eventually: alice.call.state == ended, within: 5s", "ends: alice, code: local-hangup, within: 5s"],
      timeline: Self.twoCalls.replacing(
        "id: bye, at: 8s", with: "id: bye, when: \"\(Self.received) >= \(count)\""))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `values of one sample change together`() throws {
    let torn = "\"\(Self.received) >= 142 and \(Self.bytes) < 11kB\""
    let result = try judge([
      "never: \(torn)", "count: \(torn), eq: 0", "eventually: \(Self.received) >= 142, within: 8s",
      "eventually: \(Self.bytes) >= 11kB, within: 8s",
    ])
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  /// Windows by the clock that border on the end of the connection, and the same a little apart from it.
  @Test(arguments: [("7s, 8s", "7s, 7999999us"), ("8s, 16s", "8001ms, 16s"), ("5s, 8s", "5s, bye")])
  func `a counter has grown the same whether the clock or the call borders its window`(
    border: String, beside: String
  ) throws {
    for statistic in ["delta", "rate"] {
      let result = try judge(
        [border, beside].map { "metric: \(Self.received), stat: \(statistic), window: [\($0)], gt: 1" })
      let measured = result.measurements.compactMap(\.measured)
      #expect(measured.count == 2 && abs(measured[0] - measured[1]) < measured[0] / 100, "\(measured)")
    }
  }

  @Test(arguments: ["7900ms", "bye", "8001ms", "redial"])
  func `quality has changed since its last sample before the window, also where the connection closes`(
    end: String
  ) throws {
    let result = try judge(
      [
        "metric: alice.q.mos, stat: delta, window: [6600ms, \(end)], lt: 3.9",
        "metric: alice.q.mos, stat: last, window: [6500ms, 6501ms], gt: 1.1",
        "metric: alice.q.mos, stat: last, window: [7750ms, 7751ms], gt: 1.1",
      ],
      timeline: Self.twoCalls + "\n  - { at: 6s, fault: link.set, link: alice/wifi, loss: 30%, for: 3s }",
      "run: 24s\nmedia: real")
    let measured = result.measurements.compactMap(\.measured)
    #expect(measured.count == 3 && abs(measured[0] - (measured[2] - measured[1])) < 1e-9, "\(measured)")
  }

  @Test func `quality of a call that ends as its window opens is not where it begins`() throws {
    let windows = ["bye", "8s", "8001ms", "redial"]
    let result = try judge(
      windows.map { "metric: alice.q.mos, stat: delta, window: [\($0), 16s], lt: 3.9" },
      timeline: Self.twoCalls + "\n  - { at: 6s, fault: link.set, link: alice/wifi, loss: 30%, for: 3s }",
      "run: 24s\nmedia: real")
    #expect(result.verdict == .pass && Set(result.measurements.map(\.measured)).count == 1, "\(result.measurements)")
  }

  @Test func `what several candidate pairs have counted is no number`() throws {
    let pair = "alice.stats.candidate-pair.packetsReceived"
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, networks: [wifi, lte] }
        bob: { profile: knotos, network: internet }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { at: 12s, fault: link.down, link: alice/wifi }
        - { id: bye, at: 28s, do: alice.hangup }
      expect:
        - { metric: \(pair), stat: delta, window: [20s, bye], gt: 1 }
        - { metric: \(pair), stat: delta, window: [10s, 20s], gt: 1 }
        - { metric: \(pair), stat: rate, window: [10s, bye], gt: 1 }
      """)
    #expect(result.findings.map(\.kind) == [.vacuous, .vacuous], "\(result.findings)")
    let remedy = ": alice.stats.transport.packetsReceived counts over all pairs"
    #expect(result.findings.allSatisfy { $0.actual.hasSuffix(remedy) }, "\(result.findings)")
  }

  @Test func `what is told of the other end has grown from zero where there was no connection before`() throws {
    let lost = "alice.stats.remote-inbound-rtp.audio.packetsLost"
    let result = try judge(
      [
        "metric: \(lost), stat: delta, window: [start, 8s], gte: 1",
        "metric: \(lost), stat: last, window: [start, 8s], gte: 1",
      ],
      timeline: Self.twoCalls + "\n  - { at: 1s, fault: link.set, link: alice/wifi, loss: 30%, for: 5s }")
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(Set(result.measurements.map(\.measured)).count == 1, "\(result.measurements)")
  }

  @Test func `late packets are taken from those that were lost, and no restart of a counter`() throws {
    let lost = "alice.stats.inbound-rtp.audio.packetsLost"
    let result = try judge(
      [
        "metric: \(lost), stat: delta, window: [4s, 8s], lt: 20",
        "metric: \(lost), stat: rate, window: [4s, 8s], lt: 5",
        "metric: \(lost), stat: max, window: [4s, 8s], gt: 1",
      ],
      timeline: Self.twoCalls
        + "\n  - { at: 3s, fault: link.set, link: bob/wifi, jitter: 60ms, reorder: 20%, for: 5s }")
    #expect(result.verdict == .pass, "\(result.findings)")
    let measured = result.measurements.compactMap(\.measured)
    #expect(measured[1] == measured[0] / 4, "\(measured)")
  }

  @Test func `an end counts from a definition that comes true with it`() throws {
    let result = try judge(
      ["ends: alice, code: local-hangup, within: 1s, of: gone", "ends: alice, code: local-hangup, of: alice.ended"],
      "run: 24s\ndefine: { gone: alice.call.state == ended }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `what held counts in a window that opens as its connection closes`() throws {
    let type = "alice.selected.local.candidateType"
    let result = try judge(
      ["bye", "8s", "7999ms"].flatMap {
        [
          "sequence: \(type), is: [srflx], between: [\($0), 9s]",
          "set: \(type), contains: [srflx], between: [\($0), 9s]",
        ]
      } + ["sequence: \(type), is: [srflx], between: [8001ms, 9s]"])
    #expect(result.findings.map(\.actual).map { $0.hasPrefix("no srflx by 9.00 s") } == [true], "\(result.findings)")
  }

  @Test func `parts that break it alone are asked each in its own call`() throws {
    let bad = { (peer: String) in "\(peer).q.mos < 2" }
    let result = try play(
      """
      callsim: 1
      id: test
      run: 30s
      media: synthetic
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
        carol: { profile: knotos, network: home }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { at: 12s, do: alice.hangup }
        - { at: 14s, do: alice.call, to: carol }
        - { when: carol.call.state == ringing, after: 1s, do: carol.accept }
        - { at: 24s, do: alice.hangup }
      expect:
        - { never: "alice.call.state == connected and (\(bad("bob")) or \(bad("carol")))" }
        - { always: "alice.call.state != connected or not \(bad("bob")) and not \(bad("carol"))" }
        - { count: "alice.call.state == connected and \(bad("bob")) or \(bad("carol"))", eq: 0 }
        - { never: "\(bad("bob")) or \(bad("carol"))" }
        - { always: "bob.q.mos > 2 and carol.q.mos > 2" }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `what was unknown whenever it mattered was not put to the test`() throws {
    let both = "alice.call.state == ended and \(Self.received) > 0"
    let untested = [
      "never: \"\(both)\"", "always: \"not (\(both))\"", "count: \"\(both)\", eq: 0",
      "never: \"alice.call.state == ended and \(Self.received) > 100\"", "never: \"\(both) and \(Self.bytes) > 1B\"",
      "always: \"alice.call.state != ended or \(Self.received) < 3 and \(Self.bytes) < 1kB\"",
      "never: \"alice.call.state == ended and (\(Self.received) > 100 or \(Self.bytes) > 1kB)\"",
    ]
    let tested = [
      "never: bob.call.state == ringing and bob.connection.state == connected",
      "never: bob.call.state == ringing and bob.audible",
      "never: \"alice.call.state == connected and \(Self.received) > 9000\"",
      "never: \"\(Self.received) > 9000 and \(Self.bytes) > 900MB\"",
      "always: \"\(Self.received) < 9000 or alice.call.state == ended\"",
    ]
    let result = try judge(untested + tested)
    #expect(result.findings.map(\.kind) == untested.map { _ in .vacuous }, "\(result.findings)")
    #expect(
      result.findings.map(\.actual).first == "whenever it came to \(Self.received), that was unknown",
      "\(result.findings)")
  }
}
