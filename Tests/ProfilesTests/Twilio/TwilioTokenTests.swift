import CallCore
import Testing

@testable import Profiles

@Suite struct TwilioTokenTests {
  private func check(_ kind: TwilioToken.Kind, after seconds: Int64 = 0, room: String? = "daily") -> String? {
    let token = TwilioToken.text(kind, identity: "alice", room: "daily", validFor: .minutes(1), at: 1_000)
    return TwilioToken.check(token, room: room, at: 1_000 + seconds).code
  }

  @Test func `a token has the identity, for its room and its time`() {
    let token = TwilioToken.text(.valid, identity: "alice", room: "daily", validFor: .minutes(1), at: 1_000)
    #expect(TwilioToken.check(token, room: "daily", at: 1_059).identity == "alice")
    #expect(check(.valid, after: 60) == "20104")
    #expect(check(.valid, after: -1) == "20105")
    #expect(check(.valid, room: "weekly") == "20106")
  }

  @Test(arguments: [
    (TwilioToken.Kind.malformed, "20101"), (.header, "20102"), (.issuer, "20103"), (.expired, "20104"),
    (.early, "20105"), (.grants, "20106"), (.signature, "20107"),
  ])
  func `each fault of a token has its code`(_ kind: TwilioToken.Kind, _ code: String) {
    #expect(check(kind) == code)
  }

  @Test func `a token whose claims were changed is refused`() {
    let token = TwilioToken.text(.valid, identity: "alice", room: "daily", validFor: .minutes(1), at: 1_000)
    let changed = token.split(separator: "alice").joined(separator: "mallory")
    #expect(TwilioToken.check(changed, room: "daily", at: 1_000).code == "20107")
  }
}
