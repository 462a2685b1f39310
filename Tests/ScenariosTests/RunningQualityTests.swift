import CallCore
import Testing

@testable import Scenarios

/// What `q.*` says in whole runs.
@Suite struct `Quality of a call` {
  /// What Alice's score is in a call with Carol, while Bob is there and takes no part.
  private func score(carol: String, bob: String) throws -> String {
    let result = try play(
      """
      callsim: 1
      id: test
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

  @Test func `it counts the packets of who is in the call, not of another peer`() throws {
    let short = try score(carol: "20ms", bob: "20ms")
    #expect(try score(carol: "20ms", bob: "60ms") == short)
    #expect(try score(carol: "60ms", bob: "20ms") != short)
  }
}
