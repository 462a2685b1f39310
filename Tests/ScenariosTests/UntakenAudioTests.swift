import Testing

@testable import ScenarioSuite

/// Formats of sound that an arm prefers and the other side does not take.
@Suite struct UntakenAudioTests {
  private static func lines(_ arms: String) throws -> [String] {
    let text = Compared.text(arms, measure: "[bob.q.mos]", media: "synthetic")
    return CodecNotes(try #require(Compared.points(text).first)).lines
  }

  private static let red = "'b': alice prefers red, and sends no sound in it: the other side does not take it"

  @Test func `redundancy that the other side does not take is told`() throws {
    #expect(try Self.lines("{ a: {}, b: { alice.audio.codecs: [red, opus] } }") == [Self.red])
  }

  @Test func `a codec that the other side does not have is told`() throws {
    let lines = try Self.lines("{ a: {}, b: { alice.audio: { codecs: [G722, opus] } } }")
    #expect(lines == ["'b': alice prefers G722, and sends no sound in it: the other side does not take it"])
  }

  @Test func `what is taken is not told, nor what no arm changes`() throws {
    let taken = "{ a: {}, b: { alice.audio.codecs: [red, opus], bob.audio.codecs: [opus, red] } }"
    #expect(try Self.lines(taken).isEmpty)
    let everywhere =
      "{ a: { alice.audio.codecs: [red, opus] }, b: { alice.audio: { codecs: [red, opus], ptime: 60ms } } }"
    #expect(try Self.lines(everywhere).isEmpty)
  }
}
