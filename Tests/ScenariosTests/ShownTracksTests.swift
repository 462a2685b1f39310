import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// An app whose switches say something else than what it publishes: an invariant finds it.
@Suite struct ShownTracksTests {
  private func findings(
    settings: String, devices: String = "{}", timeline: String = "", video: Bool = false
  ) throws -> [String] {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: twilio, network: home\(video ? ", video: {}" : ""), devices: \(devices), settings: { \(settings) } }
        bob: { profile: twilio, network: home }
      timeline:
        - { at: 0s, do: bob.connect, room: daily }
      \(timeline)
        - { at: 2s, do: alice.connect, room: daily }
        - { id: bye, at: 30s, do: alice.disconnect }
      expect: invariants
      """)
    return result.findings.map { "\($0.title): \($0.actual)" }
  }

  @Test(arguments: ["sample-code: true", "sample-code: false"])
  func `an app whose tracks are all there breaks nothing`(setting: String) throws {
    #expect(try findings(settings: setting, video: true) == [])
  }

  @Test func `a switch that was lost before there was a room is found`() throws {
    let early = "  - { at: 1s, do: alice.mic-on }"
    let found = try findings(settings: "mic-at-connect: false, sample-code: true", timeline: early)
    #expect(found.count == 1 && found[0].hasPrefix("shown-tracks: alice's app shows mic.on as true since"), "\(found)")
    #expect(try findings(settings: "mic-at-connect: false", timeline: early) == [])
  }

  @Test func `a switch without permission to record is found`() throws {
    let found = try findings(settings: "sample-code: true", devices: "{ permission: denied }")
    #expect(found.count == 1 && found[0].hasPrefix("shown-tracks: alice's app shows mic.on as true since"), "\(found)")
    #expect(try findings(settings: "sample-code: false", devices: "{ permission: denied }") == [])
  }

  @Test func `a camera that an interruption has turned on is found`() throws {
    let away = """
        - { at: 6s, do: alice.camera-off }
        - { at: 8s, fault: device.background, peer: alice, for: 10s }
      """
    let found = try findings(settings: "turn-off: disable, sample-code: true", timeline: away, video: true)
    #expect(
      found.count == 1 && found[0].hasPrefix("shown-tracks: alice's app shows camera.on as false since"), "\(found)")
    #expect(try findings(settings: "turn-off: disable", timeline: away, video: true) == [])
  }

  @Test(arguments: [4, 12])
  func `a room that begins in or after an interruption of the camera shows what it publishes`(seconds: Int) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: twilio, network: home, video: { size: 160x120 }, settings: { sample-code: true } }
        bob: { profile: twilio, network: lte, video: { size: 160x120 } }
      timeline:
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.connect, room: daily }
        - { at: 6s, fault: device.camera-interruption, peer: alice, reason: multiple-apps, for: \(seconds)s }
        - { at: 8s, do: alice.disconnect }
        - { at: 12s, do: alice.connect, room: daily }
        - { mark: settled, at: 22s }
        - { id: bye, at: 28s, do: alice.disconnect }
      expect:
        - { always: bob.remote.camera == alice and alice.camera.open, between: [settled, bye] }
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }

  @Test(arguments: [(30, 0), (90, 1)])
  func `what an app shows of another may be wrong for a minute, also in a call that ends`(bye: Int, count: Int) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      limits: { virtual: 3min }
      peers:
        alice: { profile: twilio, network: home, audio: { ptime: 60ms }, settings: { turn-off: disable } }
        bob: { profile: twilio, network: home, audio: { ptime: 60ms } }
      timeline:
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.connect, room: daily }
        - { at: 6s, fault: signal.corrupt, message: update, to: bob, field: participants.tracks.enabled, value: "true", for: 3s }
        - { at: 7s, do: alice.mic-off }
        - { id: bye, at: \(bye)s, do: alice.disconnect }
      expect: invariants
      """)
    let found = result.findings.map { "\($0.title): \($0.actual)" }
    #expect(found.count == count, "\(found)")
    #expect(found.allSatisfy { $0.hasPrefix("shown-tracks: bob's app shows alice in remote.mic at 67.0") }, "\(found)")
  }

  @Test func `one who left without a way to say so may be shown until the server's timeout`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: twilio, network: home }
        bob: { profile: twilio, network: home }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.disconnect }
        - { after: 0s, of: alice.room.state.disconnected, fault: signal.blackhole }
        - { mark: left, at: 1200ms }
        - { mark: later, at: 3s }
      expect:
        - { always: bob.remote.mic == alice, between: [left, later] }
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }
}
