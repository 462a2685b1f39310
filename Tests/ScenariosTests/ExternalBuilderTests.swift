import Profiles
import Testing
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioRun

@Suite struct ExternalBuilderTests {
  private func expected(_ timeline: String) throws -> Int? {
    let text = """
      callsim: 1
      id: t
      run: 60s
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { id: first, at: 0s, do: bob.call, to: alice }
      \(timeline)
        - { mark: last, at: 50s }
      expect:
        - { ends: bob, code: local-hangup }
      """
    let loaded = ScenarioFile.load(text: text, path: "t.yaml", registry: ProfileCatalogue.builtIn.registry)
    let scenario = try #require(
      loaded.scenario?.cells.first?.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    return ExternalBuilder.expectedConnections(of: "alice", in: scenario, KnotosApp.vocabulary.actions)
  }

  @Test func `a peer makes a connection for each call that its user places or accepts`() throws {
    #expect(try expected("  - { at: 1s, do: alice.accept }") == 1)
    #expect(
      try expected("  - { at: 1s, do: alice.accept }\n  - { after: 9s, of: first, do: alice.call, to: bob }") == 2)
    #expect(try expected("  - { when: alice.call.state == ringing, times: 3, do: alice.accept }") == 3)
    #expect(try expected("  - { every: 5s, times: 4, do: alice.accept }") == 4)
  }

  @Test func `what the app refuses makes no connection, and neither does what agrees to no call`() throws {
    let accept = "  - { at: 1s, do: alice.accept }"
    #expect(try expected(accept + "\n  - { at: 2s, do: alice.accept, refused: true }") == 1)
    #expect(try expected(accept + "\n  - { at: 2s, do: alice.accept, refused: nothing is ringing }") == 1)
    #expect(try expected(accept + "\n  - { at: 2s, do: alice.mute }\n  - { at: 3s, do: alice.hangup }") == 1)
    #expect(try expected(accept + "\n  - { at: 2s, do: bob.call, to: alice, refused: true }") == 1)
  }

  @Test func `how often something happens until something else does, nobody knows`() throws {
    #expect(try expected("  - { every: 5s, until: last, do: alice.accept }") == nil)
  }

  @Test func `who agrees to no call may make connections all the same`() throws {
    #expect(try expected("  - { at: 1s, do: alice.decline }") == nil)
  }
}
