import CallCore
import TURN
import Testing

@Suite struct CredentialTests {
  @Test func `time-limited credentials match the published vectors`() {
    let expiry = WallClock().unixSeconds(at: .zero)
    let named = TURNCredentials.timeLimited(secret: "callsim-secret", user: "alice", expiry: expiry)
    #expect(named == TURNCredentials(username: "1767225600:alice", password: "cKsoCBFARPS7CI3opSSyZFMY3VY="))
    let bare = TURNCredentials.timeLimited(secret: "callsim-secret", expiry: expiry)
    #expect(bare == TURNCredentials(username: "1767225600", password: "oTZ4Ekg0EXJblMfxLz/vMZYpeXM="))
  }

  @Test func `the separator is configurable`() {
    let credentials = TURNCredentials.timeLimited(secret: "s", user: "alice", expiry: 5, separator: "-")
    #expect(credentials.username == "5-alice")
  }
}
