import Testing

@testable import SDP

/// Offers of real software, answered.
struct RecordedOfferTests {
  private func answer(
    _ recorded: Recorded, audio: [CodecCapability] = [.opus], video: [CodecCapability] = [.vp8]
  ) throws -> (offer: SessionDescription, answer: SessionDescription, media: [NegotiatedMedia], NegotiatedTransport?) {
    var side = Side("B", audio: audio, video: video)
    try side.add(.audio, "mic")
    try side.add(.video, "camera")
    let offer = try recorded.parsed
    try side.session.setRemoteDescription(.offer, offer)
    let answer = try side.answer()
    return (offer, answer, side.session.media, side.session.transport)
  }

  @Test(arguments: Recorded.offers)
  func `a real offer is answered section by section`(_ recorded: Recorded) throws {
    let (offer, answer, media, transport) = try answer(recorded)
    #expect(answer.media.map(\.mid) == offer.media.map(\.mid))
    #expect(answer.media.map(\.type) == offer.media.map(\.type))
    for (ours, theirs) in zip(answer.media, offer.media) {
      #expect(ours.port == (ours.type == "application" ? 0 : 9))
      guard let kind = ours.kind else { continue }
      #expect(ours.attributes.setup == .active)
      #expect(ours.attributes.contains("rtcp-mux"))
      #expect(ours.attributes.direction == .sendrecv)
      #expect(ours.attributes.contains("rtcp-rsize") == theirs.attributes.contains("rtcp-rsize"))
      let codec = try #require(ours.codecs.first)
      #expect(codec.name == (kind == .audio ? "opus" : "VP8"))
      let offered = try #require(theirs.codecs.first { $0.identity == codec.identity })
      #expect(codec.payloadType == offered.payloadType)
      #expect(Set(codec.feedback).isSubset(of: offered.feedback))
      #expect(Set(ours.attributes.headerExtensions).isSubset(of: theirs.attributes.headerExtensions))
    }
    #expect(media.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.audio, .video])
    #expect(transport?.setup == .active)
    #expect(transport?.mid == offer.bundle.first)
    #expect(answer.bundle == media.map(\.mid))
  }

  @Test func `Chromium's VP8 is taken with its retransmissions, feedback and extensions`() throws {
    let (_, _, media, transport) = try answer(.chromiumOfferGathered)
    let video = try #require(media.last?.sendCodecs.first)
    #expect(video.payloadType == 96 && video.retransmissionPayloadType == 97)
    #expect(Set(video.feedback) == [.nack, .pictureLoss, .fullIntraRequest, .transportCC, .remb])
    #expect(media.last?.headerExtensions.map(\.id).sorted() == [3, 4])
    #expect(transport?.remote.usernameFragment == "cnh5")
    #expect(transport?.remote.candidates.count == 2)
    #expect(transport?.remote.supportsTrickle == true)
  }

  @Test func `aiortc's missing trickle option and end of candidates are seen`() throws {
    let (_, _, media, transport) = try answer(.aiortcOffer)
    #expect(transport?.remote.supportsTrickle == false)
    #expect(transport?.remote.endOfCandidates == true)
    #expect(transport?.remote.fingerprints.map(\.algorithm) == ["sha-256", "sha-384", "sha-512"])
    #expect(media.first?.reducedSizeRTCP == false)
  }

  @Test func `GStreamer's bundled section with port zero lives, and upper-case OPUS is Opus`() throws {
    let (offer, answer, media, transport) = try answer(.gstreamerOffer)
    #expect(offer.media[1].port == 0 && answer.media[1].port == 9)
    #expect(!answer.media[1].attributes.contains("bundle-only"))
    #expect(media.last?.sendCodecs.first?.payloadType == 97)
    #expect(transport?.remote.candidates.count == 9)
  }

  @Test func `a bundle-only section outlives the rejected section that carries its transport`() throws {
    let (_, answer, media, transport) = try answer(.gstreamerOffer, video: [])
    #expect(answer.media.map(\.port) == [0, 9])
    #expect(answer.bundle == ["audio1"] && media.map(\.mid) == ["audio1"])
    #expect(transport?.remote.candidates.count == 9)
  }

  @Test func `a rejected data section keeps its place, formats and mid`() throws {
    let (_, answer, _, _) = try answer(.chromiumOffer)
    let data = answer.media[2]
    #expect(data.port == 0 && data.formats == ["webrtc-datachannel"] && data.mid == "2")
    #expect(data.transportProtocol == "UDP/DTLS/SCTP")
    #expect(!answer.bundle.contains("2"))
    // aiortc reads no answer that has a section without these.
    #expect(data.attributes.icePassword != nil && data.attributes.setup == .active)
  }

  @Test func `sections without a common codec are rejected in their places, be it all of them`() throws {
    let g729 = CodecCapability("G729", clockRate: 8_000)
    let (_, nothing, none, _) = try answer(.chromiumOffer, audio: [g729], video: [])
    #expect(nothing.media.map(\.port) == [0, 0, 0] && nothing.media.map(\.mid) == ["0", "1", "2"])
    #expect(nothing.bundle == [] && none.isEmpty)
    let (_, audioless, media, _) = try answer(.chromiumOffer, audio: [g729])
    #expect(audioless.media.map(\.port) == [0, 9, 0])
    #expect(audioless.bundle == ["1"] && media.map(\.kind) == [.video])
  }

  @Test(arguments: [
    (Recorded.chromiumOffer, Recorded.chromiumAnswer), (.aiortcOffer, .chromiumAnswerToAiortc),
  ])
  func `a real answer completes the offer it was made for`(_ offer: Recorded, _ answer: Recorded) throws {
    let pair = DescriptionPair(local: try offer.parsed, remote: try answer.parsed, isLocalOffer: true)
    try pair.answer.checkAsRemote()
    try pair.answer.checkAnswers(pair.offer)
    let media = pair.media(at: 0, mid: "0", transceiver: Transceiver.ID(number: 0))
    #expect(media?.sendCodecs.first?.name.lowercased() == "opus")
    #expect(media?.direction == .sendrecv)
  }
}
