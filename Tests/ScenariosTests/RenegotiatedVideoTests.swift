import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// Video whose codec changes within a call.
@Suite struct RenegotiatedVideoTests {
  @Test func `retransmissions mend the losses of the codec that a renegotiation chose`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: real
      peers:
        alice: { profile: knotos, network: wifi, video: { codecs: [VP8, H264], size: 160x120, frame_rate: 10 } }
        bob: { profile: knotos, network: wifi, video: { codecs: [H264, VP8] }, devices: { camera: none } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { at: 2s, fault: link.set, link: alice/wifi, direction: tx, loss: 5% }
        - { at: 3s, do: bob.ice-restart }
        - { mark: changed, at: 5s }
        - { id: bye, at: 15s, do: alice.hangup }
      expect:
        - { metric: bob.stats.inbound-rtp.video.framesDecoded, stat: rate, window: [changed, bye], gt: 9 }
        - { metric: alice.stats.outbound-rtp.video.retransmittedPacketsSent, stat: delta, window: [changed, bye], gt: 0 }
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }

  @Test func `modelled video begins with a key frame in the codec that a renegotiation chose`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: synthetic
      peers:
        alice: { profile: knotos, network: wifi, video: { codecs: [VP8, H264], frame_rate: 10 } }
        bob: { profile: knotos, network: wifi, video: { codecs: [H264, VP8] }, devices: { camera: none } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { mark: settled, at: 3s }
        - { at: 4s, do: bob.ice-restart }
        - { id: bye, at: 8s, do: alice.hangup }
      expect:
        - { metric: alice.stats.outbound-rtp.video.keyFramesEncoded, stat: delta, window: [settled, bye], eq: 1 }
        - { metric: bob.stats.inbound-rtp.video.freezeCount, stat: delta, window: [settled, bye], eq: 0 }
      """)
    #expect(result.findings.map { "\($0.title): \($0.actual)" } == [])
  }
}
