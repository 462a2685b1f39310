import CallCore
import Testing

/// The classes in the app of Vonage Video.
@Suite struct VonageClassTests {
  private func session(
    network: String = "wifi", length: String = "20s", _ timeline: String
  ) -> Provocation {
    Provocation(
      peers: """
          alice: { profile: vonage, network: \(network), devices: { mic: tone } }
          bob: { profile: vonage, network: wifi, devices: { mic: tone } }
        """, length: length, timeline: timeline)
  }

  @Test func `class 3 - who mutes before the publisher is connected is silent from the first packet on`() throws {
    try proves(
      .muteCompletesLate, breaks: "mute",
      by: session(
        network: "satellite",
        """
          - { at: 1s, do: alice.connect, session: daily }
          - { at: 1100ms, do: alice.mute }
        """))
  }

  @Test func `class 7 - a session that is left before its media come gives the microphone back`() throws {
    try proves(
      .captureOutlivesSetup, breaks: "capture-scope",
      by: session(
        length: "8s",
        """
          - { at: 1s, do: alice.connect, session: daily }
          - { after: 20ms, of: alice.connected, do: alice.disconnect }
        """))
  }

  @Test func `class 8 - who is muted stays muted when somebody publishes`() throws {
    try proves(
      .muteLostInRenegotiation, breaks: "mute",
      by: session(
        """
          - { at: 1s, do: alice.connect, session: daily }
          - { at: 5s, do: alice.mute }
          - { at: 8s, do: bob.connect, session: daily }
        """))
  }

  @Test func `class 15 - of offers of client and router that cross each other one gives way`() throws {
    try proves(
      .restartGlareIgnoredByBoth, breaks: "stuck-state",
      by: session(
        network: "satellite",
        """
          - { at: 1s, do: alice.connect, session: daily }
          - { at: 8s, do: bob.connect, session: daily }
          - { at: 8s, do: alice.publish, name: second }
        """))
  }

  @Test func `class 16 - a session whose state never comes is given up`() throws {
    try proves(
      .entryTimerForgotten, breaks: "stuck-state",
      by: session(
        length: "4s",
        """
          - { at: 0s, fault: signal.drop, message: connected }
          - { at: 1s, do: alice.connect, session: daily }
        """))
  }

  @Test func `class 18 - no timer of a session that is left while reconnecting outlives it`() throws {
    try proves(
      .lossTimerLeaks, breaks: "quiescence",
      by: session(
        length: "8s",
        """
          - { at: 1s, do: alice.connect, session: daily }
          - { at: 5s, fault: signal.disconnect, peer: alice, for: 2s }
          - { at: 6s, do: alice.disconnect }
        """))
  }

  @Test func `class 19 - an alert of a stranger does not end the handshake with the router`() throws {
    try proves(
      .strangersHandshakeRead, breaks: "unverified-sources",
      by: session(
        length: "8s",
        """
          - { at: 0s, fault: packet.forge, protocol: dtls, to: bob, count: 1 }
          - { at: 1s, do: bob.connect, session: daily }
        """))
  }

  @Test func `class 26 - candidates that wait for the router's description are limited`() throws {
    let candidates = (1...1_200).map { #"{"candidate":"candidate:1 1 udp 1 192.0.2.1 \#($0) typ host","mid":"0"}"# }
    let ice = #"{"candidates":[\#(candidates.joined(separator: ","))],"revision":1}"#
    try proves(
      .waitingCandidatesUnbounded, breaks: "bounded-backlog",
      by: session(
        network: "satellite", length: "8s",
        """
          - { at: 1s, do: alice.connect, session: daily }
          - { after: 10ms, of: alice.connected, send: media, from: mallory, to: alice, fields: { number: 1, ice: '\(ice)' } }
        """))
  }

  @Test func `class 27 - a packet of the router that comes late is not counted as lost`() throws {
    try proves(
      .latePacketStaysLost, breaks: "honest-stats",
      by: session(
        """
          - { at: 1s, do: alice.connect, session: daily }
          - { at: 1s, do: bob.connect, session: daily }
          - { at: 6s, fault: link.set, link: bob/wifi, jitter: { dist: normal, amount: 40ms, order: allow }, for: 5s }
        """))
  }
}
