import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// Statistics and scores go by the codec that comes, which may be another one than the listener prefers.
@Suite struct ReceivedCodecTests {
  private func findings(_ text: String) throws -> [String] {
    try play("callsim: 1\nid: test\nmedia: synthetic\n" + text).findings.map { "\($0.title): \($0.actual)" }
  }

  @Test(arguments: [("twilio", "room: daily"), ("vonage", "session: daily")])
  func `in a room sound is scored as what it comes in`(profile: String, place: String) throws {
    let found = try findings(
      """
      peers:
        alice: { profile: \(profile), network: wifi, audio: { codecs: [PCMU] } }
        bob: { profile: \(profile), network: wifi, audio: { codecs: [opus, PCMU] } }
      timeline:
        - { at: 0s, do: alice.connect, \(place) }
        - { at: 500ms, do: bob.connect, \(place) }
        - { mark: settled, at: 3s }
        - { id: bye, at: 8s, do: alice.disconnect }
      expect:
        - { metric: bob.q.mos, stat: max, window: [settled, bye], lt: 3.5 }
      """)
    #expect(found == [])
  }

  @Test func `after a change of codec what was lost before still counts`() throws {
    let found = try findings(
      """
      peers:
        alice: { profile: knotos, network: home, audio: { codecs: [PCMU, opus], fec: false } }
        bob: { profile: knotos, network: home, audio: { codecs: [opus, PCMU], fec: false } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { at: 2s, fault: link.set, link: bob/home, direction: rx, loss: { kind: script, times: [[200ms, 320ms]], period: 1s }, for: 8s }
        - { at: 10s, do: bob.ice-restart }
        - { mark: changed, at: 10500ms }
        - { mark: later, at: 11s }
        - { mark: clean, at: 15500ms }
        - { id: bye, at: 17s, do: alice.hangup }
      expect:
        - { metric: bob.q.mos, stat: max, window: [changed, later], lt: 3.5 }
        - { metric: bob.q.mos, stat: min, window: [clean, bye], gt: 4.3 }
      """)
    #expect(found == [])
  }

  @Test func `after a change of codec the score has the new one's bit rate, and statistics stay honest`() throws {
    let found = try findings(
      """
      peers:
        alice: { profile: knotos, network: home, audio: { codecs: [PCMU, opus], bitrate: 12kbps } }
        bob: { profile: knotos, network: home, audio: { codecs: [opus, PCMU] } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { id: change, at: 7s, do: bob.ice-restart }
        - { mark: changed, at: 8s }
        - { mark: soon, at: 10s }
        - { id: bye, at: 16s, do: alice.hangup }
      expect:
        - { metric: bob.q.mos, stat: max, window: [2s, change], lt: 3.5 }
        - { metric: bob.q.mos, stat: min, window: [changed, soon], gt: 4.2 }
        - { metric: bob.q.mos, stat: max, window: [changed, soon], lt: 4.3 }
      """)
    #expect(found == [])
  }
}
