import Testing

@testable import SDP

/// Formats that serve others are never what a section is negotiated for.
@Suite struct CodecRoleTests {
  private static let opus = CodecCapability.opus
  private static let red = CodecCapability("red", clockRate: 48_000, channels: 2, preferredPayloadType: 63)
  private static let events = CodecCapability(
    "telephone-event", clockRate: 48_000, parameters: ["0-15": ""], preferredPayloadType: 110)
  private static let noise = CodecCapability("CN", clockRate: 8_000)

  @Test(arguments: [
    ("opus", CodecRole.media), ("RED", .redundancy), ("ulpfec", .repair), ("flexfec-03", .repair),
    ("CN", .comfortNoise), ("telephone-event", .events),
  ])
  func `a format's name says what it is for`(name: String, role: CodecRole) {
    #expect(CodecCapability(name, clockRate: 48_000).role == role)
  }

  @Test func `retransmission is of a payload type`() throws {
    let recorded = try Recorded.chromiumOffer.parsed
    let codecs = recorded.media.flatMap(\.codecs)
    for codec in codecs where codec.name == "rtx" {
      guard case .retransmission(let other) = codec.role else {
        Issue.record("\(codec.payloadType) is \(codec.role)")
        continue
      }
      #expect(codecs.contains { $0.payloadType == other && $0.role == .media || $0.name == "red" })
    }
  }

  @Test(arguments: [true, false])
  func `a helper that comes first is not the codec that is sent`(offers: Bool) throws {
    let helpersFirst = [Self.red, Self.events, Self.noise, Self.opus]
    var a = Side("a", audio: offers ? helpersFirst : [Self.opus])
    var b = Side("b", audio: helpersFirst)
    try a.add(.audio, "microphone")
    try b.add(.audio, "microphone")
    try negotiate(&a, &b)
    for media in [a.session.media[0], b.session.media[0]] {
      #expect(media.sendCodecs.map(\.name) == ["opus"] && media.receiveCodecs.map(\.name) == ["opus"])
      #expect(Set(media.sendHelpers.map(\.name)) == (offers ? ["red", "telephone-event", "CN"] : []))
    }
  }

  @Test func `redundancy names the codec that it is of, by the offerer's numbers`() throws {
    var a = Side("a", audio: [Self.opus, Self.red])
    var b = Side("b", audio: [Self.red, Self.opus])
    try a.add(.audio, "microphone")
    let offer = try a.offer()
    #expect(offer.media[0].attributes.values("fmtp").contains("63 111/111"))
    try b.session.setRemoteDescription(.offer, offer)
    let answer = try b.answer()
    #expect(answer.media[0].attributes.values("fmtp").contains("63 111/111"))
  }

  @Test func `a section with helpers alone in common is rejected`() throws {
    var a = Side("a", audio: [Self.opus, Self.events])
    var b = Side("b", audio: [CodecCapability("PCMU", clockRate: 8_000), Self.events])
    try a.add(.audio, "microphone")
    try b.session.setRemoteDescription(.offer, try a.offer())
    let answer = try b.answer()
    #expect(answer.media[0].isRejected)
  }

  @Test(
    arguments: [
      (nil, true, true), (.sendrecv, true, true), (.sendonly, true, false), (.recvonly, false, true),
      (.inactive, false, false),
    ] as [(MediaDirection?, Bool, Bool)])
  func `a header extension has a number only in the directions that it is for`(
    direction: MediaDirection?, sends: Bool, receives: Bool
  ) throws {
    var a = Side("a")
    var b = Side("b")
    try a.add(.audio, "microphone")
    try b.add(.audio, "microphone")
    let offer = try a.offer()
    try b.session.setRemoteDescription(.offer, offer)
    var answer = try b.answer()
    let entry = try #require(answer.media[0].attributes.headerExtensions.first { $0.uri == URN.mid })
    // The answerer's directions are the other side's reversed.
    answer.media[0].attributes.removeAll("extmap")
    answer.media[0].attributes.append(
      "extmap", HeaderExtension(id: entry.id, direction: direction?.reversed, uri: entry.uri).text)
    try a.session.setRemoteDescription(.answer, answer)
    let media = a.session.media[0]
    #expect(media.extensionID(URN.mid, sending: true) == (sends ? UInt8(exactly: entry.id) : nil))
    #expect(media.extensionID(URN.mid, sending: false) == (receives ? UInt8(exactly: entry.id) : nil))
    #expect(media.extensionID("urn:none", sending: true) == nil)
  }
}
