import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct `How long a run lasts` {
  private let call = "  - { at: 1s, do: alice.call, to: bob }"

  @Test func `until a time is watched until then`() throws {
    let result = try play(
      timeline: call, expect: "  - { never: alice.call.state == ended, until: 60s }")
    #expect(result.verdict == .fail)
    #expect(result.findings[0].time > .zero + .seconds(40))
  }

  @Test func `run says when the run ends, exactly`() throws {
    let result = try play(
      "run: 20s", timeline: call, expect: "  - { always: alice.call.state == calling, between: [3s, end] }")
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(result.virtualDuration == .seconds(20))
  }

  @Test func `run cuts off what comes later`() throws {
    let result = try play(
      "run: 60s", timeline: call, expect: "  - { always: alice.call.state == calling, between: [3s, end] }")
    #expect(result.verdict == .fail)
  }

  @Test func `a deadline that the end cuts off is not tested, and hides no failure`() throws {
    let timeline = "\(call)\n  - { id: bye, at: 4s, do: alice.hangup }"
    let cut = "  - { eventually: alice.call.state == ringing, within: 5s, of: alice.ended }"
    let alone = try play("run: 6s", timeline: timeline, expect: cut)
    #expect(alone.verdict == .vacuous, "\(alone.findings)")
    #expect(alone.findings.map(\.actual) == ["the run ended at 6.00 s, before the deadline at 9.00 s"])
    let beside = try play(
      "run: 6s", timeline: timeline, expect: "\(cut)\n  - { never: alice.call.state == ended, until: 5s }")
    #expect(beside.verdict == .fail)
  }

  @Test func `recurring entries are waited for, and count tells how often they came`() throws {
    let result = try play(
      timeline: """
        \(call)
          - { id: accept, when: bob.call.state == ringing, after: 1s, do: bob.accept }
          - { every: 3s, of: bob.connected, times: 5, do: alice.ice-restart }
        """, expect: "  - { count: alice.ice.restart, eq: 1 }")
    #expect(result.verdict == .fail)
    let all = try play(
      timeline: """
        \(call)
          - { id: accept, when: bob.call.state == ringing, after: 1s, do: bob.accept }
          - { every: 3s, of: bob.connected, times: 5, do: alice.ice-restart }
        """, expect: "  - { count: alice.ice.restart, eq: 5 }")
    #expect(all.verdict == .pass, "\(all.findings)")
  }

  @Test func `fewer firings than an entry asks for make the run vacuous`() throws {
    let result = try play(
      "limits: { virtual: 30s }",
      timeline: """
        \(call)
          - { mark: rung, when: bob.call.state == ringing, times: 3 }
        """, expect: "  - { count: bob.ringing, lte: 2 }")
    #expect(result.verdict == .vacuous)
    #expect(result.findings.map(\.actual) == ["it fired 1 of 3 times"])
  }

  @Test func `an upper bound waits for the calls that are still to come`() throws {
    let result = try play(
      timeline: """
          - { every: 10s, times: 3, do: alice.call, to: bob }
          - { every: 14s, times: 2, do: alice.hangup }
          - { mark: end-of-calls, at: 35s }
        """, expect: "  - { count: bob.ringing, lte: 2 }")
    #expect(result.findings.contains { $0.actual.hasPrefix("3 times") }, "\(result.findings)")
  }

  @Test func `an entry of every without times ends with until`() throws {
    let result = try play(
      timeline: """
        \(call)
          - { every: 2s, until: bye, fault: nat.expire, network: alice/wifi }
          - { id: bye, at: 11s, do: alice.hangup }
        """, expect: "  - { ends: alice, code: local-hangup, within: 1s, of: bye }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a definition that is true from the start triggers at the start`() throws {
    let result = try play(
      "define: { free: alice.call.state == idle }",
      timeline:
        "  - { id: go, after: 2s, of: free, do: alice.call, to: bob }\n  - { id: bye, after: 5s, of: go, do: alice.hangup }",
      expect: "  - { ends: alice, code: local-hangup, within: 1s, of: bye }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }
}
