import Testing

@testable import SDP

/// Every exchange of RFC 4317.
///
/// The RFC predates WebRTC, so what is compared is what both have: sections, codecs and directions.
struct OfferAnswerExampleTests {
  static let examples = Examples.offerAnswer
  static let exchanges = examples.names.filter { $0.hasSuffix("offer") }

  private func exchange(_ name: String) throws -> (offer: SessionDescription, answer: SessionDescription) {
    let answer = String(name.dropLast("offer".count)) + "answer"
    return (
      try Self.examples.parsed(name).onOneTransport(setup: .actpass),
      try Self.examples.parsed(answer).onOneTransport(setup: .active)
    )
  }

  @Test func `the RFC's 54 descriptions are all there`() {
    #expect(Self.examples.names.count == 54)
    #expect(Self.exchanges.count == 27)
  }

  @Test(arguments: examples.names)
  func `a description of the RFC survives reading and writing byte for byte`(_ name: String) throws {
    #expect(try Self.examples.parsed(name).text == Self.examples.text(name))
  }

  @Test(arguments: exchanges)
  func `asked for what the RFC's answerer takes, we answer as it does`(_ name: String) throws {
    let (offer, wanted) = try exchange(name)
    var side = try answerer(like: wanted)
    try side.session.setRemoteDescription(.offer, offer)
    let answer = try side.answer()
    #expect(answer.media.map(\.type) == wanted.media.map(\.type))
    #expect(answer.media.map { $0.port == 0 } == wanted.media.map { $0.port == 0 })
    for index in wanted.media.indices where wanted.media[index].port != 0 {
      let (ours, theirs, offered) = (answer.media[index], wanted.media[index], offer.media[index])
      // In 3.2 the answerer repeats its first offer, which says more than an answer may: only what both name counts.
      let shared = theirs.codecs.map(\.identity).filter(offered.codecs.map(\.identity).contains)
      #expect(ours.codecs.map(\.identity) == shared)
      #expect(ours.formats == offered.codecs.filter { shared.contains($0.identity) }.map { "\($0.payloadType)" })
      let direction = wanted.direction(of: theirs).intersection(offer.direction(of: offered).reversed)
      #expect(answer.direction(of: ours) == direction)
    }
  }

  /// A side that can and wants what made `answer`.
  private func answerer(like answer: SessionDescription) throws -> Side {
    func codecs(_ kind: MediaKind) -> [CodecCapability] {
      var all: [CodecCapability] = []
      for section in answer.media where section.kind == kind && section.port != 0 {
        for codec in section.codecs.map(CodecCapability.init) where !all.contains(codec) { all.append(codec) }
      }
      return all
    }
    var side = Side("B", audio: codecs(.audio), video: codecs(.video))
    for (index, section) in answer.media.enumerated() {
      guard let kind = section.kind else { continue }
      let id = try side.add(kind, "track\(index)")
      try side.session.setDirection(answer.direction(of: section), of: id)
    }
    return side
  }

  @Test(arguments: exchanges)
  func `both sides of an exchange settle on the same codecs and opposite directions`(_ name: String) throws {
    let (offer, answer) = try exchange(name)
    try answer.checkAsRemote()
    try answer.checkAnswers(offer)
    let offerer = DescriptionPair(local: offer, remote: answer, isLocalOffer: true)
    let answerer = DescriptionPair(local: answer, remote: offer, isLocalOffer: false)
    for index in offer.media.indices {
      let ours = offerer.media(at: index, mid: "", transceiver: .init(number: 0))
      let theirs = answerer.media(at: index, mid: "", transceiver: .init(number: 0))
      #expect((ours == nil) == (answer.media[index].port == 0))
      #expect(ours?.sendCodecs.map(\.name) == theirs?.receiveCodecs.map(\.name))
      #expect(ours?.sendCodecs.map(\.payloadType) == theirs?.receiveCodecs.map(\.payloadType))
      #expect(ours?.receiveCodecs.map(\.payloadType) == theirs?.sendCodecs.map(\.payloadType))
      #expect(ours?.direction == theirs?.direction.reversed)
    }
  }

  @Test func `2_3 - a renumbered codec is sent by the answer's number and received by the offer's`() throws {
    let (offer, answer) = try exchange("2.3 offer")
    let pair = DescriptionPair(local: offer, remote: answer, isLocalOffer: true)
    let audio = pair.media(at: 0, mid: "", transceiver: .init(number: 0))
    #expect(audio?.sendCodecs.map(\.payloadType) == [99] && audio?.receiveCodecs.map(\.payloadType) == [97])
  }

  @Test(arguments: [
    ("2.1 offer", ["PCMU", "MPV"]), ("2.2 offer", ["PCMU PCMA", ""]), ("2.2 second offer", ["PCMU", ""]),
    ("2.6 offer", ["", "iLBC telephone-event"]), ("2.7 second offer", ["iLBC", "H261 MPV"]),
    ("4.1 second offer", ["iLBC", "telephone-event"]), ("4.3 second offer", ["iLBC", ""]),
  ])
  func `the codecs in use are those the RFC's text names`(_ name: String, _ codecs: [String]) throws {
    let (offer, answer) = try exchange(name)
    let pair = DescriptionPair(local: offer, remote: answer, isLocalOffer: true)
    let names = offer.media.indices.map { index in
      let media = pair.media(at: index, mid: "", transceiver: .init(number: 0))
      return media.map { ($0.sendCodecs + $0.sendHelpers).map(\.name).joined(separator: " ") } ?? ""
    }
    #expect(names == codecs)
  }

  @Test(arguments: [
    ("3.1 offer", MediaDirection.recvonly), ("3.1 second offer", .sendrecv), ("3.2 second offer", .sendonly),
  ])
  func `hold and unhold turn the offerer's direction`(_ name: String, _ direction: MediaDirection) throws {
    let (offer, answer) = try exchange(name)
    #expect(DescriptionPair(local: offer, remote: answer, isLocalOffer: true).direction(at: 0) == direction)
  }

  @Test(arguments: exchanges.filter { $0 != "5.1 offer" })
  func `without ICE, DTLS and multiplexed RTCP an offer is no WebRTC offer`(_ name: String) throws {
    var side = Side("B", audio: [.pcmu], video: [])
    #expect(throws: JSEPError.missingICECredentials(mLineIndex: 0)) {
      try side.session.setRemoteDescription(.offer, try Self.examples.parsed(name))
    }
    #expect(side.session.signalingState == .stable)
  }
}
