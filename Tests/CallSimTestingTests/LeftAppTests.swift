import CallSim
import StrangerProfile
import Testing

/// What becomes of apps whose async code waits when their run is over.
@Suite struct LeftAppTests {
  /// An app with a task that would wait for an hour.
  private final class WaitingApp: CallApp {
    static let vocabulary = ProfileVocabulary(
      profile: "waiting", summary: "Waits.", machines: StrangerApp.vocabulary.machines, actions: [])
    /// How many there are. Only one test makes any.
    nonisolated(unsafe) static var count = 0
    nonisolated(unsafe) static var total = 0

    private let environment: PeerEnvironment

    init(environment: PeerEnvironment) {
      self.environment = environment
      Self.count += 1
      Self.total += 1
    }

    deinit { Self.count -= 1 }

    func start() { environment.tasks.start { [self] in try? await environment.clock.sleep(for: .seconds(3_600)) } }
    func perform(_ action: UserAction) throws(ActionError) {}
    func networkChanged() {}
    func shutDown() {}
  }

  @Test func `no app outlives its run, nor the run without a fault that was played to compare`() throws {
    let text = """
      callsim: 1
      id: waiting
      peers:
        alice: { profile: waiting, network: wifi }
      timeline:
        - { id: cut, at: 1s, fault: link.down, link: alice/wifi, for: 1s }
      expect:
        - { recovers: cut, to: alice.network != none, within: 5s, hold: 1s }
      """
    let profiles = try ProfileCatalogue([Profile(app: WaitingApp.self, server: StrangerServer.self)])
    let loaded = ScenarioFile.load(text: text, registry: profiles.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    _ = try SingleRun(cell: file.cells[0], seed: 1, path: file.path, profiles: profiles).execute()
    // The run, and the run without its fault.
    #expect(WaitingApp.total == 2)
    #expect(WaitingApp.count == 0)
  }
}
