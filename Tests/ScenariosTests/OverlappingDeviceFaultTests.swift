import CallCore
import Testing

@testable import ScenarioJudge
@testable import ScenarioRun

/// Faults of one device that overlap: each is met by what it changes itself.
@Suite struct `Overlapping faults of a device` {
  /// Returns the entries of a call of 20 s that met nothing.
  private func unmet(_ entries: String, video: Bool = false, devices: String = "") throws -> [String] {
    let media = video ? ", video: {}" : ""
    let result = try play(
      """
      callsim: 1
      id: t
      peers:
        alice: { profile: knotos, network: wifi\(media), devices: { camera: talking-head\(devices) } }
        bob: { profile: knotos, network: wifi\(media) }
      timeline:
        - { at: 2s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
      \(entries)
        - { at: 20s, do: alice.hangup }
      """)
    return result.findings.map(\.title).filter { $0.hasPrefix("timeline entry") }
  }

  @Test(arguments: [
    ("memory-pressure, peer: alice", "background, peer: alice"),
    ("inactive, peer: alice, for: 2s", "background, peer: alice"),
    ("route-change, peer: alice, accessory: airplay", "audio-interruption, peer: alice"),
    ("route-change, peer: alice, accessory: airplay", "route-change, peer: alice, accessory: headset"),
  ])
  func `what another fault changes meets none of a fault without effect`(idle: String, other: String) throws {
    let found = try unmet(
      """
        - { id: other, at: 6s, fault: device.\(other), for: 6s }
        - { id: idle, at: 7s, fault: device.\(idle) }
      """)
    #expect(found == ["timeline entry 'idle'"])
  }

  @Test(arguments: [
    ("suspend", "phone-call, peer: alice, answered: true"), ("suspend", "audio-interruption, peer: alice"),
    ("kill", "phone-call, peer: alice, answered: false"), ("kill", "audio-interruption, peer: alice"),
  ])
  func `an app that is suspended or gone loses nothing to a cellular call or another app`(away: String, idle: String)
    throws
  {
    let found = try unmet(
      """
        - { id: away, at: 6s, fault: device.\(away), peer: alice, for: 10s }
        - { id: idle, at: 8s, fault: device.\(idle), for: 4s }
      """)
    #expect(found.contains("timeline entry 'idle'") && !found.contains("timeline entry 'away'"), "\(found)")
  }

  @Test func `audio that is taken before the call counts as taken once the app wants it`() throws {
    let taken = "  - { id: taken, at: 500ms, fault: device.audio-interruption, peer: alice"
    #expect(!(try unmet("\(taken), for: 8s }").contains("timeline entry 'taken'")))
    #expect(try unmet("\(taken), for: 1s }") == ["timeline entry 'taken'"])
  }

  @Test func `a camera that no call wants is not taken, whatever else happens to the app`() throws {
    let found = try unmet(
      """
        - { id: taken, at: 6s, fault: device.camera-interruption, peer: alice, reason: video-in-use }
        - { id: banner, at: 7s, fault: device.inactive, peer: alice, for: 2s }
        - { id: away, at: 10s, fault: device.background, peer: alice, for: 2s }
      """)
    #expect(found == ["timeline entry 'taken'"])
  }

  @Test func `a camera that is taken before the call counts as taken once the app wants it`() throws {
    let taken = "  - { id: taken, at: 500ms, fault: device.camera-interruption, peer: alice, reason: video-in-use"
    #expect(try unmet("\(taken) }", video: true).isEmpty)
    #expect(try unmet("\(taken), for: 1s }", video: true) == ["timeline entry 'taken'"])
  }

  @Test func `a suspension that keeps the app away once the user has returned is met, whatever comes after it`() throws
  {
    let found = try unmet(
      """
        - { id: away, at: 5s, fault: device.background, peer: alice, for: 8s }
        - { id: held, at: 12s, fault: device.suspend, peer: alice, for: 3s }
        - { id: banner, at: 14s, fault: device.inactive, peer: alice, for: 2s }
      """, devices: ", background_audio: false")
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `a banner over an app that a call covers already is not met by the answer of that call`() throws {
    let found = try unmet(
      """
        - { id: rings, at: 5s, fault: device.phone-call, peer: alice, answered: false, for: 3s }
        - { id: banner, at: 6s, fault: device.inactive, peer: alice, for: 1500ms }
        - { id: answers, at: 7s, fault: device.phone-call, peer: alice, answered: true, for: 4s }
      """)
    #expect(found == ["timeline entry 'banner'"])
  }

  @Test func `what is taken already is not taken again, until the first is over`() throws {
    let ringing = "  - { id: rings, at: 500ms, fault: device.phone-call, peer: alice, answered: false, for: 8s }\n"
    let music = "  - { id: music, at: 3s, fault: device.audio-interruption, peer: alice"
    #expect(try unmet("\(ringing)\(music), for: 4s }") == ["timeline entry 'music'"])
    // It keeps the audio alone from 8.5 s on, to the end of the run.
    #expect(try unmet("\(ringing)\(music) }").isEmpty)
  }

  @Test func `headphones stay in use beside what the call cannot use`() throws {
    let result = try play(
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, do: bob.accept }
          - { id: wired, at: 5s, fault: device.route-change, peer: alice, accessory: headset, for: 6s }
          - { id: mirrored, at: 7s, fault: device.route-change, peer: alice, accessory: airplay, for: 2s }
          - { id: bye, at: 13s, do: alice.hangup }
        """,
      expect: """
          - { always: alice.audio.output == headphones, between: [wired, 10.9s] }
          - { always: alice.audio.output == receiver, between: [11.1s, bye] }
        """)
    #expect(result.findings.map(\.title) == ["timeline entry 'mirrored'"], "\(result.findings)")
  }
}
