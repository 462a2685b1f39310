import Testing

@testable import SDP

/// Sections of data channels.
@Suite struct DataSectionTests {
  private static let data = SCTPDescription(port: 5_000, maximumMessageSize: 262_144)

  private func side(_ name: Character, data: SCTPDescription? = data) -> Side { Side(name, data: data) }

  @Test func `a session without media offers data channels alone`() throws {
    var a = side("A")
    var b = side("B", data: SCTPDescription(port: 5_001, maximumMessageSize: 65_536))
    try a.session.addData()
    let offer = try a.offer()
    #expect(offer.media.map(\.text) == ["application 9 UDP/DTLS/SCTP webrtc-datachannel"])
    let section = offer.media[0]
    #expect(section.attributes.value("sctp-port") == "5000" && section.attributes.value("max-message-size") == "262144")
    #expect(section.attributes.setup == .actpass && section.attributes.icePassword != nil && offer.bundle == ["0"])
    #expect(!section.attributes.contains("rtcp-mux") && section.attributes.direction == nil)
    try b.session.setRemoteDescription(.offer, offer)
    try a.session.setRemoteDescription(.answer, try b.answer())
    let (left, right) = (a.session.data, b.session.data)
    #expect(left?.remote == SCTPDescription(port: 5_001, maximumMessageSize: 65_536) && left?.mLineIndex == 0)
    #expect(right?.remote == Self.data && right?.mid == "0")
    let (index, setup) = (a.session.transport?.mLineIndex, b.session.transport?.setup)
    #expect(index == 0 && setup == .active)
    let needed = a.session.negotiationNeeded || b.session.negotiationNeeded
    #expect(!needed)
  }

  @Test func `data channels come after audio and video, in the same bundle`() throws {
    var a = side("A")
    var b = side("B")
    try a.session.addData()
    try a.add(.audio, "mic")
    try a.add(.video, "camera")
    try negotiate(&a, &b)
    let offer = try a.description()
    #expect(offer.media.map(\.type) == ["audio", "video", "application"] && offer.bundle == ["0", "1", "2"])
    #expect(offer.media[2].port == 0 && offer.media[2].attributes.contains("bundle-only"))
    let answer = try b.description()
    #expect(answer.media.map(\.port) == [9, 9, 9] && answer.bundle == ["0", "1", "2"])
    let (index, sections) = (a.session.data?.mLineIndex, b.session.media.count)
    #expect(index == 2 && sections == 2)
  }

  @Test func `a channel in a call needs an offer, whose section stays in its place from then on`() throws {
    var a = side("A")
    var b = side("B")
    try a.add(.audio, "mic")
    try negotiate(&a, &b)
    let before = a.session.data
    #expect(before == nil)
    try b.session.addData()
    let needed = b.session.negotiationNeeded
    #expect(needed)
    try negotiate(&b, &a)
    let (first, stillNeeded) = (a.session.data?.mLineIndex, b.session.negotiationNeeded)
    #expect(first == 1 && !stillNeeded)
    try a.add(.video, "camera")
    try negotiate(&a, &b)
    let offer = try a.description()
    #expect(offer.media.map(\.type) == ["audio", "application", "video"] && offer.media[1].port == 9)
    let places = [a.session.data?.mLineIndex, b.session.data?.mLineIndex]
    #expect(places == [1, 1])
  }

  @Test func `a peer without data channels rejects the section, which the next channel gets again`() throws {
    var a = side("A")
    var b = side("B", data: nil)
    try a.add(.audio, "mic")
    try a.session.addData()
    try negotiate(&a, &b)
    let (data, isWanted, needed) = (a.session.data, a.session.wantsData, a.session.negotiationNeeded)
    #expect(data == nil && !isWanted && !needed)
    let answer = try b.description()
    #expect(answer.media.map(\.port) == [9, 0] && answer.bundle == ["0"])
    let later = try a.offer()
    #expect(later.media.map(\.port) == [9, 0])
    try b.session.setRemoteDescription(.offer, later)
    try a.session.setRemoteDescription(.answer, try b.answer())
    try a.session.addData()
    let neededAgain = a.session.negotiationNeeded
    #expect(neededAgain)
    let again = try a.offer()
    #expect(again.media.count == 2 && again.media[1].dataForm == .standard && again.bundle.count == 2)
  }

  @Test func `a stack without data channels offers none`() throws {
    var a = side("A", data: nil)
    var refusal: JSEPError?
    do throws(JSEPError) { try a.session.addData() } catch { refusal = error }
    #expect(refusal == .dataUnsupported)
  }

  @Test func `an offer that rejects the section ends the data channels`() throws {
    var a = side("A")
    var b = side("B")
    try a.add(.audio, "mic")
    try a.session.addData()
    try negotiate(&a, &b)
    var offer = try a.session.createOffer(a.parameters)
    offer.media[1].port = 0
    offer.attributes.set("group", "BUNDLE 0")
    try b.session.setRemoteDescription(.offer, offer)
    let answer = try b.answer()
    let (data, isWanted) = (b.session.data, b.session.wantsData)
    #expect(answer.media.map(\.port) == [9, 0] && data == nil && !isWanted)
  }

