import CallCore
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat

/// A small profile for tests of the format, so that they do not change when a real profile does.
enum FormatTest {
  static let vocabulary = ProfileVocabulary(
    profile: "knotos", summary: "a test profile",
    machines: [
      StateMachine(
        "call.state",
        states: [
          .init("idle", "", as: .idle), .init("calling", "", as: .alerting), .init("ringing", "", as: .alerting),
          .init("connecting", "", as: .settingUp), .init("connected", "", as: .connected),
          .init("reconnecting", "", as: .recovering), .init("ended", "", as: .over),
        ],
        transitions: [
          ("idle", "calling"), ("idle", "ringing"), ("ringing", "connecting"), ("connecting", "connected"),
          ("connected", "reconnecting"), ("connected", "ended"),
        ].map { .init($0.0, $0.1, on: "test") })
    ],
    actions: [
      ActionDeclaration(
        "call", [ParameterDeclaration("to", .peer, required: true, "whom")], "calls somebody", as: .begin(with: "to")),
      ActionDeclaration("accept", [], "accepts", as: .accept),
      ActionDeclaration("decline", [], "declines", as: .refuse),
      ActionDeclaration("hangup", [], "ends the call", as: .end), ActionDeclaration("mute", [], "mutes", as: .mute),
      ActionDeclaration("unmute", [], "unmutes", as: .unmute),
    ],
    messages: ["offer", "answer", "candidate", "hangup"].map {
      MessageDeclaration($0, .both, "", provenance: .harnessDefault)
    },
    endCodes: ["local-hangup", "remote-hangup", "declined", "ring-timeout", "ice-failed"].map {
      CodeDeclaration($0, "", provenance: .harnessDefault, blames: .nobody)
    },
    values: [
      ValueDeclaration("rejected", .text, "the last refused message"),
      ValueDeclaration("heard", .peers, "who is heard"),
    ],
    settings: [
      ParameterDeclaration("ring-timeout", .duration, "how long it rings"),
      ParameterDeclaration("ice-restart", .flag, "whether it restarts ICE", as: .restartsICE),
    ])

  static let registry = ProfileRegistry(checked: [vocabulary])

  /// The folder of this file, where the corpora lie.
  static let folder = String(#filePath.prefix(through: #filePath.lastIndex(of: "/") ?? #filePath.startIndex))

  static func load(_ text: String) -> ScenarioFile.Result {
    ScenarioFile.load(text: text, path: "t.yaml", registry: registry)
  }

  /// A scenario of two peers with these keys and lines added.
  static func load(
    alice: String = "", bob: String = "", timeline: String = "", expect: String = "", rest: String = ""
  ) -> ScenarioFile.Result {
    load(
      """
      callsim: 1
      id: t
      peers:
        alice: { network: wifi\(alice.isEmpty ? "" : ", " + alice) }
        bob: { network: wifi\(bob.isEmpty ? "" : ", " + bob) }
      \(rest)
      timeline:
        - { id: go, at: 0s, do: alice.call, to: bob }
      \(timeline)
        - { at: 10s, do: alice.hangup }
      expect:
        - { ends: alice, code: local-hangup }
      \(expect)
      """)
  }

  static func text(_ result: ScenarioFile.Result) -> String { result.report.rendered(as: .text(color: false)) }
}
