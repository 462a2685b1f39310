import Testing

@testable import SDP

/// Several encodings of one source in one section: RFC 8851, RFC 8853.
@Suite struct SimulcastTests {
  @Test(arguments: [
    "1 send", "hi send pt=97;max-width=1280;max-height=720", "a-b_c recv max-br=64000;max-fps=30",
    "3 recv pt=97,98;depend=1,2",
  ])
  func `a restriction is written as it was read`(text: String) throws {
    #expect(try #require(Restriction(text)).text == text)
  }

  @Test(arguments: ["", "1", "1 sendrecv", "a.b send", "1 send pt=", "1 send pt=x", "1 send pt=200", "ä send"])
  func `what is no restriction is none`(text: String) { #expect(Restriction(text) == nil) }

  /// The examples of RFC 8853 section 5.1.
  @Test(arguments: [
    "send 1,2,3;~4,~5 recv 6;~7,~8", "recv 1;4,5 send 6;7", "send 1,2,3;~4,~5", "recv 1", "send hi;mid;lo",
  ])
  func `a simulcast is read with its alternatives and pauses`(text: String) throws {
    let simulcast = try #require(Simulcast(text))
    #expect(try #require(Simulcast(simulcast.text)) == simulcast)
    if text.hasPrefix("send 1,2,3") {
      #expect(simulcast.send.map { $0.map(\.id) } == [["1", "2", "3"], ["4", "5"]])
      #expect(simulcast.send.map { $0.map(\.isPaused) } == [[false, false, false], [true, true]])
    }
  }

  @Test(arguments: ["", "send", "send 1;", "send 1 send 2", "both 1", "send 1,;2", "send 1 recv", "send ~"])
  func `what is no simulcast is none`(text: String) { #expect(Simulcast(text) == nil) }

  /// The offer of RFC 8853 section 6.1, with one more stream that the simulcast names and no line restricts, one for a
  /// format that there is not, and one that is restricted twice.
  @Test func `streams that are not restricted, twice or for no format are no part of a simulcast`() throws {
    let text = """
      v=0
      o=alice 2362969037 2362969040 IN IP4 192.0.2.156
      s=Simulcast-Enabled Client
      c=IN IP4 192.0.2.156
      t=0 0
      m=video 49600 RTP/AVP 97 98
      a=rtpmap:97 H264/90000
      a=rtpmap:98 H264/90000
      a=fmtp:97 profile-level-id=42c01f;max-fs=3600;max-mbps=216000
      a=fmtp:98 profile-level-id=42c00b;max-fs=240;max-mbps=3600
      a=rid:1 send pt=97;max-width=1280;max-height=720
      a=rid:2 send pt=98;max-width=320;max-height=180
      a=rid:3 recv pt=97
      a=rid:4 send pt=99
      a=rid:5 send
      a=rid:5 send pt=97
      a=rid:malformed
      a=simulcast:send 1;2;4;5;6 recv 3;1

      """
    let section = try #require(
      SessionDescription(parsing: text.split(separator: "\n").joined(separator: "\r\n") + "\r\n").media.first)
    #expect(section.restrictions.map(\.id) == ["1", "2", "3"])
    #expect(section.simulcast?.text == "send 1;2 recv 3")
    #expect(section.restrictions[0].parameters["max-width"] == "1280" && section.restrictions[0].payloadTypes == [97])
  }

  private func sender(_ rids: String...) -> Transceiver.Sender {
    Transceiver.Sender(
      trackID: "camera", streamIDs: ["s"], cname: "c",
      encodings: rids.enumerated().map { Transceiver.Encoding(rid: $1, ssrc: UInt32(100 + $0)) })
  }

  @Test func `encodings are offered by name, and those that the answer takes are sent`() throws {
    var a = Side("a")
    var b = Side("b", receivesSimulcast: true)
    let camera = try a.session.addTrack(.video, sender: sender("hi", "mid", "lo"))
    let offer = try a.offer()
    #expect(offer.media[0].attributes.values("rid") == ["hi send", "mid send", "lo send"])
    #expect(offer.media[0].attributes.values("simulcast") == ["send hi;mid;lo"])
    // As in browsers: their names tell them apart.
    #expect(!offer.media[0].attributes.contains("ssrc"))
    try b.session.setRemoteDescription(.offer, offer)
    let answer = try b.answer()
    #expect(answer.media[0].attributes.values("rid") == ["hi recv", "mid recv", "lo recv"])
    #expect(answer.media[0].attributes.values("simulcast") == ["recv hi;mid;lo"])
    let received = b.session.media[0].receiveEncodings
    #expect(received.map(\.rid) == ["hi", "mid", "lo"])
    var less = answer
    less.media[0].attributes.set("simulcast", "recv ~lo;hi")
    try a.session.setRemoteDescription(.answer, less)
    let negotiated = a.session.media
    let media = try #require(negotiated.first { $0.transceiver == camera })
    #expect(media.sendEncodings.map(\.rid) == ["lo", "hi"] && media.sendEncodings.map(\.isPaused) == [true, false])
    #expect(media.receiveEncodings.map(\.rid) == [nil])
  }

  @Test func `a side that knows no simulcast is sent one encoding without a name`() throws {
    var a = Side("a")
    var b = Side("b")
    try a.session.addTrack(.video, sender: sender("hi", "lo"))
    try negotiate(&a, &b)
    let (sent, received) = (a.session.media[0].sendEncodings, b.session.media[0].receiveEncodings)
    #expect(sent == [.only] && received == [.only])
    let local = b.session.localDescription
    let described = try #require(local)
    #expect(!described.media[0].attributes.contains("rid") && !described.media[0].attributes.contains("simulcast"))
  }

  /// As in libwebrtc: a track that waits has one encoding.
  @Test func `an offer that asks for a simulcast gets a transceiver of its own, which knows what is asked for`() throws
  {
    var a = Side("a", receivesSimulcast: true)
    var b = Side("b")
    let waiting = try b.add(.video, "camera")
    try a.session.addTransceiver(.video, direction: .recvonly)
    var offer = try a.offer()
    for line in ["hi recv", "lo recv max-width=320"] { offer.media[0].attributes.append("rid", line) }
    offer.media[0].attributes.append("simulcast", "recv hi;~lo")
    try b.session.setRemoteDescription(.offer, offer)
    let transceivers = b.session.transceivers
    let asked = try #require(transceivers.first { $0.mLineIndex == 0 })
    #expect(asked.id != waiting && asked.proposedEncodings == ["hi", "lo"])
    let answer = try b.answer()
    #expect(answer.media[0].attributes.values("simulcast").isEmpty)
  }
}
