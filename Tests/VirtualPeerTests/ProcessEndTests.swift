import CallCore
import DTLS
import PeerSession
import SimNet
import Testing
import Vocabulary

@testable import VirtualPeer

/// An app that counts what reaches it.
private final class CountingApp: CallApp {
  static let vocabulary = ProfileVocabulary(
    profile: "counting", summary: "Counts.",
    machines: [
      StateMachine(
        "count.state", states: [.init("none", "", as: .idle), .init("some", "", as: .connected)],
        transitions: [.init("none", "some", on: "tick")])
    ],
    actions: [
      ActionDeclaration("tick", [], "Counts.", as: .begin(with: nil)),
      ActionDeclaration("answer", [], "Answers.", as: .accept),
    ], messages: [], endCodes: [])
  nonisolated(unsafe) static var launches: [Int] = []
  nonisolated(unsafe) static var ticks = 0
  nonisolated(unsafe) static var pushed = 0
  nonisolated(unsafe) static var answered = 0

  let environment: PeerEnvironment
  init(environment: PeerEnvironment) { self.environment = environment }

  func start() {
    Self.launches.append(environment.launchCount)
    environment.pushKit.register()
    tick()
    environment.tasks.start { [environment] in
      while true {
        guard (try? await environment.clock.sleep(for: .milliseconds(300))) != nil else { return }
        Self.ticks += 1
      }
    }
  }

  private func tick() {
    environment.clock.schedule(after: .milliseconds(300)) { [weak self] in
      Self.ticks += 1
      self?.tick()
    }
  }

  func perform(_ action: UserAction) throws(ActionError) { environment.trace.enter("count.state", "some", on: "tick") }
  func perform(_ action: CallKitAction) -> Bool {
    if action.kind == .answer { Self.answered += 1 }
    return true
  }
  func networkChanged() {}
  func shutDown() {}
  func received(_ push: VoIPPush) {
    Self.pushed += 1
    environment.device.configureAudioSession(category: .playAndRecord, mode: .voiceChat, options: [])
    _ = environment.callKit.reportNewIncomingCall("one")
    push.complete()
  }
}

@Suite(.serialized) struct ProcessEndTests {
  private let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
  private let peer: VirtualPeer

  init() throws {
    let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("10.0.0.0/24")!])
    let host = try simulator.addHost("alice")
    try simulator.attach(host, to: network, link: "alice", type: .wifi, tx: LinkSettings(), rx: LinkSettings())
    let certificate = Certificate.generate(
      name: "alice", entropy: .stream(simulator.random.stream("certificate")), wallClock: WallClock())
    peer = VirtualPeer(
      .init(name: "alice", session: SessionConfiguration(certificate: certificate, cname: "alice"), servers: [:]),
      app: CountingApp.self, on: host, of: simulator)
    (CountingApp.launches, CountingApp.ticks, CountingApp.pushed, CountingApp.answered) = ([], 0, 0, 0)
    peer.start()
    run(for: .seconds(1))
  }

  private func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }

  private func change(_ change: (inout DeviceConditions) -> Void) {
    var conditions = peer.lifecycle.conditions
    change(&conditions)
    peer.lifecycle.set(conditions)
  }

  @Test func `nothing of a killed app runs, neither its timers nor its tasks`() {
    #expect(CountingApp.ticks == 6)
    change { $0.isKilled = true }
    run(for: .seconds(10))
    #expect(CountingApp.ticks == 6)
    #expect(peer.pendingTimerCount == 0)
    #expect(peer.lifecycle.state == .terminated)
  }

  @Test func `a killed app is launched anew when the user opens it`() {
    peer.perform(UserAction("tick"))
    change { $0.isKilled = true }
    #expect(peer.perform(UserAction("tick")) == ActionError("the app is not running"))
    change { $0.isKilled = false }
    #expect(CountingApp.launches == [1, 2])
    #expect(peer.lifecycle.state == .active)
    // Its machine begins from the start.
    #expect(peer.perform(UserAction("tick")) == nil)
  }

  @Test func `memory is taken from a suspended app alone`() {
    change { $0.isMemoryShort = true }
    #expect(peer.lifecycle.state == .active)
    change { $0.isLeft = true }
    run(for: .seconds(10))
    #expect(peer.lifecycle.state == .terminated)
    change { $0.isMemoryShort = false }
    #expect(peer.lifecycle.state == .terminated)
    change { $0.isLeft = false }
    #expect(peer.lifecycle.state == .active)
  }

  @Test func `a push launches a killed app in the background, where its call lets it run`() {
    change { $0.isKilled = true }
    peer.push([:])
    run(for: .seconds(20))
    #expect(CountingApp.launches == [1, 2] && CountingApp.pushed == 1)
    #expect(peer.lifecycle.state == .background)
  }

  @Test func `what the user does in the call UI wakes a suspended app, which keeps its audio`() {
    peer.push([:])
    run(for: .seconds(2))
    change { $0.isSuspended = true }
    #expect(peer.lifecycle.state == .suspended)
    peer.perform(UserAction("answer"))
    run(for: .seconds(2))
    #expect(CountingApp.answered == 1)
    #expect(peer.lifecycle.state == .background)
    #expect(peer.device.audioSession.isActive)
  }

  @Test func `a push wakes a suspended app`() {
    change { $0.isSuspended = true }
    #expect(peer.lifecycle.state == .suspended)
    peer.push([:])
    run(for: .seconds(2))
    #expect(CountingApp.pushed == 1 && CountingApp.launches == [1])
    #expect(peer.lifecycle.state == .background)
  }
}
