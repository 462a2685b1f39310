import Testing

@testable import Profiles

@Suite struct VonageSignalTests {
  @Test func `a type has up to 128 letters, digits and three signs`() {
    #expect(VonageSignal(type: "", data: "").problem == nil)
    #expect(VonageSignal(type: "chat-2_x~", data: "").problem == nil)
    #expect(VonageSignal(type: String(repeating: "a", count: 128), data: "").problem == nil)
    #expect(VonageSignal(type: String(repeating: "a", count: 129), data: "").problem == "1461")
  }

  @Test(arguments: ["a b", "é", "a.b", "a/b", "\u{0}"])
  func `another letter makes a type invalid`(_ type: String) {
    #expect(VonageSignal(type: type, data: "").problem == "1461")
  }

  @Test func `data has up to 8 KB, in bytes`() {
    #expect(VonageSignal(type: "", data: String(repeating: "x", count: 8_192)).problem == nil)
    #expect(VonageSignal(type: "", data: String(repeating: "é", count: 4_097)).problem == "1413")
  }
}