  @Test func `a rollback of the first offer with data channels keeps the wish for them`() throws {
    var a = side("A")
    try a.session.addData()
    _ = try a.offer()
    try a.session.rollback()
    let (data, needed) = (a.session.data, a.session.negotiationNeeded)
    #expect(data == nil && needed)
    let offer = try a.offer()
    #expect(offer.media.map(\.type) == ["application"])
  }

  @Test func `a rollback of a remote offer with data channels leaves no section behind`() throws {
    var a = side("A")
    var b = side("B")
    try a.session.addData()
    try b.session.setRemoteDescription(.offer, try a.offer())
    try b.session.rollback()
    try b.add(.audio, "mic")
    let offer = try b.offer()
    #expect(offer.media.map(\.type) == ["audio"])
  }

  @Test func `only the first of two sections of data channels is accepted`() throws {
    var a = side("A")
    var b = side("B")
    try a.session.addData()
    var offer = try a.offer()
    var second = offer.media[0]
    second.attributes.set("mid", "1")
    offer.media.append(second)
    offer.attributes.set("group", "BUNDLE 0 1")
    try b.session.setRemoteDescription(.offer, offer)
    let answer = try b.answer()
    #expect(answer.media.map(\.port) == [9, 0])
  }

  @Test(arguments: [
    ("UDP/DTLS/SCTP", "webrtc-datachannel", "a=sctp-port:0"), ("UDP/DTLS/SCTP", "5000", "a=sctp-port:5000"),
    ("DTLS/SCTP", "5000", "a=sctpmap:5001 webrtc-datachannel 1024"), ("DTLS/SCTP", "5000", "a=sctpmap:5000 other 1"),
    ("DTLS/SCTP", "70000", "a=sctpmap:70000 webrtc-datachannel 1"), ("TCP/MSRP", "*", "a=sctp-port:5000"),
  ])
  func `a section that describes no association is rejected`(
    _ transportProtocol: String, _ format: String, _ attribute: String
  ) throws {
    var a = side("A")
    var b = side("B")
    try a.session.addData()
    let offer = try a.offer().replacing("UDP/DTLS/SCTP webrtc-datachannel", with: "\(transportProtocol) \(format)")
      .replacing("a=sctp-port:5000", with: attribute)
    try b.session.setRemoteDescription(.offer, offer)
    let answer = try b.answer()
    let data = b.session.data
    #expect(answer.media.map(\.port) == [0] && data == nil)
  }

  @Test func `a section without a port has the usual one, and without a maximum size none`() throws {
    var a = side("A")
    var b = side("B")
    try a.session.addData()
    let offer = try a.offer().replacing("a=sctp-port:5000\r\n", with: "")
      .replacing("a=max-message-size:262144\r\n", with: "")
    try b.session.setRemoteDescription(.offer, offer)
    _ = try b.answer()
    let remote = b.session.data?.remote
    #expect(remote == SCTPDescription(port: 5_000, maximumMessageSize: nil))
  }

  @Test func `an answer that accepts data channels must describe an association`() throws {
    var a = side("A")
    var b = side("B")
    try a.session.addData()
    try b.session.setRemoteDescription(.offer, try a.offer())
    let answer = try b.answer().replacing("a=sctp-port:5000", with: "a=sctp-port:0")
    var refusal: JSEPError?
    do throws(JSEPError) { try a.session.setRemoteDescription(.answer, answer) } catch { refusal = error }
    #expect(refusal == .unusableDataSection(mLineIndex: 0))
    #expect(JSEPError.unusableDataSection(mLineIndex: 0).line(in: answer.text) != nil)
  }

  // MARK: Real offers

  @Test(arguments: [Recorded.aiortcOffer, .chromiumOffer, .chromiumOfferGathered])
  func `a real offer of data channels is accepted in the form in which it came`(_ recorded: Recorded) throws {
    var b = side("B")
    try b.add(.audio, "mic")
    let offer = try recorded.parsed
    try b.session.setRemoteDescription(.offer, offer)
    let answer = try b.answer()
    let index = try #require(offer.media.firstIndex { $0.type == "application" })
    let (ours, theirs) = (answer.media[index], offer.media[index])
    #expect(ours.port == 9 && ours.transportProtocol == theirs.transportProtocol && ours.formats == theirs.formats)
    #expect(ours.mid == theirs.mid && ours.dataForm == theirs.dataForm && ours.dataForm != nil)
    #expect(answer.bundle.contains(try #require(theirs.mid)))
    let data = b.session.data
    #expect(data?.mLineIndex == index && data?.remote.port == 5_000)
  }

  @Test(arguments: [
    (Recorded.chromiumOffer, Recorded.chromiumAnswer), (.aiortcOffer, .chromiumAnswerToAiortc),
    (.chromiumOffer, .aiortcAnswer),
  ])
  func `a real answer completes the data channels of the offer`(_ offer: Recorded, _ answer: Recorded) throws {
    let pair = DescriptionPair(local: try offer.parsed, remote: try answer.parsed, isLocalOffer: true)
    let index = try #require(pair.offer.media.firstIndex { $0.type == "application" })
    #expect(pair.data(at: index, mid: "2")?.remote.port == 5_000)
  }
}

extension Side {
  /// The last negotiated description of this side.
  fileprivate func description() throws -> SessionDescription {
    let description = session.currentLocalDescription
    return try #require(description)
  }
}
