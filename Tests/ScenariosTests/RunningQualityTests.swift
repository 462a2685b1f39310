import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// What `q.*` says in whole runs.
@Suite struct `Quality of a call` {
  /// What Alice's score is in a call with Carol, while Bob is there and takes no part.
  private func score(carol: String, bob: String) throws -> String {
    let result = try play(
      """
      callsim: 1
      id: test
      media: real
      peers:
        alice: { profile: knotos, network: internet }
        bob: { profile: knotos, network: internet, audio: { ptime: \(bob) } }
        carol: { profile: knotos, network: internet, audio: { ptime: \(carol) } }
      timeline:
        - { at: 0s, do: alice.call, to: carol }
        - { when: carol.call.state == ringing, after: 1s, do: carol.accept }
        - { at: 14s, do: alice.hangup }
      expect:
        - { metric: alice.q.mos, stat: mean, eq: 5 }
      """)
    return try #require(result.findings.first).actual
  }

  /// Another fault that begins at any time of an interruption hides nothing of it.
  @Test(arguments: [(9_050, 3.0), (9_150, 2.9), (11_500, 0.5)])
  func `recovery counts from the last fault of an interruption`(other: Int, seconds: Double) throws {
    let result = try play(
      "media: real",
      timeline: """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 2s, do: bob.accept }
          - { at: 9s, fault: link.blackhole, link: alice/wifi, for: 3s }
          - { at: \(other)ms, fault: link.set, link: bob/wifi, delay: 30ms, for: 7s }
          - { at: 20s, do: alice.hangup }
        """,
      expect: """
          - { metric: bob.q.recovery, stat: max, window: [5s, 20s], gt: \(seconds)s, lt: \(seconds + 0.4)s }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `it counts the packets of who is in the call, not of another peer`() throws {
    let short = try score(carol: "20ms", bob: "20ms")
    #expect(try score(carol: "20ms", bob: "60ms") == short)
    #expect(try score(carol: "60ms", bob: "20ms") != short)
  }
}
