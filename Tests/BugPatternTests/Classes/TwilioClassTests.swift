import CallCore
import ScenarioRun
import Testing

/// The classes in the app of Twilio Video.
@Suite struct TwilioClassTests {
  private func room(network: String = "wifi", length: String = "20s", _ timeline: String) -> Provocation {
    Provocation(
      peers: """
          alice: { profile: twilio, network: \(network), devices: { mic: tone }, settings: { turn-off: disable } }
          bob: { profile: twilio, network: wifi, devices: { mic: tone }, settings: { turn-off: disable } }
        """, length: length, timeline: timeline)
  }

  @Test func `class 3 - who turns the microphone off before the room is connected is silent in it`() throws {
    try proves(
      .muteCompletesLate, breaks: "mute",
      by: room(
        network: "satellite",
        """
          - { at: 0s, do: bob.connect, room: daily }
          - { at: 1s, do: alice.connect, room: daily }
          - { at: 1100ms, do: alice.mic-off }
        """))
  }

  @Test func `class 7 - a room that is left while connecting gives the microphone back`() throws {
    try proves(
      .captureOutlivesSetup, breaks: "capture-scope",
      by: room(
        length: "8s",
        """
          - { at: 0s, do: bob.connect, room: daily }
          - { at: 1s, do: alice.connect, room: daily }
          - { at: 1040ms, do: alice.disconnect }
        """))
  }

  @Test func `class 8 - a microphone that is off stays off when somebody publishes`() throws {
    try proves(
      .muteLostInRenegotiation, breaks: "mute",
      by: room(
        """
          - { at: 1s, do: alice.connect, room: daily }
          - { at: 1s, do: bob.connect, room: daily }
          - { at: 5s, do: alice.mic-off }
          - { at: 8s, do: bob.publish, track-name: second }
        """))
  }

  @Test func `class 11 - a late update does not turn a microphone on again`() throws {
    try proves(
      .olderRevisionObeyed, breaks: "shown-tracks",
      by: room(
        """
          - { at: 1s, do: alice.connect, room: daily }
          - { at: 1s, do: bob.connect, room: daily }
          - { at: 5s, do: bob.mic-off }
          - { at: 6s, fault: signal.delay, message: update, to: alice, by: 3s, for: 500ms }
          - { at: 6s, do: bob.mic-on }
          - { at: 7s, do: bob.mic-off }
        """))
  }

  @Test func `class 15 - of offers of participant and server that cross each other one gives way`() throws {
    try proves(
      .restartGlareIgnoredByBoth, breaks: "stuck-state",
      by: room(
        network: "satellite",
        """
          - { at: 1s, do: alice.connect, room: daily }
          - { at: 1s, do: bob.connect, room: daily }
          - { at: 9s, do: bob.publish, track-name: second }
          - { at: 9050ms, do: alice.publish, track-name: third }
        """))
  }

  @Test func `class 16 - a room that never lets the user in is given up`() throws {
    try proves(
      .entryTimerForgotten, breaks: "stuck-state",
      by: room(
        length: "4s",
        """
          - { at: 0s, fault: signal.drop, message: connected }
          - { at: 1s, do: alice.connect, room: daily }
        """))
  }

  @Test func `class 18 - no timer of a room that is left while reconnecting outlives it`() throws {
    try proves(
      .lossTimerLeaks, breaks: "quiescence",
      by: room(
        length: "8s",
        """
          - { at: 1s, do: alice.connect, room: daily }
          - { at: 5s, fault: signal.disconnect, peer: alice, for: 2s }
          - { at: 6s, do: alice.disconnect }
        """))
  }

  @Test func `class 19 - an alert of a stranger does not end the handshake with the room`() throws {
    try proves(
      .strangersHandshakeRead, breaks: "unverified-sources",
      by: room(
        length: "8s",
        """
          - { at: 0s, fault: packet.forge, protocol: dtls, to: bob, count: 1 }
          - { at: 1s, do: bob.connect, room: daily }
        """))
  }

  @Test func `class 27 - a packet of the room that comes late is not counted as lost`() throws {
    try proves(
      .latePacketStaysLost, breaks: "honest-stats",
      by: room(
        """
          - { at: 1s, do: alice.connect, room: daily }
          - { at: 1s, do: bob.connect, room: daily }
          - { at: 6s, fault: link.set, link: bob/wifi, jitter: { dist: normal, amount: 40ms, order: allow }, for: 5s }
        """))
  }

  @Test func `class 28 - the sids of rooms are the same after another run`() throws {
    let provocation = room(length: "4s", "  - { at: 1s, do: alice.connect, room: daily }")
    try proves(.callIDsOfProcess) { claims in
      let hashes = try (0..<2).map { _ in try provocation.play().traceHash }
      claims("the traces are equal", hashes[0] == hashes[1])
    }
  }
}
