import Profiles
import ScenarioRun
import Testing

@testable import ScenarioFormat

/// `wire.media(from: alice, to: bob)` where a server stands between them.
@Suite struct `What one user's packets come to at another` {
  private func codes(_ profile: String, _ path: String) -> [DiagnosticCode] {
    let text = """
      callsim: 1
      id: test
      peers:
        alice: { profile: \(profile), network: home }
        bob: { profile: \(profile), network: home }
      run: 5s
      expect:
        - { never: "\(path) > 0" }
      """
    return ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry).diagnostics
      .filter { $0.code.severity == .error }.map(\.code)
  }

  @Test func `is nothing through a server that forwards all media, which is an error`() {
    #expect(codes("twilio", "wire.media(from: alice, to: bob)") == [.conflictingKeys])
    #expect(codes("twilio", "wire.packets(to: bob, from: alice)") == [.conflictingKeys])
  }

  @Test(arguments: ["knotos", "connectycube", "vonage"])
  func `is counted where they may be connected to each other`(profile: String) {
    #expect(codes(profile, "wire.media(from: alice, to: bob)") == [])
  }

  @Test func `is counted of one end`() { #expect(codes("twilio", "wire.media(from: alice)") == []) }
}
