import Testing

@testable import ScenarioSuite

/// Formats of sound and pictures that an arm prefers and the other side does not take.
@Suite struct UntakenFormatsTests {
  private static func lines(_ arms: String) throws -> [String] {
    let text = Compared.text(arms, measure: "[bob.q.mos]", media: "synthetic")
    return CodecNotes(try #require(Compared.points(text).first)).lines
  }

  private static let red =
    "'b': alice prefers red, and sends no sound in it: the other side does not take it, or prefers another"

  @Test func `redundancy that the other side does not take is told`() throws {
    #expect(try Self.lines("{ a: {}, b: { alice.audio.codecs: [red, opus] } }") == [Self.red])
  }

  @Test func `a codec that the other side does not have is told`() throws {
    let lines = try Self.lines("{ a: {}, b: { alice.audio: { codecs: [G722, opus] } } }")
    #expect(
      lines == [
        "'b': alice prefers G722, and sends no sound in it: the other side does not take it, or prefers another"
      ])
  }

  @Test func `what is taken is not told, nor what no arm changes`() throws {
    let taken = "{ a: {}, b: { alice.audio.codecs: [red, opus], bob.audio.codecs: [opus, red] } }"
    #expect(try Self.lines(taken).isEmpty)
    let everywhere =
      "{ a: { alice.audio.codecs: [red, opus] }, b: { alice.audio: { codecs: [red, opus], ptime: 60ms } } }"
    #expect(try Self.lines(everywhere).isEmpty)
  }

  @Test func `a codec that a later offer of the server leaves is told`() throws {
    let text = """
      callsim: 1
      id: t
      media: synthetic
      compare:
        arms: { opus: {}, g711: { alice.audio.codecs: [PCMU, opus] } }
        measure: [bob.q.mos]
      peers:
        alice: { profile: vonage, network: home }
        bob: { profile: vonage, network: home, audio: { codecs: [opus, PCMU] } }
      timeline:
        - { at: 500ms, do: bob.connect, session: pair }
        - { at: 500ms, do: alice.connect, session: pair }
        - { id: bye, at: 8s, do: alice.disconnect }
      expect: invariants
      """
    let lines = CodecNotes(try #require(Compared.points(text, seeds: 1).first)).lines
    #expect(lines.count == 1 && lines[0].hasPrefix("'g711': alice"), "\(lines)")
    #expect(lines[0].contains(" prefers PCMU, and sends "), "\(lines)")
  }

  @Test func `a codec of pictures that the other side does not take is told`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.video.codecs: [AV1, VP8] } }", measure: "[bob.q.mos]", media: "synthetic"
    ).replacing(
      "peers: { alice: { profile: knotos }, bob: { profile: knotos } }",
      with:
        "peers: { alice: { profile: knotos, video: { codecs: [VP8] } }, bob: { profile: knotos, video: { codecs: [VP8] } } }"
    )
    let lines = CodecNotes(try #require(Compared.points(text).first)).lines
    #expect(
      lines == [
        "'b': alice prefers AV1, and sends no pictures in it: the other side does not take it, or prefers another"
      ])
  }

  /// Alice sends sound to two others, of which the arms let one, or both, take redundancy.
  private static let mesh = """
    callsim: 1
    id: t
    media: synthetic
    compare:
      arms:
        one: { bob.audio.codecs: [opus, red] }
        both: { bob.audio.codecs: [opus, red], carol.audio.codecs: [opus, red] }
      measure: [carol.to.alice.q.concealment]
    peers:
      alice: { profile: connectycube, network: wifi, audio: { codecs: [red, opus] } }
      bob: { profile: connectycube, network: wifi }
      carol: { profile: connectycube, network: wifi }
    timeline:
      - { at: 1s, do: alice.call, to: [bob, carol] }
      - { at: 2s, do: bob.accept }
      - { at: 2s, do: carol.accept }
      - { id: bye, at: 5s, do: alice.hangup }
    expect: invariants
    """

  @Test func `each connection of a mesh has its own formats`() throws {
    let point = try #require(Compared.points(Self.mesh).first)
    #expect(!point.sendAlike("one", "both"))
    #expect(
      CodecNotes(point).lines == [
        "'one': alice.to.carol prefers red, and sends no sound in it: the other side does not take it, or prefers another"
      ])
  }

  @Test func `without a list the numbers are those of each connection`() throws {
    let text = Self.mesh.replacing("  measure: [carol.to.alice.q.concealment]\n", with: "")
    let names = try #require(Compared.points(text, seeds: 1).first).numbers.map(\.name)
    #expect(names.contains("alice.to.carol.q.mos mean") && names.contains("carol.to.alice.q.mos mean"), "\(names)")
  }
}
