import CallCore
import Testing
import Vocabulary

@testable import VirtualPeer

@Suite struct AudioRouteTests {
  private func route(
    _ category: AudioSession.Category, _ mode: AudioSession.Mode = .default, _ options: AudioSession.Options = [],
    _ accessory: AudioRoute.Accessory? = nil
  ) -> AudioRoute {
    var session = AudioSession()
    session.configure(category: category, mode: mode, options: options)
    return AudioRoute(of: session, accessory)
  }

  @Test func `a call is heard at the receiver, except in the mode for video or by the option`() {
    #expect(route(.playAndRecord, .voiceChat).output == .receiver)
    #expect(route(.playAndRecord, .videoChat).output == .speaker)
    #expect(route(.playAndRecord, .voiceChat, .defaultToSpeaker).output == .speaker)
    #expect(route(.playback).output == .speaker)
  }

  @Test func `the modes for calls imply the hands-free profile`() {
    #expect(route(.playAndRecord, .default, [], .bluetoothHeadset).output == .receiver)
    #expect(route(.playAndRecord, .default, .allowBluetooth, .bluetoothHeadset).output == .bluetoothHFP)
    for mode in [AudioSession.Mode.voiceChat, .videoChat] {
      #expect(route(.playAndRecord, mode, [], .bluetoothHeadset).output == .bluetoothHFP)
      #expect(route(.playAndRecord, mode, [], .bluetoothHeadset).input == .bluetoothHFP)
    }
  }

  @Test func `A2DP plays alone, and beside a microphone only where the app allows it`() {
    #expect(route(.playback, .default, [], .bluetoothSpeaker).output == .bluetoothA2DP)
    #expect(route(.playAndRecord, .voiceChat, [], .bluetoothSpeaker).output == .receiver)
    let allowed = route(.playAndRecord, .voiceChat, .allowBluetoothA2DP, .bluetoothSpeaker)
    #expect(allowed == route(.playAndRecord, .voiceChat, .allowBluetoothA2DP, .bluetoothSpeaker))
    #expect(allowed.output == .bluetoothA2DP && allowed.input == .builtIn)
  }

  @Test func `AirPlay plays alone, and beside a microphone only with its option and not in the mode for voice`() {
    #expect(route(.playback, .default, [], .airPlay).output == .airPlay)
    #expect(route(.playAndRecord, .videoChat, [], .airPlay).output == .speaker)
    #expect(route(.playAndRecord, .voiceChat, .allowAirPlay, .airPlay).output == .receiver)
    for mode in [AudioSession.Mode.videoChat, .default] {
      let allowed = route(.playAndRecord, mode, .allowAirPlay, .airPlay)
      #expect(allowed.output == .airPlay && allowed.input == .builtIn)
    }
  }

  private func device() -> Device {
    let device = Device(settings: Device.Settings(), trace: Trace(), peer: "alice")
    device.configureAudioSession(category: .playAndRecord, mode: .voiceChat, options: [])
    return device
  }

  @Test func `the user's choice lasts until something is connected`() {
    let device = device()
    device.setAudioSessionActive(true)
    #expect(device.setOutput(.speaker))
    #expect(device.audioRoute.output == .speaker)
    device.setAccessories([.headset])
    #expect(device.audioRoute.output == .headphones && device.audioRoute.input == .headset)
    device.setAccessories([])
    #expect(device.audioRoute.output == .receiver)
  }

  @Test func `an inactive session, and the mode for video, let nobody choose the receiver`() {
    let device = device()
    #expect(!device.setOutput(.receiver))
    device.setAudioSessionActive(true)
    #expect(device.setOutput(.receiver))
    device.configureAudioSession(category: .playAndRecord, mode: .videoChat, options: [])
    #expect(!device.setOutput(.receiver))
    #expect(device.setOutput(.speaker))
  }
}
