import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// Offers that cross each other.
@Suite struct CrossedOffersTests {
  @Test func `a crossing whose answer was lost is judged once it was said again`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      topology:
        networks:
          alice/wifi: { cidr: 192.168.1.0/24 }
          alice/lte: { cidr: 100.64.0.0/16, nat: {} }
          bob/office: { cidr: 10.1.0.0/16, nat: {} }
        links:
          alice/wifi: { from: alice, to: alice/wifi }
          alice/lte: { from: alice, to: alice/lte }
          bob/office: { from: bob, to: bob/office }
      peers:
        alice: { profile: vonage }
        bob: { profile: vonage }
      timeline:
        - { at: 0s, fault: signal.corrupt, field: number }
        - { at: 0s, do: bob.connect, session: daily }
        - { at: 0s, do: alice.connect, session: daily }
        - { after: 5ms, of: alice.sessionDidConnect, fault: link.down, link: alice/wifi }
        - { at: 20s, do: alice.disconnect }
      expect: invariants
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }

  @Test func `a client yields to a router, whoever a message says that it is of`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: vonage, network: wifi }
        bob: { profile: vonage, network: wifi }
        carol: { profile: vonage, network: wifi }
      timeline:
        - { at: 0s, do: alice.set-limit, what: subscribers, count: 1 }
        - { at: 0s, do: alice.connect, session: daily }
        - { at: 100ms, do: bob.connect, session: daily }
        - { at: 0s, do: carol.connect, session: daily }
        - { after: 0s, of: bob.session.state.connected, send: media, from: carol, to: bob, like: restAnswer }
      expect: invariants
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }
}
