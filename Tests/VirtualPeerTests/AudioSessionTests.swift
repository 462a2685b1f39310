import CallCore
import SimNet
import Testing
import Vocabulary

@testable import VirtualPeer

@Suite struct AudioSessionTests {
  private func device(_ settings: Device.Settings = Device.Settings()) -> Device {
    Device(settings: settings, trace: Trace(), peer: "alice")
  }

  private func configure(_ device: Device) {
    device.configureAudioSession(category: .playAndRecord, mode: .voiceChat, options: [.allowBluetooth])
    device.setAudioSessionActive(true)
  }

  @Test func `an audio unit started after the session is configured runs`() {
    let device = device()
    configure(device)
    device.startAudioUnit()
    #expect(device.isAudioRunning)
    device.stopAudioUnit()
    #expect(!device.isAudioRunning)
  }

  @Test func `an audio unit started too early stays dead until it is started again`() {
    let device = device()
    device.startAudioUnit()
    configure(device)
    device.startAudioUnit()
    #expect(!device.isAudioRunning)
    device.stopAudioUnit()
    device.startAudioUnit()
    #expect(device.isAudioRunning)
  }

  @Test(arguments: [AudioSession.Category.ambient, .soloAmbient, .playback, .record])
  func `a category that does not both record and play gives no call audio`(category: AudioSession.Category) {
    let device = device()
    device.configureAudioSession(category: category, mode: .default, options: [])
    device.setAudioSessionActive(true)
    device.startAudioUnit()
    #expect(!device.isAudioRunning)
  }

  @Test func `an app that may not record plays, and never opens the microphone`() {
    let trace = Trace()
    var opened: [String] = []
    for event in [PeerEvents.microphone, PeerEvents.capture, PeerEvents.speaker] {
      trace.listen(to: event) { _, isOpen in if isOpen { opened.append(event.name) } }
    }
    var settings = Device.Settings()
    settings.mayRecord = false
    let device = Device(settings: settings, trace: trace, peer: "alice")
    configure(device)
    device.startAudioUnit()
    #expect(device.isAudioRunning)
    #expect(opened == [PeerEvents.speaker.name])
  }

  @Test func `what is closed and silent is known to be so from the start`() {
    let trace = Trace()
    var known: [String: Bool] = [:]
    let events = [PeerEvents.microphone, PeerEvents.capture, PeerEvents.speaker, PeerEvents.audible]
    for event in events { trace.listen(to: event) { _, value in known[event.name] = value } }
    _ = Device(settings: Device.Settings(), trace: trace, peer: "alice")
    for event in events { #expect(known[event.name] == false) }
  }

  @Test func `a simulator plays whatever the audio session says`() {
    var settings = Device.Settings()
    settings.isSimulator = true
    let device = device(settings)
    device.startAudioUnit()
    #expect(device.isAudioRunning)
  }

  @Test func `configuring again clears earlier options`() {
    let device = device()
    configure(device)
    device.configureAudioSession(category: .playback, mode: .default, options: [])
    #expect(device.audioSession.options.isEmpty)
  }
}
