import CallCore
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

/// The SDK as an app sees that is not built in.
@Suite struct CallClientTests {
  /// Does everything twice, and writes what its delegate is told as `told`.
  private final class Probe: CallApp, CallClientDelegate {
    static let vocabulary = ConnectyCubeApp.vocabulary.app(
      "probe", "Does everything twice.", actions: ["call", "accept", "reject", "hangup"])

    private let trace: PeerTrace
    private let client: CallClient
    private var session: ConnectyCubeSession?

    init(environment: PeerEnvironment) {
      trace = environment.trace
      client = CallClient(environment: environment)
    }

    func start() {
      client.initialize()
      client.addDelegate(self)
      client.connectToChat()
    }

    func perform(_ action: UserAction) throws(ActionError) {
      if action.name == "call" {
        session = try client.createNewSession(with: action.values.texts("to"), video: false)
      }
      for _ in 0..<2 {
        switch action.name {
        case "call": session?.startCall()
        case "accept": session?.acceptCall()
        case "reject": session?.rejectCall()
        default: session?.hangUp()
        }
      }
    }

    private func tell(_ callback: String) { trace.event("told", "callback", callback) }

    func didReceiveNewSession(_ session: ConnectyCubeSession) {
      self.session = session
      tell("new session of \(session.initiator)")
    }
    func session(_ session: ConnectyCubeSession, acceptedByUser user: String) { tell("accepted by \(user)") }
    func session(_ session: ConnectyCubeSession, rejectedByUser user: String) { tell("rejected by \(user)") }
    func session(_ session: ConnectyCubeSession, connectedToUser user: String) { tell("connected to \(user)") }
    func session(_ session: ConnectyCubeSession, hungUpByUser user: String) { tell("hung up by \(user)") }
    func session(_ session: ConnectyCubeSession, connectionClosedForUser user: String) { tell("closed for \(user)") }
    func sessionDidClose(_ session: ConnectyCubeSession) { tell("closed") }

    func networkChanged() { client.networkChanged() }
    func shutDown() { client.shutDown() }
  }

  private static func called() throws -> ProfileWorld {
    let world = try ProfileWorld(app: Probe.self, server: ConnectyCubeServer.self)
    world.run(for: .seconds(2))
    #expect(world.perform("alice", "call", [("to", .list([.text("bob")]))]) == nil)
    world.run(for: .seconds(1))
    return world
  }

  @Test func `a delegate is told of a call, of which what is done twice happens once`() throws {
    let world = try Self.called()
    world.perform("bob", "accept")
    world.run(for: .seconds(3))
    world.perform("alice", "hangup")
    world.run(for: .seconds(1))
    #expect(world.values("alice", "told") == ["accepted by bob", "connected to bob", "closed for bob", "closed"])
    #expect(
      world.values("bob", "told") == [
        "new session of alice", "connected to alice", "hung up by alice", "closed for alice", "closed",
      ])
    #expect(world.values("alice", "call.ended") == ["hung-up"])
    world.expectNothingIsLeftAfterShutdown()
  }

  /// Writes that a call is over, under a name of its own.
  private final class Witness: CallClientDelegate {
    let name: String
    let trace: PeerTrace

    init(_ name: String, _ trace: PeerTrace) { (self.name, self.trace) = (name, trace) }

    func sessionDidClose(_ session: ConnectyCubeSession) { trace.event("told", "callback", "\(name): closed") }
  }

  /// Has three further delegates: one is added twice, one is removed, and nobody holds the last.
  private final class Crowd: CallApp {
    static let vocabulary = Probe.vocabulary.app("crowd", "Has several delegates.", actions: ["call", "reject"])

    private let client: CallClient
    private let witnesses: [Witness]

    init(environment: PeerEnvironment) {
      client = CallClient(environment: environment)
      witnesses = ["first", "second", "removed"].map { Witness($0, environment.trace) }
      for witness in witnesses + [witnesses[0]] { client.addDelegate(witness) }
      client.addDelegate(Witness("released", environment.trace))
      client.removeDelegate(witnesses[2])
    }

    func start() {
      client.initialize()
      client.connectToChat()
    }

    func perform(_ action: UserAction) throws(ActionError) {
      if action.name == "call" {
        try client.createNewSession(with: action.values.texts("to"), video: false).startCall()
      } else {
        client.session?.rejectCall()
      }
    }

    func networkChanged() {}
    func shutDown() { client.shutDown() }
  }

  @Test func `every delegate is told, once and in order, until it is removed or gone`() throws {
    let world = try ProfileWorld(app: Crowd.self, server: ConnectyCubeServer.self)
    world.run(for: .seconds(2))
    #expect(world.perform("alice", "call", [("to", .list([.text("bob")]))]) == nil)
    world.run(for: .seconds(1))
    world.perform("bob", "reject")
    world.run(for: .seconds(1))
    #expect(world.values("alice", "told") == ["first: closed", "second: closed"])
    #expect(world.values("bob", "told") == ["first: closed", "second: closed"])
  }

  @Test func `a call is rejected once`() throws {
    let world = try Self.called()
    world.perform("bob", "reject")
    world.run(for: .seconds(1))
    #expect(world.values("alice", "told") == ["rejected by bob", "closed for bob", "closed"])
    #expect(world.values("bob", "told").last == "closed")
  }
}
