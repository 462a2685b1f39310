import Testing

@testable import Profiles

@Suite struct VonageTokenTests {
  private func token(_ kind: VonageToken.Kind, session: String = "daily", after seconds: Int64 = 0) -> VonageToken? {
    let text = VonageToken.text(kind, user: "alice", session: "daily", role: .moderator, at: 1_000)
    return VonageToken(text, session: session, at: 1_000 + seconds)
  }

  @Test func `a token gives its user a role in its session for a day`() {
    #expect(token(.valid)?.user == "alice" && token(.valid)?.role == .moderator)
    #expect(token(.valid, after: 86_399) != nil && token(.valid, after: 86_400) == nil)
    #expect(token(.valid, session: "weekly") == nil)
  }

  @Test(arguments: VonageToken.Kind.allCases.filter { $0 != .valid })
  func `a token with a fault is refused`(_ kind: VonageToken.Kind) { #expect(token(kind) == nil) }

  @Test func `a token whose claims were changed is refused`() {
    let text = VonageToken.text(.valid, user: "alice", session: "daily", role: .subscriber, at: 1_000)
    let changed = text.split(separator: "subscriber").joined(separator: "moderator")
    #expect(changed != text && VonageToken(changed, session: "daily", at: 1_000) == nil)
  }
}
