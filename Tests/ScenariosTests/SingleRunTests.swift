import CallCore
import Profiles
import Testing

@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct SingleRunTests {
  private func call(_ network: String, extra: String = "", expect: String) -> String {
    """
    callsim: 1
    id: test
    \(extra)
    peers:
      alice: { profile: knotos, network: \(network) }
      bob: { profile: knotos, network: \(network) }
    timeline:
      - { at: 1s, do: alice.call, to: bob }
      - { id: accept, when: bob.call.state == ringing, after: 2s, do: bob.accept }
      - { id: bye, after: 10s, of: accept, do: alice.hangup }
    expect:
    \(expect)
    """
  }

  @Test func `an entry that brings its own anchor at once is stopped, and is told`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: twilio, network: home }
      timeline:
        - { at: 0s, fault: link.down, link: alice/home, for: 5s }
        - { at: 1s, do: alice.connect, room: daily }
        - { id: again, after: 0s, of: alice.room.state.disconnected, do: alice.connect, room: daily }
      expect: invariants
      """)
    #expect(result.verdict == .vacuous)
    #expect(result.findings.contains { $0.actual.hasPrefix("it fired 1000 times at 1.00 s and was stopped") })
  }

  @Test func `two phones on their own Wi-Fi talk and hang up`() throws {
    let result = try play(
      call(
        "wifi",
        expect: """
            - { sequence: alice.call.state, is: [calling, connecting, connected, ended] }
            - { ends: alice, code: local-hangup, within: 1s, of: bye }
            - { ends: bob, code: remote-hangup, within: 2s, of: bye }
          """))
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(result.virtualDuration > .seconds(12))
  }

  @Test(arguments: [253, 1_013, 2_487])
  func `statistics are read at fixed times, whatever else is expected and when`(deadline: Int) throws {
    func times(_ other: String) throws -> [Instant] {
      let lines = TraceLines(["stats.transport.bytesSent"])
      var outputs = RunOutputs()
      outputs.observers = [lines]
      let metric = "  - { metric: alice.stats.transport.bytesSent, stat: last, window: [accept, bye], gt: 0 }"
      _ = try play(call("wifi", expect: metric + "\n" + other), outputs: outputs)
      return lines.times
    }
    let alone = try times("")
    // The last one comes as the connection closes.
    let byTheClock = alone.dropLast()
    #expect(alone.count > 30 && byTheClock.allSatisfy { ($0 - Instant.zero).nanoseconds % 250_000_000 == 0 })
    let other = "  - { eventually: bob.call.state == connected, within: \(deadline)ms, of: accept }"
    #expect(try times(other).prefix(30) == alone.prefix(30))
  }

  @Test func `symmetric NATs on both sides fail without TURN and say why`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: carrier/symmetric }
        bob: { profile: knotos, network: carrier/symmetric }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { id: accept, when: bob.call.state == ringing, after: 2s, do: bob.accept }
      expect:
        - { eventually: alice.call.state == connected, within: 10s, of: accept }
        - { never: alice.call.state == ended }
        - { ends: alice, code: ice-failed, within: 20s, of: accept }
      """)
    #expect(result.verdict == .fail)
    #expect(result.findings.count == 2, "\(result.findings)")
    let explanation = result.findings.last?.explanation.joined(separator: "\n") ?? ""
    #expect(explanation.contains("TURN"), "\(explanation)")
  }

  @Test func `a window that begins with an action sees what the action did`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: home }
        bob: { profile: knotos, network: home }
      timeline:
        - { id: call, at: 1s, do: alice.call, to: bob }
        - { id: cancel, after: 2s, of: call, do: alice.hangup }
      expect:
        - { always: alice.call.state == calling, between: [call, cancel] }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a call refused as busy is judged apart from the call that was in the way`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: home }
        bob: { profile: knotos, network: home }
        carol: { profile: knotos, network: home }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { id: intrude, at: 3s, do: carol.call, to: bob }
        - { id: cancel, at: 5s, do: alice.hangup }
      expect:
        - { ends: carol, code: busy, within: 1s, of: intrude }
        - { ends: bob, code: cancelled, within: 1s, of: cancel }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `what the timeline holds for later than the end is not done to peers that were shut down`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      limits: { virtual: 5s }
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 2s, do: alice.call, to: bob }
        - { at: 3s, do: alice.hangup }
        - { id: late, when: alice.call.state == ended, after: 4s, do: alice.call, to: bob }
      expect:
        - { never: alice.call.state == connected }
      """)
    #expect(result.verdict == .vacuous, "\(result.findings)")
    #expect(result.findings.map(\.title) == ["timeline entry 'late'"])
  }

  @Test(arguments: [("", ", id: \"1002\""), (", id: \"1001\"", ""), (", id: \"1001\"", ", id: \"1002\""), ("", "")])
  func `user ids change nothing of what is judged`(alice: String, bob: String) throws {
    for bye in ["  - { id: bye, after: 10s, of: bob.connected, do: alice.hangup }", ""] {
      let result = try play(
        """
        callsim: 1
        id: test
        peers:
          alice: { profile: knotos, network: wifi\(alice) }
          bob: { profile: knotos, network: wifi\(bob) }
        timeline:
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 2s, do: bob.accept }
        \(bye)
        expect:
          - { eventually: "alice.call.peer == bob and bob.call.peer == alice", within: 4s }
          - { eventually: alice.call.state == connected, within: 10s }
        """)
      #expect(result.verdict == .pass, "\(result.findings)")
    }
  }

  @Test func `a flag of the statistics is an anchor, and can be counted`() throws {
    let result = try play(
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 2s, do: bob.accept }
          - { id: bye, after: 5s, of: alice.stats.candidate-pair.nominated, do: alice.hangup }
        """,
      expect: """
          - { ends: alice, code: local-hangup, within: 1s, of: bye }
          - { count: bob.stats.outbound-rtp.audio.active, gte: 1 }
          - { eventually: bob.audible, within: 3s, of: bob.stats.candidate-pair.nominated }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: ["turn", "stun", "signalling"])
  func `a peer may be called like a server that the file leaves out`(name: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      topology: { turn: true }
      peers:
        alice: { profile: knotos, network: wifi }
        \(name): { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: \(name) }
        - { when: \(name).call.state == ringing, after: 2s, do: \(name).accept }
      expect:
        - { eventually: alice.call.state == connected, within: 10s }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a series counts from the first coming of its anchor`() throws {
    let result = try play(
      "run: 30s",
      timeline: """
          - { mark: first, every: 10s, times: 2 }
          - { mark: tick, every: 2s, of: first, until: 29s }
        """, expect: "  - { count: tick, eq: 9 }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `equal seeds give equal traces`() throws {
    let text = call("home", expect: "  - { ends: bob, code: remote-hangup, within: 2s, of: bye }")
    let (first, second) = (try play(text, seed: 3), try play(text, seed: 3))
    #expect(first.verdict == .pass, "\(first.findings)")
    #expect(first.traceHash == second.traceHash)
    #expect(first.eventCount == second.eventCount)
    #expect(try play(text, seed: 4).traceHash != first.traceHash)
  }

  @Test func `a call that ends otherwise before its anchor comes has failed, and says why`() throws {
    let result = try play(
      call("carrier/symmetric", expect: "  - { ends: alice, code: local-hangup, within: 1s, of: answered }")
        .replacing("id: bye, after: 10s, of: accept", with: "id: bye, after: 60s, of: accept")
        .replacing("expect:", with: "  - { id: answered, after: 1s, of: bob.connected, do: bob.mute }\nexpect:"))
    #expect(result.verdict == .fail)
    let finding = try #require(result.findings.first)
    #expect(finding.actual.hasPrefix("the call ended with ice-failed at"))
    #expect(finding.explanation.contains { $0.contains("no TURN server") })
  }
}
