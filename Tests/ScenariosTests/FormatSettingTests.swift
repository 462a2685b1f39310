import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// Settings of an app that depend on each other.
@Suite struct FormatSettingTests {
  private static func load(
    _ settings: String, media: String = "synthetic", devices: String = "", and entry: String = ""
  ) -> [String] {
    let text = """
      callsim: 1
      id: test
      media: \(media)
      peers:
        alice: { profile: connectycube, network: home, settings: { \(settings) }, devices: { \(devices) } }
        bob: { profile: connectycube, network: home }
      timeline:
        - { at: 3s, do: alice.call, to: bob }
        - { when: bob.session.state == pending, do: bob.accept }
        \(entry)
        - { after: 5s, of: alice.connected, do: alice.hangup }
      expect:
        - { ends: alice, code: hung-up }
      """
    return problems(of: text)
  }

  private static func problems(of text: String) -> [String] {
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry)
    return loaded.report.diagnostics.map { "\($0.code.rawValue) \($0.message)" }
  }

  @Test func `a setting that another one bars is refused beside it`() {
    #expect(
      Self.load("callkit: true, several-sessions: true")
        == ["E412 'several-sessions' cannot go with callkit: true"])
    #expect(Self.load("callkit: true, several-sessions: false") == [])
    #expect(Self.load("callkit: false, several-sessions: true") == [])
  }

  @Test func `a setting without the one that it needs changes nothing`() {
    #expect(
      Self.load("audio-reset: false") == ["W414 'audio-reset' changes nothing: it needs callkit: true"])
    #expect(Self.load("callkit: true, audio-reset: false") == [])
  }

  @Test func `the background mode voip without a call app is a risk, and with one it is none`() {
    #expect(
      Self.load("callkit: false", devices: "background_voip: true") == [
        "W418 alice declares the background mode voip, and its app has no calls: it uses neither CallKit nor pushes"
      ])
    #expect(Self.load("callkit: true", devices: "background_voip: true") == [])
    #expect(Self.load("callkit: true", devices: "background_voip: false") == [])
    #expect(
      Self.load("callkit: false", devices: "background_voip: false") == [
        "W414 'background_voip' changes nothing: the app of alice does not use CallKit"
      ])
  }

  @Test func `a delay of pushes needs an app that gets some`() {
    let text = """
      callsim: 1
      id: t
      peers:
        alice: { profile: knotos, network: wifi, settings: { callkit: true }, devices: { push_delay: 1s } }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 1s, do: bob.call, to: alice }
      expect:
        - { eventually: alice.call.state == ringing }
      """
    #expect(Self.problems(of: text) == ["W414 'push_delay' changes nothing: the app of alice gets no pushes"])
    #expect(Self.load("callkit: true", devices: "push_delay: 1s") == [])
  }

  @Test(arguments: [
    ("zoe", "alice", ["W414 others know alice as 'zoe': this compares with a user that no peer is"]),
    ("zoe", "zoe", []), ("alice", "alice", []),
  ])
  func `a comparison with a peer's name that others do not know it by warns`(
    identity: String, word: String, problems: [String]
  ) {
    let text = """
      callsim: 1
      id: t
      peers:
        alice: { profile: twilio, network: wifi, settings: { identity: \(identity) } }
        bob: { profile: twilio, network: wifi }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
        - { at: 1s, do: bob.connect, room: daily }
      expect:
        - { eventually: bob.roster == \(word) }
      """
    #expect(Self.problems(of: text) == problems)
  }

  @Test func `an action on sound and pictures themselves needs real media`() {
    let recording = "- { after: 1s, of: alice.connected, do: alice.start-recording }"
    #expect(
      Self.load("several-sessions: false", and: recording) == [
        "E412 alice.start-recording needs sound and pictures, and packets of synthetic media hold a level and a number"
      ])
    #expect(Self.load("several-sessions: false", media: "real", and: recording) == [])
  }
}
