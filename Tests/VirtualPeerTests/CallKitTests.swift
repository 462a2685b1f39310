import CallCore
import SimNet
import Testing
import Vocabulary

@testable import VirtualPeer

@Suite struct CallKitTests {
  /// A device with CallKit, and an app that does as it is told.
  private final class World {
    let simulator: Simulator
    let host: HostRuntime
    let device: Device
    let callKit: CallKit
    let pushKit: PushKit
    var performed: [CallKitAction] = []
    var changes: [CallKitChange] = []
    var fulfils = true
    var pushes: [VoIPPush] = []
    var terminations = 0

    init(_ settings: Device.Settings = Device.Settings()) throws {
      let trace = Trace()
      let simulator = Simulator(trace: trace, random: RandomSource(seed: 1))
      self.simulator = simulator
      host = HostRuntime(simulator: simulator, host: try simulator.addHost("alice"), wallClock: WallClock())
      device = Device(settings: settings, trace: trace, peer: "alice")
      let subject = trace.subject("alice")
      callKit = CallKit(device: device, clock: host.system, trace: trace, subject: subject)
      pushKit = PushKit(
        callKit: callKit, mayReceive: settings.hasBackgroundVoIP, clock: host.system, trace: trace, subject: subject)
      callKit.perform = { [unowned self] action in
        performed.append(action)
        return fulfils
      }
      callKit.tell = { [unowned self] in changes.append($0) }
      pushKit.deliver = { [unowned self] in pushes.append($0) }
      pushKit.terminate = { [unowned self] in terminations += 1 }
      device.configureAudioSession(category: .playAndRecord, mode: .voiceChat, options: [])
    }

    func run(for interval: Interval = .seconds(1)) { simulator.run(until: simulator.now + interval) }

    func answer() {
      _ = callKit.reportNewIncomingCall("one")
      callKit.touch(.accept, isSeen: true)
      run()
    }
  }

  @Test func `an answered call activates the session, and its end deactivates it`() throws {
    let world = try World()
    world.answer()
    #expect(world.device.audioSession.isActive)
    world.callKit.request(CallKitAction(.end, of: "one"))
    world.run()
    #expect(world.performed.map(\.kind) == [.answer, .end])
    #expect(world.changes == [.didActivate, .didDeactivate])
    #expect(!world.device.audioSession.isActive)
  }

  @Test func `a call that rings activates nothing`() throws {
    let world = try World()
    _ = world.callKit.reportNewIncomingCall("one")
    world.run()
    world.callKit.reportCall("one", endedWith: .unanswered)
    world.run()
    #expect(world.changes == [])
    #expect(!world.callKit.hasCall)
  }

  @Test func `an app that fails the answer loses the call`() throws {
    let world = try World()
    world.fulfils = false
    world.answer()
    #expect(!world.callKit.hasCall)
    #expect(world.changes == [])
  }

  @Test func `a call is reported once`() throws {
    let world = try World()
    #expect(world.callKit.reportNewIncomingCall("one") == nil)
    #expect(world.callKit.reportNewIncomingCall("one") == .callUUIDAlreadyExists)
  }

  @Test(arguments: [
    (Device.Settings.IncomingCalls.doNotDisturb, CallKit.ReportError.filteredByDoNotDisturb),
    (.blocked, .filteredByBlockList),
  ])
  func `a call that the user does not want is not shown`(
    calls: Device.Settings.IncomingCalls, error: CallKit.ReportError
  ) throws {
    var settings = Device.Settings()
    settings.incomingCalls = calls
    let world = try World(settings)
    #expect(world.callKit.reportNewIncomingCall("one") == error)
    #expect(!world.callKit.hasCall)
  }

  @Test func `the app cannot activate the session of a CallKit call itself`() throws {
    let world = try World()
    _ = world.callKit.reportNewIncomingCall("one")
    #expect(!world.device.setAudioSessionActive(true))
    #expect(!world.device.audioSession.isActive)
  }

  @Test func `a session that the app took down is not activated for the next call`() throws {
    let world = try World()
    world.answer()
    world.device.setAudioSessionActive(false)
    world.callKit.request(CallKitAction(.end, of: "one"))
    world.run()
    world.changes = []
    world.answer()
    #expect(world.changes == [])
    world.callKit.request(CallKitAction(.end, of: "one"))
    world.run()
    world.answer()
    #expect(world.changes == [.didActivate])
  }

  @Test func `manual audio waits for the app`() throws {
    let world = try World()
    world.device.setManualAudio(true)
    world.answer()
    world.device.startAudioUnit()
    #expect(!world.device.isAudioRunning)
    world.device.setAudioEnabled(true)
    #expect(world.device.isAudioRunning)
    world.device.setAudioEnabled(false)
    #expect(!world.device.isAudioRunning)
  }

  @Test func `manual audio that is enabled before the activation stays dead`() throws {
    let world = try World()
    world.device.setManualAudio(true)
    _ = world.callKit.reportNewIncomingCall("one")
    world.device.setAudioEnabled(true)
    world.device.startAudioUnit()
    world.callKit.touch(.accept, isSeen: true)
    world.run()
    world.device.setAudioEnabled(true)
    #expect(world.device.audioSession.isActive && !world.device.isAudioRunning)
  }

