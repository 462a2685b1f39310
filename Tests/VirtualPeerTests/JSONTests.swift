import Testing
import VirtualPeer

@Suite struct JSONTests {
  @Test(arguments: [
    #"{"b":1,"a":[true,null,-2.5,"x"]}"#, #"[]"#, #"{}"#, #""é \" \\ \n""#, "-9223372036854775808", "0",
  ])
  func `text survives a round trip with the order of its members`(text: String) throws {
    #expect(try JSON(parsing: text.utf8).description == text)
  }

  @Test(arguments: [
    ("", JSONError.Reason.unexpectedEnd), ("[1,]", .unexpectedCharacter), ("{\"a\" 1}", .unexpectedCharacter),
    ("01", .badNumber), ("1e999", .badNumber), ("\"\\ud800\"", .unexpectedCharacter), ("\"\\x\"", .badEscape),
    ("1 2", .trailingCharacters), ("[", .unexpectedEnd), ("\"\u{01}\"", .unexpectedCharacter),
  ])
  func `malformed text names what is wrong`(text: String, reason: JSONError.Reason) {
    #expect {
      try JSON(parsing: text.utf8)
    } throws: { error in
      (error as? JSONError)?.reason == reason
    }
  }

  @Test func `nesting is limited`() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSONError.self) { try JSON(parsing: deep.utf8) }
  }

  @Test func `a surrogate pair is one scalar`() throws {
    #expect(try JSON(parsing: #""\ud83d\ude00""#.utf8) == .string("😀"))
  }
}
