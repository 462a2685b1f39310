import CallCore
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

/// The SDK as an app sees that is not built in.
@Suite struct TwilioSDKTests {
  /// Does what a test wants to know of the SDK, and writes the answers as `told`.
  private final class Probe: CallApp, TwilioRoomDelegate, TwilioLocalParticipantDelegate {
    static let vocabulary = TwilioApp.vocabulary.app(
      "probe", "Asks the SDK.", actions: ["connect", "disconnect", "mic-on", "mic-off", "camera-on", "camera-off"])

    private let trace: PeerTrace
    private let sdk: TwilioVideoSDK
    private var room: TwilioRoom?
    private var track: TwilioLocalAudioTrack?
    private var former: TwilioLocalParticipant?

    init(environment: PeerEnvironment) {
      trace = environment.trace
      sdk = TwilioVideoSDK(environment: environment)
    }

    private func tell(_ answer: String) { trace.event("told", "answer", answer) }

    func start() { sdk.start() }

    func perform(_ action: UserAction) throws(ActionError) {
      switch action.name {
      case "connect":
        let options = TwilioConnectOptions(token: sdk.accessToken(for: "daily")) { $0.roomName = "daily" }
        room = try sdk.connect(options: options, delegate: self)
        tell("participant at once: \(room?.localParticipant != nil)")
      case "disconnect":
        former = room?.localParticipant
        room?.disconnect()
      case "mic-on":
        guard let track = track ?? TwilioLocalAudioTrack(sdk, name: "mic") else { return tell("no track") }
        self.track = track
        tell("published: \(room?.localParticipant?.publishAudioTrack(track) ?? false)")
      case "camera-on":
        TwilioCameraSource(sdk).startCapture { [self] in tell("capture: \($0.map { "\($0)" } ?? "runs")") }
        tell("asked for pictures")
      case "camera-off":
        if let track { tell("unpublished: \(former?.unpublishAudioTrack(track) ?? false)") }
      default: break
      }
    }

    func roomDidConnect(room: TwilioRoom) { tell("participant when connected: \(room.localParticipant != nil)") }

    func roomDidDisconnect(room: TwilioRoom, error: TwilioError?) { tell("left: \(error?.code ?? "no error")") }

    func participantDidConnect(room: TwilioRoom, participant: TwilioRemoteParticipant) {
      tell("came: \(participant.identity)")
    }

    func networkChanged() { sdk.networkChanged() }
    func deviceChanged(_ change: DeviceChange) { sdk.deviceChanged(change) }
    func shutDown() { sdk.shutDown() }
  }

  private static func world(
    _ users: [String] = ["alice"], _ change: (inout Device.Settings) -> Void = { _ in }
  ) throws -> ProfileWorld {
    var device = Device.Settings()
    device.hasVideo = true
    change(&device)
    return try ProfileWorld(app: Probe.self, server: TwilioRoomServer.self, users: users, device: device)
  }

  private static func told(_ world: ProfileWorld, _ actions: String...) -> [String] {
    for action in actions {
      world.perform("alice", action, action == "connect" ? [("room", .text("daily"))] : [])
      world.run(for: .seconds(3))
    }
    return world.values("alice", "told")
  }

  @Test func `there is a local participant once the room is connected`() throws {
    let told = Self.told(try Self.world(), "connect")
    #expect(told == ["participant at once: false", "participant when connected: true"])
  }

  @Test func `a delegate is told of the room and of others`() throws {
    let world = try Self.world(["alice", "bob"])
    _ = Self.told(world, "connect")
    world.perform("bob", "connect", [("room", .text("daily"))])
    world.run(for: .seconds(3))
    #expect(Self.told(world, "disconnect").suffix(2) == ["came: bob", "left: no error"])
    world.expectNothingIsLeftAfterShutdown()
  }

  @Test func `a track is published once`() throws {
    #expect(
      Self.told(try Self.world(), "connect", "mic-on", "mic-on").suffix(2) == ["published: true", "published: false"])
  }

  @Test func `a track may go into the next room`() throws {
    let told = Self.told(try Self.world(), "connect", "mic-on", "disconnect", "connect", "mic-on")
    #expect(told.last == "published: true")
  }

  @Test func `the participant of a former room gives nothing up`() throws {
    let world = try Self.world()
    let told = Self.told(world, "connect", "disconnect", "connect", "mic-on", "camera-off")
    #expect(told.last == "unpublished: false")
    #expect(world.value("alice", "mic.published") == "true")
  }

  @Test func `without the permission to record there is no track`() throws {
    #expect(Self.told(try Self.world { $0.mayRecord = false }, "mic-on") == ["no track"])
  }

  @Test func `the completion of a capture comes later, and tells that there is no camera`() throws {
    #expect(Self.told(try Self.world(), "camera-on") == ["asked for pictures", "capture: noDevice"])
    let camera = try Self.world { $0.camera = .movingBars }
    #expect(Self.told(camera, "camera-on") == ["asked for pictures", "capture: runs"])
  }

  @Test func `another app of a product has its names, and those of its actions that it says`() {
    let product = TwilioApp.vocabulary
    let vocabulary = Probe.vocabulary
    #expect(vocabulary.profile == "probe" && vocabulary.misfits == [])
    #expect(
      Set(vocabulary.actions.map(\.name)) == ["connect", "disconnect", "mic-on", "mic-off", "camera-on", "camera-off"])
    #expect(vocabulary.settings.isEmpty && vocabulary.events.count == product.events.count)
  }
}
