import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// Apps that use CallKit in the ways against which its guides warn: an invariant finds each.
@Suite struct CallKitDefectTests {
  private func findings(alice: String = "", bob: String = "", rest: String = "") throws -> [String] {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: connectycube, network: wifi, settings: { callkit: true\(alice) } }
        bob: { profile: connectycube, network: wifi, settings: { callkit: true\(bob) } }
      invariants: [+audio-restored]
      timeline:
        - { at: 3s, do: alice.call, to: bob }
        - { when: bob.callkit.state == ringing, after: 2s, do: bob.accept }
        - { id: bye, at: 10s, do: alice.hangup }
      expect: invariants
      \(rest)
      """)
    return result.findings.map { "\($0.title): \($0.actual)" }
  }

  @Test func `an app that follows the guide breaks nothing`() throws { #expect(try findings() == []) }

  @Test func `audio that is enabled in the answer action breaks I4`() throws {
    let found = try findings(bob: ", audio-enabling: answer-action")
    #expect(
      found.contains { $0.hasPrefix("callkit-order: bob enabled its audio unit") && $0.contains("(I4)") }, "\(found)")
  }

  @Test(arguments: ["end-action", "session-did-close"])
  func `audio that is taken down before the deactivation breaks I5`(when: String) throws {
    let found = try findings(alice: ", audio-deinitialization: \(when)")
    #expect(found.contains { $0.hasPrefix("callkit-order: alice deactivated") && $0.contains("(I5)") }, "\(found)")
  }

  @Test(arguments: ["after-report", "never"])
  func `manual audio that is not on before the report breaks I6`(when: String) throws {
    let found = try findings(bob: ", manual-audio: \(when)")
    #expect(found.contains { $0.hasPrefix("callkit-order: bob reported a call") && $0.contains("(I6)") }, "\(found)")
  }

  @Test func `audio that the end action does not reset breaks I14`() throws {
    let found = try findings(alice: ", audio-reset: false")
    #expect(found.contains { $0.hasPrefix("callkit-order: alice ended its call") && $0.contains("I14") }, "\(found)")
  }

  @Test(arguments: ["never", "twice"])
  func `a push that is not reported once breaks I7`(count: String) throws {
    let found = try findings(bob: ", push-report: \(count)")
    #expect(found.contains { $0.hasPrefix("reported-pushes: bob") }, "\(found)")
  }

  @Test func `a session that is not taken down breaks I12`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      invariants: [+audio-restored]
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { at: 6s, do: alice.hangup }
      expect: invariants
      """)
    #expect(result.findings.contains { $0.title == "audio-restored" }, "\(result.findings.map(\.title))")
  }
}