  @Test func `a phone call holds what talks, and gives it back`() throws {
    let world = try World()
    world.answer()
    world.callKit.setPhoneCallAnswered(true)
    world.run()
    #expect(!world.device.audioSession.isActive)
    world.callKit.setPhoneCallAnswered(false)
    world.run()
    #expect(world.device.audioSession.isActive)
    #expect(world.performed.map(\.kind) == [.answer, .setHeld(true), .setHeld(false)])
  }

  @Test func `a call that dials while the user is in a phone call is held, and dials or talks after it`() throws {
    for connects in [true, false] {
      let world = try World()
      world.callKit.request(CallKitAction(.start, of: "one"))
      world.run()
      world.callKit.setPhoneCallAnswered(true)
      world.run()
      #expect(world.performed.map(\.kind) == [.start, .setHeld(true)])
      #expect(!world.device.audioSession.isActive)
      if connects { world.callKit.reportOutgoingCallConnected("one") }
      world.run()
      #expect(world.changes == [.didActivate, .didDeactivate])
      world.callKit.setPhoneCallAnswered(false)
      world.run()
      #expect(world.performed.map(\.kind) == [.start, .setHeld(true), .setHeld(false)])
      #expect(world.changes == [.didActivate, .didDeactivate, .didActivate])
      // What dials may still be connected; what talks is so already.
      world.callKit.reportOutgoingCallConnected("one")
      world.callKit.setPhoneCallAnswered(true)
      world.run()
      #expect(world.performed.count == 4)
    }
  }

  @Test func `a call that is answered while the user is in a phone call is held`() throws {
    let world = try World()
    _ = world.callKit.reportNewIncomingCall("one")
    world.callKit.setPhoneCallAnswered(true)
    world.run()
    #expect(world.performed == [])
    world.callKit.touch(.accept, isSeen: true)
    world.run()
    #expect(world.performed.map(\.kind) == [.answer, .setHeld(true)])
    #expect(world.changes == [])
    world.callKit.setPhoneCallAnswered(false)
    world.run()
    #expect(world.changes == [.didActivate])
  }

  @Test(arguments: [1, 20, 49, 60] as [Int64])
  func `a call that begins at the end of another gets an activation of its own`(gap: Int64) throws {
    let world = try World()
    world.answer()
    world.callKit.request(CallKitAction(.end, of: "one"))
    world.run(for: .milliseconds(gap))
    world.callKit.request(CallKitAction(.start, of: "two"))
    world.run()
    #expect(world.changes == [.didActivate, .didDeactivate, .didActivate])
    #expect(world.device.audioSession.isActive)
  }

  @Test func `a call that ends beside another leaves the session to that one`() throws {
    let world = try World()
    world.answer()
    world.callKit.request(CallKitAction(.start, of: "two"))
    world.run()
    world.callKit.request(CallKitAction(.end, of: "one"))
    world.run()
    #expect(world.changes == [.didActivate])
  }

  @Test func `what rings is answered in the call UI, and what talks is ended there by a user who does not see the app`()
    throws
  {
    let world = try World()
    #expect(!world.callKit.shows(.accept, isSeen: true))
    _ = world.callKit.reportNewIncomingCall("one")
    #expect(world.callKit.shows(.accept, isSeen: true) && world.callKit.shows(.refuse, isSeen: true))
    world.callKit.touch(.accept, isSeen: true)
    world.run()
    #expect(!world.callKit.shows(.end, isSeen: true))
    #expect(world.callKit.shows(.end, isSeen: false) && world.callKit.shows(.mute, isSeen: false))
  }

  @Test func `a push that is completed after a report lets the app live`() throws {
    let world = try World()
    world.pushKit.receive([:], isOnline: true)
    _ = world.callKit.reportNewIncomingCall("one")
    world.pushes[0].complete()
    world.run(for: .seconds(10))
    #expect(world.terminations == 0)
  }

  @Test(arguments: [true, false])
  func `a push without a report ends the app, whether it is completed or forgotten`(isCompleted: Bool) throws {
    let world = try World()
    world.pushKit.receive([:], isOnline: true)
    if isCompleted { world.pushes[0].complete() }
    world.run(for: .seconds(10))
    #expect(world.terminations == 1)
  }

  @Test func `an app that reports nothing three times gets no push any more`() throws {
    let world = try World()
    for _ in 0..<4 {
      world.pushKit.receive([:], isOnline: true)
      world.run(for: .seconds(10))
    }
    #expect(world.pushes.count == 3)
  }

  @Test func `without the background mode voip no push comes, and no incoming call may be reported`() throws {
    var settings = Device.Settings()
    settings.hasBackgroundVoIP = false
    let world = try World(settings)
    world.pushKit.receive([:], isOnline: true)
    #expect(world.pushes.isEmpty)
    #expect(world.callKit.reportNewIncomingCall("one") == .unentitled)
    #expect(!world.callKit.hasCall)
  }

  @Test func `a push to a device without a network is lost`() throws {
    let world = try World()
    world.pushKit.receive([:], isOnline: false)
    #expect(world.pushes.isEmpty)
  }
}
