import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// Whether both sides of a call end with views that pair, in whole runs.
@Suite struct AgreementTests {
  private func findings(_ faults: String) throws -> [String] {
    try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: connectycube, network: wifi }
        bob: { profile: connectycube, network: wifi }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.session.state == pending, do: bob.accept }
        - { after: 0s, of: bob.session.state.connected, do: alice.ice-restart }
        - { after: 100ms, of: bob.session.state.connected, do: alice.hangup }
        - { at: 0s, fault: signal.drop, message: hangUp }
      \(faults)
      expect: invariants
      """
    ).findings.map { "\($0.title): \($0.actual)" }
  }

  @Test func `a side that is not told notices by its transport that the other has gone`() throws {
    #expect(try findings("") == [])
  }

  @Test func `a side whose every section was rejected has no transport, and cannot notice`() throws {
    #expect(try findings("  - { at: 0s, fault: signal.corrupt, message: restart, mutation: rejected }") == [])
  }
}
