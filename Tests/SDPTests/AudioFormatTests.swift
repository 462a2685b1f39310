import Testing

@testable import SDP

/// Audio formats beside Opus: static payload types, formats that assist, and numbers that differ.
@Suite struct AudioFormatTests {
  static let pcmu = CodecCapability("PCMU", clockRate: 8_000)
  static let g722 = CodecCapability("G722", clockRate: 8_000)
  static let red = CodecCapability("red", clockRate: 48_000, channels: 2, preferredPayloadType: 63)
  static let noise = CodecCapability("CN", clockRate: 8_000)
  static let events = [
    CodecCapability("telephone-event", clockRate: 48_000, preferredPayloadType: 110),
    CodecCapability("telephone-event", clockRate: 8_000, preferredPayloadType: 126),
  ]
  static let all = [.opus, red, g722, pcmu, noise] + events

  /// Two sides with a microphone each; `change` alters the offer on its way.
  func call(
    _ ours: [CodecCapability], _ theirs: [CodecCapability],
    change: (SessionDescription) throws -> SessionDescription = { $0 }
  ) throws -> (ours: NegotiatedMedia?, theirs: NegotiatedMedia?) {
    var a = Side("A", audio: ours)
    var b = Side("B", audio: theirs)
    try a.add(.audio, "a")
    try b.add(.audio, "b")
    try b.session.setRemoteDescription(.offer, try change(try a.offer()))
    try a.session.setRemoteDescription(.answer, try b.answer())
    return (a.session.media.first, b.session.media.first)
  }

  @Test func `the formats have their static and preferred payload types`() throws {
    var side = Side("A", audio: Self.all)
    try side.add(.audio, "a")
    #expect(try side.offer().media[0].formats == ["111", "63", "9", "0", "13", "110", "126"])
  }

  @Test func `helper formats are told apart, and red holds the first codec`() throws {
    let (ours, theirs) = try call(Self.all, Self.all)
    #expect(ours?.sendCodecs.map(\.name) == ["opus", "G722", "PCMU"])
    #expect(ours?.sendHelpers.map(\.name) == ["red", "CN", "telephone-event", "telephone-event"])
    #expect(theirs?.receiveHelpers.map(\.payloadType) == [63, 13, 110, 126])
    #expect(ours?.sendHelpers.first?.parameters.text == "111/111")
  }

  @Test func `static payload types are known without a map`() throws {
    let (ours, theirs) = try call([Self.pcmu, Self.noise], Self.all) { offer in
      try offer.replacing("a=rtpmap:0 PCMU/8000\r\n", with: "").replacing("a=rtpmap:13 CN/8000\r\n", with: "")
    }
    #expect(ours?.sendCodecs.map(\.payloadType) == [0] && theirs?.sendHelpers.map(\.payloadType) == [13])
  }

  @Test func `formats that assist alone do not make a section`() throws {
    let (ours, theirs) = try call([Self.g722] + Self.events, [Self.pcmu] + Self.events)
    #expect(ours == nil && theirs == nil)
  }

  @Test func `each direction has the payload types of its receiver`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "a")
    try b.add(.audio, "b")
    try b.session.setRemoteDescription(.offer, try a.offer())
    var answer = try b.answer()
    // An answerer may receive under other numbers (RFC 3264 section 6.1).
    answer.media[0].formats = ["120"]
    answer = try SessionDescription(
      parsing: answer.text.split(separator: "\r\n").map { $0.replacing(":111 ", with: ":120 ") + "\r\n" }.joined())
    try a.session.setRemoteDescription(.answer, answer)
    let media = try #require(a.session.media.first)
    #expect(media.sendCodecs.map(\.payloadType) == [120] && media.receiveCodecs.map(\.payloadType) == [111])
  }
}
