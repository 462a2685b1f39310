import Testing

@testable import SDP

/// The order and the choice of codecs in offers and answers (RFC 9429 sections 4.2.6, 5.2.1, 5.3.1).
@Suite struct CodecPreferenceTests {
  private static let opus = CodecCapability.opus
  private static let pcmu = CodecCapability("PCMU", clockRate: 8_000)
  private static let red = CodecCapability("red", clockRate: 48_000, channels: 2, preferredPayloadType: 63)
  private static let all = [opus, red, pcmu]

  @Test(
    arguments: [
      (nil, ["opus", "red", "PCMU"]), ([pcmu, opus], ["PCMU", "opus"]), ([opus], ["opus"]),
      ([red, opus], ["red", "opus"]),
    ] as [([CodecCapability]?, [String])])
  func `an offer has the preferred codecs in their order`(preferred: [CodecCapability]?, names: [String]) throws {
    var side = Side("a", audio: Self.all)
    let id = try side.add(.audio, "microphone")
    try side.session.setCodecPreferences(preferred, of: id)
    let offer = try side.offer()
    #expect(offer.media[0].codecs.map(\.name) == names)
  }

  @Test func `an answer has the preferred codecs in their order, by the offer's numbers`() throws {
    var a = Side("a", audio: Self.all)
    var b = Side("b", audio: Self.all)
    try a.add(.audio, "microphone")
    let id = try b.add(.audio, "microphone")
    try b.session.setCodecPreferences([Self.pcmu, Self.opus], of: id)
    try b.session.setRemoteDescription(.offer, try a.offer())
    let answer = try b.answer()
    #expect(answer.media[0].formats == ["0", "111"])
    try a.session.setRemoteDescription(.answer, answer)
    let media = a.session.media
    #expect(media[0].sendCodecs.map(\.name) == ["PCMU", "opus"])
  }
}
