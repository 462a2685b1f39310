import ScenarioJudge
import Testing

@testable import ScenarioRun

/// What an app says of itself is over with its process.
@Suite struct `An app whose process has ended` {
  /// Plays a call of a user who mutes and is killed for four seconds, and judges a time after the relaunch.
  private func play(_ profile: String, _ begin: String, _ expectation: String) throws -> [String] {
    let result = try ScenariosTests.play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: \(profile), network: internet, audio: { ptime: 60ms } }
        bob: { profile: \(profile), network: internet, audio: { ptime: 60ms } }
      run: 25s
      timeline:
      \(begin)
        - { at: 8s, do: alice.mute }
        - { id: kill, at: 12s, fault: device.kill, peer: alice, for: 4s }
        - { mark: relaunched, at: 17s }
        - { mark: late, at: 24s }
      expect:
        - { \(expectation) }
      """)
    return result.findings.map { "\($0.actual)" }
  }

  private static let calls = """
      - { at: 2s, do: alice.call, to: bob }
      - { at: 4s, do: bob.accept }
    """
  private static let session = """
      - { at: 2s, do: alice.connect, session: daily }
      - { at: 2s, do: bob.connect, session: daily }
    """

  @Test(arguments: ["knotos", "connectycube"])
  func `is not muted any more, whether or not there is another`(profile: String) throws {
    for times in ["[kill, relaunched]", "[relaunched, late]"] {
      let failures = try play(profile, Self.calls, "always: alice.mic.muted, between: \(times)")
      #expect(failures.count == 1, "\(failures)")
    }
  }

  @Test func `shows nobody while it is not there`() throws {
    let failures = try play("vonage", Self.session, "always: alice.streams == bob, between: [kill, relaunched]")
    #expect(failures.count == 1, "\(failures)")
  }

  @Test(arguments: ["[9s, late]", "[12s, late]"])
  func `is not muted throughout a window that begins before its end`(window: String) throws {
    let failures = try play("connectycube", Self.calls, "always: alice.mic.muted, between: \(window)")
    #expect(failures.count == 1 && failures[0].contains("while the process of the app had ended"), "\(failures)")
  }

  @Test func `loses what it must find again`() throws {
    let failures = try play("vonage", Self.session, "recovers: kill, to: alice.subscribed == bob, within: 5s")
    #expect(failures.count == 1 && !failures[0].contains("never lost"), "\(failures)")
  }

  @Test func `had it before`() throws {
    #expect(try play("vonage", Self.session, "always: alice.streams == bob, between: [8s, kill]") == [])
  }
}
