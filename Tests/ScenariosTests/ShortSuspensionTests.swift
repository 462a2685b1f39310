import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// What a device misses that is suspended for less than two seconds.
@Suite struct ShortSuspensionTests {
  @Test(arguments: ["real", "synthetic"])
  func `sound and pictures that it did not take are not made up for`(media: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: \(media)
      peers:
        alice: { profile: knotos, network: wifi, video: { codecs: [VP8], size: 160x120, frame_rate: 20 } }
        bob: { profile: knotos, network: wifi, video: { codecs: [VP8] }, devices: { camera: none } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { mark: before, at: 4s }
        - { at: 5s, fault: device.suspend, peer: alice, for: 900ms }
        - { mark: after, at: 7s }
        - { id: bye, at: 8s, do: alice.hangup }
      expect:
        - { metric: alice.stats.outbound-rtp.audio.packetsSent, stat: delta, window: [before, after], gte: 102, lte: 107 }
        - { metric: alice.stats.media-source.video.frames, stat: delta, window: [before, after], gte: 40, lte: 44 }
        - { metric: bob.q.mouth_to_ear, stat: max, window: [before, bye], lt: 300ms }
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }

  @Test func `no frame a second comes to a viewer who is suspended`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: synthetic
      peers:
        alice: { profile: knotos, network: wifi, video: {} }
        bob: { profile: knotos, network: wifi, video: {}, devices: { camera: none } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { id: away, at: 5s, fault: device.suspend, peer: bob, for: 3s }
        - { mark: still, at: 6500ms }
        - { mark: back, at: 8s }
        - { id: bye, at: 10s, do: alice.hangup }
      expect:
        - { metric: bob.stats.inbound-rtp.video.framesPerSecond, stat: max, window: [still, back], eq: 0 }
        - { metric: alice.stats.outbound-rtp.video.framesPerSecond, stat: min, window: [still, back], gt: 25 }
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }
}
