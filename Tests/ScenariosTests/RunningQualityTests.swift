import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// What `q.*` says in whole runs.
@Suite struct `Quality of a call` {
  /// What Alice's score is in a call with Carol, while Bob is there and takes no part.
  private func score(carol: String, bob: String) throws -> String {
    let result = try play(
      """
      callsim: 1
      id: test
      media: real
      peers:
        alice: { profile: knotos, network: internet }
        bob: { profile: knotos, network: internet, audio: { ptime: \(bob) } }
        carol: { profile: knotos, network: internet, audio: { ptime: \(carol) } }
      timeline:
        - { at: 0s, do: alice.call, to: carol }
        - { when: carol.call.state == ringing, after: 1s, do: carol.accept }
        - { at: 14s, do: alice.hangup }
      expect:
        - { metric: alice.q.mos, stat: mean, eq: 5 }
      """)
    return try #require(result.findings.first).actual
  }

  @Test func `what was on its way when a call ended is no loss of the next one`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: synthetic
      peers:
        alice: { profile: knotos, network: internet, devices: { mic: tone }, audio: { ptime: 40ms } }
        bob: { profile: knotos, network: internet, devices: { mic: tone } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { at: 4s, do: alice.hangup }
        - { id: again, at: 6s, do: alice.call, to: bob }
        - { at: 7s, do: bob.accept }
        - { id: bye, at: 10s, do: alice.hangup }
      expect:
        - { metric: bob.q.concealment, stat: max, window: [again, bye], eq: 0% }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `what was lost of a track counts when it is published anew`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: synthetic
      peers:
        alice: { profile: twilio, network: home, devices: { mic: tone }, audio: { fec: false }, settings: { turn-off: unpublish } }
        bob: { profile: twilio, network: home, audio: { fec: false } }
      timeline:
        - { at: 0s, do: alice.connect, room: s }
        - { at: 0s, do: bob.connect, room: s }
        - { at: 2s, fault: link.set, link: bob/home, direction: rx, loss: { kind: script, times: [[200ms, 320ms]], period: 1s }, for: 8s }
        - { at: 10s, do: alice.mic-off }
        - { at: 10500ms, do: alice.mic-on }
        - { mark: again, at: 11500ms }
        - { mark: later, at: 12500ms }
        - { id: bye, at: 14s, do: alice.disconnect }
      expect:
        - { metric: bob.q.mos, stat: max, window: [again, later], lt: 3.6 }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `what a source has counted until its track is unpublished is counted`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: synthetic
      peers:
        alice: { profile: twilio, network: home, settings: { turn-off: unpublish } }
        bob: { profile: twilio, network: home }
      timeline:
        - { at: 0s, do: alice.connect, room: s }
        - { at: 0s, do: bob.connect, room: s }
        - { mark: settled, at: 3s }
        - { at: 9100ms, do: alice.mic-off }
        - { mark: off, at: 12s }
        - { id: bye, at: 14s, do: alice.disconnect }
      expect:
        - { metric: alice.stats.media-source.audio.totalSamplesDuration, stat: delta, window: [settled, off], gt: 6.05s, lt: 6.15s }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  /// Another fault that begins at any time of an interruption hides nothing of it.
  @Test(arguments: [(9_050, 3.0), (9_150, 2.9), (11_500, 0.5)])
  func `recovery counts from the last fault of an interruption`(other: Int, seconds: Double) throws {
    let result = try play(
      "media: real",
      timeline: """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 2s, do: bob.accept }
          - { at: 9s, fault: link.blackhole, link: alice/wifi, for: 3s }
          - { at: \(other)ms, fault: link.set, link: bob/wifi, delay: 30ms, for: 7s }
          - { at: 20s, do: alice.hangup }
        """,
      expect: """
          - { metric: bob.q.recovery, stat: max, window: [5s, 20s], gt: \(seconds)s, lt: \(seconds + 0.4)s }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a picture that stands still grows older, though no delay of a picture says so`() throws {
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
        - { when: bob.call.state == ringing, do: bob.accept }
        - { at: 5s, fault: link.blackhole, link: alice/wifi, for: 3s }
        - { at: 12s, do: alice.hangup }
      expect:
        - { metric: bob.q.picture_age, stat: max, window: [4s, 8s], gt: 2.7s, lt: 3.3s }
        - { metric: bob.q.frame_delay, stat: max, window: [6s, 8s], eq: 0s }
        - { metric: bob.stats.inbound-rtp.video.framesPerSecond, stat: max, window: [6500ms, 8s], eq: 0 }
        - { metric: bob.q.picture_age, stat: p95, window: [2s, 4.9s], lt: 300ms }
      """)
    // While the picture stands still, there is no delay to measure.
    #expect(result.findings.map(\.kind) == [.vacuous], "\(result.findings)")
    #expect(result.findings.first?.title.contains("frame_delay") == true)
  }

  @Test func `samples of the age of pictures do not fall in step with the camera`() throws {
    // A camera of 20 Hz takes five pictures between two samples: each picture is up to 50 ms older than its delay.
    let result = try play(
      """
      callsim: 1
      id: test
      media: synthetic
      topology:
        networks: { lan: { cidr: 10.0.0.0/24 } }
        links: { a: { from: alice, to: lan, delay: 20ms }, b: { from: bob, to: lan } }
        servers: { hub: { kind: signalling } }
      peers:
        alice: { profile: knotos, video: { frame_rate: 20 } }
        bob: { profile: knotos, video: {}, devices: { camera: none } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
        - { at: 15s, do: alice.hangup }
      expect:
        - { metric: bob.q.frame_delay, stat: mean, window: [5s, 14s], lt: 1s }
        - { metric: bob.q.picture_age, stat: mean, window: [5s, 14s], lt: 1s }
        - { metric: bob.q.picture_age, stat: min, window: [5s, 14s], lt: 1s }
        - { metric: bob.q.picture_age, stat: max, window: [5s, 14s], lt: 1s }
      """)
    let measured = result.measurements.compactMap(\.measured)
    #expect(measured.count == 4)
    let (delay, mean, least, greatest) = (measured[0], measured[1], measured[2], measured[3])
    #expect(abs(mean - delay - 0.025) < 0.002, "\(measured)")
    #expect(least - delay < 0.005 && greatest - delay > 0.044, "\(measured)")
  }

  /// A call of both peers with one codec over lines with jitter, and digits in it.
  private func call(with codec: String, media: String, expect: String) throws -> RunResult {
    try play(
      """
      callsim: 1
      id: test
      media: \(media)
      peers:
        alice: { profile: knotos, network: internet, audio: { codecs: [\(codec), telephone-event] } }
        bob: { profile: knotos, network: internet, audio: { codecs: [\(codec), telephone-event] } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { at: 2s, fault: link.set, link: alice/internet, delay: 30ms, jitter: 15ms }
        - { at: 4s, do: alice.dtmf, digits: "123" }
        - { at: 8s, do: alice.hangup }
      expect:
        - { metric: bob.q.mouth_to_ear, stat: mean, window: [5s, 8s], \(expect) }
      """)
  }

  @Test(arguments: ["opus", "PCMU", "PCMA", "G722"], ["real", "synthetic"])
  func `mouth to ear is by the media clock of the codec, and its statistics are honest`(
    _ codec: String, _ media: String
  ) throws {
    let result = try call(with: codec, media: media, expect: "gt: 60ms, lt: 180ms")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `it counts the packets of who is in the call, not of another peer`() throws {
    let short = try score(carol: "20ms", bob: "20ms")
    #expect(try score(carol: "20ms", bob: "60ms") == short)
    #expect(try score(carol: "60ms", bob: "20ms") != short)
  }
}
