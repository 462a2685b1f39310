import Testing

@testable import SDP

/// The offers and answers of RFC 9429 section 7.
struct JSEPExampleTests {
  static let examples = Examples.jsep
  static let exchanges = ["A1", "B1", "B2", "C1", "C2"]
  private let streamID = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"

  private func exchange(_ name: String) throws -> (offer: SessionDescription, answer: SessionDescription) {
    (try Self.examples.parsed("offer-" + name), try Self.examples.parsed("answer-" + name))
  }

  /// A side that can do what the example's user agents can.
  private func side() -> Side {
    var vp8 = CodecCapability.vp8
    vp8.feedback = [.fullIntraRequest, .nack, .pictureLoss]
    return Side(
      "B", audio: [.opus, .pcmu, .pcma] + CodecCapability.telephoneEvents, video: [vp8, .h264],
      extensions: [URN.mid, URN.audioLevel, streamID])
  }

  @Test(arguments: examples.names)
  func `a description of the RFC survives reading and writing byte for byte`(_ name: String) throws {
    let text = Self.examples.text(name)
    let description = try SessionDescription(parsing: text)
    #expect(description.text == text)
    try description.checkAsRemote()
  }

  @Test(arguments: exchanges)
  func `an answer of the RFC answers its offer`(_ name: String) throws {
    let (offer, answer) = try exchange(name)
    try answer.checkAnswers(offer)
    let pair = DescriptionPair(local: offer, remote: answer, isLocalOffer: true)
    for index in offer.media.indices where offer.media[index].kind != nil {
      let media = pair.media(at: index, mid: "", transceiver: .init(number: 0))
      #expect(media?.sendCodecs.first?.name == (media?.kind == .audio ? "opus" : "VP8"))
      #expect(media?.sendCodecs.first?.retransmissionPayloadType == (media?.kind == .audio ? nil : 102))
      #expect(media?.headerExtensions.map(\.id) == (media?.kind == .audio ? [1, 2] : [1, 3]))
    }
  }

  @Test(arguments: exchanges)
  func `an offer of the RFC is answered with its formats, mids and extensions`(_ name: String) throws {
    let (offer, wanted) = try exchange(name)
    var side = side()
    for (index, section) in wanted.media.enumerated() {
      guard let kind = section.kind else { continue }
      let id = try side.add(kind, "track\(index)")
      try side.session.setDirection(wanted.direction(of: section), of: id)
    }
    try side.session.setRemoteDescription(.offer, offer)
    let answer = try side.answer()
    #expect(answer.media.map(\.mid) == wanted.media.map(\.mid))
    // We have no data channels, so that section is rejected and leaves the group.
    #expect(answer.bundle == wanted.bundle.filter { $0 != "d1" })
    for (ours, theirs) in zip(answer.media, wanted.media) where theirs.kind != nil {
      #expect(ours.port != 0)
      #expect(Set(ours.formats) == Set(theirs.formats))
      #expect(ours.attributes.rtpMaps.count == theirs.attributes.rtpMaps.count)
      #expect(Set(ours.attributes.rtpMaps).isSubset(of: theirs.attributes.rtpMaps))
      #expect(ours.attributes.headerExtensions == theirs.attributes.headerExtensions)
      #expect(answer.direction(of: ours) == wanted.direction(of: theirs))
    }
    #expect(side.session.transport?.setup == .active)
    #expect(side.session.media.count == wanted.media.count { $0.kind != nil })
  }

  @Test func `the transport is the one of the first bundled section`() throws {
    var side = side()
    try side.add(.audio, "mic")
    try side.session.setRemoteDescription(.offer, try Self.examples.parsed("offer-A1"))
    _ = try side.answer()
    let remote = try #require(side.session.transport?.remote)
    #expect(remote.usernameFragment == "ETEn" && remote.password == "OtSK0WpNtpUjkY4+86js7ZQl")
    #expect(remote.options == ["trickle", "ice2"])
    #expect(remote.candidates.count == 2 && remote.endOfCandidates)
  }

  /// RFC 9143 section 7.1.3: `rtcp-mux` stands, like the rest of the transport, in the tagged section alone.
  @Test func `a bundled section without rtcp-mux has the one of its group`() throws {
    let answer = try Self.examples.parsed("answer-A1")
    #expect(answer.media[1].mid == "v1" && !answer.media[1].attributes.contains("rtcp-mux"))
    try answer.checkAnswers(try Self.examples.parsed("offer-A1"))
    var without = answer
    without.media[0].attributes.removeAll("rtcp-mux")
    #expect(throws: JSEPError.missingRTCPMux(mLineIndex: 0)) {
      try without.checkAnswers(try Self.examples.parsed("offer-A1"))
    }
  }
}
