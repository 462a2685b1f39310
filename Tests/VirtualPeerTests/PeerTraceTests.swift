import CallCore
import Testing
import Vocabulary

@testable import VirtualPeer

/// An app says what its vocabulary declares, and nothing else.
@Suite struct PeerTraceTests {
  private static let messages = [
    MessageDeclaration("offer", .both, "", provenance: .harnessDefault),
    MessageDeclaration("hello", .clientToServer, "", provenance: .harnessDefault),
    MessageDeclaration("welcome", .serverToClient, "", provenance: .harnessDefault),
  ]

  private static func trace() -> PeerTrace {
    let values = [
      ValueDeclaration("muted", .flag, ""), ValueDeclaration("mood", .choice(["good", "bad"]), ""),
      ValueDeclaration("rings", .count, ""), ValueDeclaration("name", .text, ""),
    ]
    return PeerTrace(
      trace: Trace(), peer: "alice",
      vocabulary: ProfileVocabulary(
        profile: "small", summary: "", machines: [], actions: [], messages: messages, values: values))
  }

  @Test func `a declared value is set, of the app's own and of every peer's`() {
    let trace = Self.trace()
    trace.set("muted", true)
    trace.set("mood", "bad")
    trace.set("rings", 3)
    trace.set("name", "anything")
    trace.set("user.accepted", true)
    trace.begin(call: "a1", with: "bob")
  }

  @Test func `a user is written as the only peer that has the user id`() {
    let written = Trace()
    let trace = PeerTrace(
      trace: written, peer: "alice",
      vocabulary: ProfileVocabulary(profile: "small", summary: "", machines: [], actions: [], messages: Self.messages),
      peers: PeerNames([
        "alice": "1001", "bob": "1002", "phone": "carl", "tablet": "carl", "dora": "erik", "erik": "dora",
      ]))
    var named: [String?] = []
    written.listen(to: PeerEvents.callPeer) { _, peer in named.append(peer) }
    written.listen(to: ServerEvents.messageSent) { _, _, peer, _ in named.append(peer) }
    written.listen(to: ServerEvents.messageReceived) { _, _, peer in named.append(peer) }
    let words = ["1002": "bob", "carl": "carl", "dora": "erik", "erik": "dora", "mallory": "mallory"]
    for user in words.keys.sorted() {
      named = []
      trace.begin(call: "a1", with: user)
      trace.signalSent(type: "offer", to: user, isLost: false)
      trace.signalReceived(type: "answer", from: user)
      #expect(named == Array(repeating: words[user], count: 3))
    }
  }

  @Test func `a value that nobody declared traps`() async {
    await #expect(processExitsWith: .failure) { PeerTraceTests.trace().set("mute", true) }
  }

  @Test func `a value of another type than declared traps`() async {
    await #expect(processExitsWith: .failure) { PeerTraceTests.trace().set("muted", "true") }
    await #expect(processExitsWith: .failure) { PeerTraceTests.trace().set("rings", false) }
    await #expect(processExitsWith: .failure) { PeerTraceTests.trace().set("name", 1) }
  }

  @Test func `a word that the value does not have traps`() async {
    await #expect(processExitsWith: .failure) { PeerTraceTests.trace().set("mood", "middling") }
  }

  @Test func `whatever is sent traps nobody: the server's end finds what does not fit`() {
    for type in ["hello", "offer", "offfer", "welcome"] {
      Self.trace().signalSent(type: type, to: "bob", isLost: false)
    }
  }

  @Test func `whatever others send is received`() {
    for type in ["offer", "hello", "", "call_dance"] { Self.trace().signalReceived(type: type, from: "mallory") }
  }
}
