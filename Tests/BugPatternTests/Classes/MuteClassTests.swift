import CallCore
import Testing

/// Sound that leaves although the user has muted the call.
@Suite struct MuteClassTests {
  @Test func `class 3 - a mute before the connection is up is in force when media leave`() throws {
    try proves(
      .muteCompletesLate, breaks: "mute",
      by: Provocation(
        length: "8s",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 2s, do: alice.mute }
            - { at: 3s, do: bob.accept }
          """))
  }

  @Test func `class 8 - a muted side stays silent through the restart of the other`() throws {
    try proves(
      .muteLostInRenegotiation, breaks: "mute",
      by: Provocation(
        length: "12s",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 6s, do: alice.mute }
            - { at: 8s, do: bob.ice-restart }
          """))
  }

  @Test func `class 8 - with real sound the energy of the source tells`() throws {
    let provocation = Provocation(
      rest: "media: real", length: "12s",
      timeline: """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
          - { at: 6s, do: alice.mute }
          - { at: 8s, do: bob.ice-restart }
        """)
    try proves(.muteLostInRenegotiation, breaks: "mute", by: provocation)
  }

  @Test func `who mutes a call that crosses another is muted in the one that goes on`() throws {
    let provocation = Provocation(
      length: "8s",
      timeline: """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 1s, do: bob.call, to: alice }
          - { at: 1s, do: alice.mute }
        """)
    #expect(try provocation.violations().isEmpty)
  }
}
