import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// What an app counts begins anew with the next call, and its change over a window is the growth in all of them.
@Suite struct AppCounterTests {
  private func findings(_ text: String) throws -> [String] {
    try play("callsim: 1\nid: test\nmedia: synthetic\n" + text).findings.map { "\($0.title): \($0.actual)" }
  }

  @Test func `messages of a data channel that are missing in the first of two calls are not made up for by the second`()
    throws
  {
    let found = try findings(
      """
      peers:
        alice: { profile: knotos, network: wifi, data_channels: { positions: { ordered: false, max_retransmits: 0 } } }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 1s, do: bob.accept }
        - { fault: link.set, at: 3s, link: alice/wifi, direction: tx, loss: 20%, for: 5500ms }
        - { mark: settled, at: 3500ms }
        - { at: 4s, do: alice.send-data, channel: positions, bytes: 200B, messages: 100, interval: 40ms }
        - { at: 9s, do: alice.hangup }
        - { at: 11s, do: alice.call, to: bob }
        - { at: 12s, do: bob.accept }
        - { at: 13s, do: alice.send-data, channel: positions, bytes: 200B, messages: 50, interval: 40ms }
        - { id: bye, at: 16s, do: alice.hangup }
      expect:
        - { metric: bob.data.positions.missing, stat: delta, window: [settled, bye], gte: 10, lte: 30 }
      """)
    #expect(found == [])
  }

  @Test func `messages on the data tracks of two stays in a room are added up`() throws {
    let found = try findings(
      """
      peers:
        alice: { profile: twilio, network: wifi }
        bob: { profile: twilio, network: wifi }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.publish-data, track-name: positions }
        - { mark: settled, at: 2s }
        - { at: 3s, do: alice.send-message, track-name: positions, bytes: 200B, messages: 40 }
        - { at: 4s, do: bob.disconnect }
        - { at: 5s, do: bob.connect, room: daily }
        - { at: 7s, do: alice.send-message, track-name: positions, bytes: 200B, messages: 30 }
        - { id: bye, at: 9s, do: alice.disconnect }
      expect:
        - { metric: bob.data-track.received, stat: delta, window: [settled, bye], eq: 70 }
      """)
    #expect(found == [])
  }

  @Test func `packets that reports call lost in the first of two calls stay lost`() throws {
    let found = try findings(
      """
      peers:
        alice: { profile: connectycube, network: wifi, settings: { stats-report-interval: 1s } }
        bob: { profile: connectycube, network: wifi, settings: { stats-report-interval: 1s } }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { at: 2s, do: bob.accept }
        - { fault: link.set, at: 4s, link: alice/wifi, direction: tx, loss: 10%, for: 6s }
        - { mark: settled, at: 5s }
        - { at: 11s, do: alice.hangup }
        - { at: 13s, do: alice.call, to: bob }
        - { at: 14s, do: bob.accept }
        - { id: bye, at: 18s, do: alice.hangup }
      expect:
        - { metric: bob.to.alice.report.audioReceivedPacketsLost, stat: delta, window: [settled, bye], gte: 10, lte: 60 }
      """)
    #expect(found == [])
  }

  @Test func `what was counted before an anchor puts nothing to the test after it`() throws {
    let found = try findings(
      """
      peers:
        alice: { profile: twilio, network: wifi }
        bob: { profile: twilio, network: wifi }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.publish-data, track-name: positions }
        - { at: 3s, do: alice.send-message, track-name: positions, bytes: 200B, messages: 5 }
        - { mark: heard, at: 4s }
        - { id: bye, at: 6s, do: alice.disconnect }
      expect:
        - { eventually: bob.data-track.received >= 5, within: 1s, of: heard }
      """)
    #expect(found.count == 1 && found[0].contains("it was true when 'heard' came"), "\(found)")
  }
}
