import CallCore
import Foundation
import Testing

@testable import SDP

struct OfferTests {
  @Test func `an offer bundles everything behind its first section`() throws {
    var side = Side("A")
    try side.add(.audio, "mic")
    try side.add(.video, "camera")
    let offer = try side.offer()
    #expect(offer.bundle == ["0", "1"])
    #expect(offer.media.map(\.port) == [9, 0])
    #expect(offer.media.map { $0.attributes.contains("bundle-only") } == [false, true])
    #expect(offer.media.allSatisfy { $0.attributes.setup == .actpass && $0.attributes.contains("rtcp-mux") })
    #expect(offer.media[0].codecs.map(\.payloadType) == [111])
    #expect(offer.media[1].codecs.map(\.name) == ["VP8", "rtx"])
    #expect(offer.media[1].codecs.retransmission(of: 96) == 97)
    #expect(offer.media[0].attributes.streamIDs == [MediaStreamID(stream: "stream", track: "mic")])
    #expect(offer.media[0].attributes.sources.first?.cname == "cnameA")
  }

  @Test func `gathered candidates and their default address stand in the first section`() throws {
    var side = Side("A")
    try side.add(.audio, "mic")
    try side.add(.video, "camera")
    side.parameters.candidates = ["candidate:1 1 udp 2130706431 2001:db8::1 5000 typ host"]
    side.parameters.endOfCandidates = true
    side.parameters.defaultEndpoint = Endpoint("[2001:db8::1]:5000")
    let offer = try side.offer()
    #expect(offer.media[0].attributes.candidates == ["1 1 udp 2130706431 2001:db8::1 5000 typ host"])
    #expect(offer.media[0].port == 5_000)
    #expect(offer.media[0].lines.connection == Connection(addressType: "IP6", address: "2001:db8::1"))
    #expect(offer.media[1].attributes.candidates == [])
    #expect(try offer.transport(at: 1).candidates.count == 1)
  }

  @Test func `the version rises only when the description changes`() throws {
    var side = Side("A")
    try side.add(.audio, "mic")
    let first = try side.offer()
    #expect(try side.offer() == first)
    try side.add(.video, "camera")
    let second = try side.offer()
    #expect(second.origin.version == first.origin.version + 1)
    #expect(second.origin.sessionID == first.origin.sessionID)
  }

  @Test func `codec preferences order an offer and narrow it`() throws {
    let pcmu = CodecCapability("PCMU", clockRate: 8_000)
    var side = Side("A", audio: [.opus, pcmu])
    let id = try side.add(.audio, "mic")
    try side.session.setCodecPreferences([pcmu, .opus], of: id)
    #expect(try side.session.createOffer(side.parameters).media[0].formats == ["0", "111"])
    try side.session.setCodecPreferences([pcmu], of: id)
    #expect(try side.session.createOffer(side.parameters).media[0].formats == ["0"])
  }
}

struct NegotiationTests {
  @Test func `both sides of a call agree on everything`() throws {
    let call = try Call()
    let (a, b) = (call.a.session.media, call.b.session.media)
    #expect(a.map(\.mid) == ["0", "1"] && b.map(\.mid) == ["0", "1"])
    #expect(a.map(\.direction) == [.sendrecv, .sendrecv])
    for (one, other) in zip(a, b) {
      #expect(one.sendCodecs.map(\.payloadType) == other.receiveCodecs.map(\.payloadType))
      #expect(one.receiveCodecs.map(\.payloadType) == other.sendCodecs.map(\.payloadType))
      #expect(one.headerExtensions == other.headerExtensions && one.headerExtensions.count == 2)
      #expect(one.reducedSizeRTCP && other.reducedSizeRTCP)
    }
    #expect(a[1].sendCodecs[0].retransmissionPayloadType == 97)
    #expect(a[1].remoteSources.first?.retransmission == 77)
    let (first, second) = (call.a.session.transport, call.b.session.transport)
    #expect(first?.setup == .passive && second?.setup == .active)
    #expect(first?.remote.usernameFragment == "fragB0" && second?.remote.usernameFragment == "fragA0")
    let needed = (call.a.session.negotiationNeeded, call.b.session.negotiationNeeded)
    #expect(needed == (false, false))
  }

  @Test(arguments: MediaDirection.allCases, MediaDirection.allCases)
  func `directions meet in what both allow`(_ ours: MediaDirection, _ theirs: MediaDirection) throws {
    var a = Side("A")
    var b = Side("B")
    let id = try a.add(.audio, "mic")
    try a.session.setDirection(ours, of: id)
    let far = try b.session.addTrack(.audio, sender: b.sender("mic"))
    let offer = try a.offer()
    try b.session.setRemoteDescription(.offer, offer)
    try b.session.setDirection(theirs, of: far)
    try a.session.setRemoteDescription(.answer, try b.answer())
    let (one, other) = (a.session.media[0].direction, b.session.media[0].direction)
    // A track is never put where nobody listens: it waits for an offer of its own.
    let isTaken = ours.receives
    let waiting = b.session.transceiver(far)?.mLineIndex == nil
    #expect(waiting == !isTaken)
    #expect(one == ours.intersection(isTaken ? theirs.reversed : .sendonly))
    #expect(other == one.reversed)
    let needed = (a.session.negotiationNeeded, b.session.negotiationNeeded)
    #expect(needed == (false, !isTaken))
  }

  @Test func `of several offered sections a track takes the first whose sender listens`() throws {
    var a = Side("A")
    try a.session.addTransceiver(.audio, direction: .sendonly, sender: a.sender("music"))
    try a.session.addTransceiver(.audio, direction: .recvonly)
    var b = Side("B")
    let mic = try b.add(.audio, "mic")
    try b.session.setRemoteDescription(.offer, try a.offer())
    let place = b.session.transceiver(mic)?.mLineIndex
    #expect(place == 1)
    let answer = try b.answer()
    #expect(answer.media.map { $0.attributes.direction } == [.recvonly, .sendonly])
    let needed = b.session.negotiationNeeded
    #expect(!needed)
  }

  @Test func `hold and resume pass through one section`() throws {
    var call = try Call()
    let id = call.a.session.transceivers[0].id
    for (wanted, far) in [
      (MediaDirection.sendonly, MediaDirection.recvonly), (.inactive, .inactive), (.sendrecv, .sendrecv),
    ] {
      try call.a.session.setDirection(wanted, of: id)
      let needed = call.a.session.negotiationNeeded
      try call.renegotiateFromA()
      let (ours, theirs) = (call.a.session.media[0].direction, call.b.session.media[0].direction)
      let after = call.a.session.negotiationNeeded
      #expect(needed && !after)
      #expect(ours == wanted && theirs == far)
    }
  }

  @Test func `a re-offer adds a track and another takes it away`() throws {
    var call = try Call()
    let added = try call.a.add(.video, "screen")
    let needed = call.a.session.negotiationNeeded
    #expect(needed)
    let offer = try call.a.offer()
    #expect(offer.media.map(\.port) == [9, 9, 0])
    let effects = try call.b.session.setRemoteDescription(.offer, offer)
    #expect(effects.tracksAdded.count == 1 && effects.tracksRemoved == [])
    try call.a.session.setRemoteDescription(.answer, try call.b.answer())
    let directions = call.a.session.media.map(\.direction)
    #expect(directions == [.sendrecv, .sendrecv, .sendonly])

    try call.a.session.removeTrack(added)
    let second = try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    #expect(second.tracksRemoved == effects.tracksAdded)
  }

  @Test func `media flows by a provisional answer, and the answer ends it`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    let id = try b.add(.audio, "mic")
    try b.session.setRemoteDescription(.offer, try a.offer())
    try b.session.setDirection(.inactive, of: id)
    try a.session.setRemoteDescription(.pranswer, try b.answer(.pranswer))
    let early = (a.session.media[0].direction, a.session.signalingState)
    #expect(early == (.inactive, .haveRemotePranswer))
    try b.session.setDirection(.sendrecv, of: id)
    try a.session.setRemoteDescription(.answer, try b.answer())
    let late = (a.session.media[0].direction, a.session.signalingState)
    #expect(late == (.sendrecv, .stable))
  }

  @Test func `Opus is sent as the far side asks, within our limits`() throws {
    var ours = CodecCapability.opus
    ours.parameters = ["minptime": "20", "useinbandfec": "1", "usedtx": "0", "maxaveragebitrate": "32000"]
    var theirs = CodecCapability.opus
    theirs.parameters = [
      "minptime": "10", "useinbandfec": "1", "usedtx": "1", "stereo": "1", "maxaveragebitrate": "64000",
    ]
    var a = Side("A", audio: [ours])
    var b = Side("B", audio: [theirs])
    try a.add(.audio, "mic")
    try b.add(.audio, "mic")
    try negotiate(&a, &b)
    let sent = OpusParameters(a.session.media[0].sendCodecs[0].parameters)
    #expect(sent.usesInbandFEC && sent.isStereo && !sent.usesDTX)
    #expect(sent.minimumPacketTime == 20 && sent.maximumAverageBitrate == 32_000)
    let received = OpusParameters(a.session.media[0].receiveCodecs[0].parameters)
    #expect(received.maximumAverageBitrate == 32_000 && !received.isStereo)
  }

  @Test func `packet times and bandwidths of the far side are told`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    try b.add(.audio, "mic")
    let offer = try a.offer().replacing("a=mid:0\r\n", with: "b=AS:40\r\na=mid:0\r\na=ptime:40\r\na=maxptime:60\r\n")
    try b.session.setRemoteDescription(.offer, offer)
    _ = try b.answer()
    let media = b.session.media[0]
    #expect(media.packetTime == 40 && media.maximumPacketTime == 60)
    #expect(media.remoteBandwidths == [Bandwidth(modifier: "AS", value: 40)])
  }

  @Test func `H264 meets by profile and packetisation mode, at the lower level`() throws {
    func h264(_ profile: String, mode: String) -> CodecCapability {
      CodecCapability(
        "H264", clockRate: 90_000, parameters: ["profile-level-id": profile, "packetization-mode": mode])
    }
    var a = Side("A", video: [h264("640c1f", mode: "1"), h264("42e01f", mode: "0"), h264("42e01f", mode: "1")])
    var b = Side("B", video: [h264("42c00d", mode: "1")])
    try a.add(.video, "camera")
    try b.add(.video, "camera")
    let offer = try a.offer()
    try b.session.setRemoteDescription(.offer, offer)
    let answer = try b.answer()
    #expect(answer.media[0].formats == [offer.media[0].formats[2]])
    #expect(answer.media[0].codecs[0].parameters["profile-level-id"] == "42e00d")
  }

  @Test func `extension identifiers follow the offer, and its two-byte-only wishes get a real one`() throws {
    var side = Side("B", extensions: [URN.mid, URN.audioLevel])
    try side.add(.audio, "mic")
    let offer = try Recorded.chromiumOffer.parsed
      .replacing("a=extmap:1 \(URN.audioLevel)", with: "a=extmap:4096/sendonly \(URN.audioLevel)")
    try side.session.setRemoteDescription(.offer, offer)
    let entries = try side.answer().media[0].attributes.headerExtensions
    #expect(entries.first { $0.uri == URN.mid }?.id == 4)
    let level = try #require(entries.first { $0.uri == URN.audioLevel })
    #expect((1...14).contains(level.id) && level.direction == .recvonly)
    #expect(!offer.media.flatMap(\.attributes.headerExtensions).contains { $0.id == level.id })
  }

  @Test func `feedback and retransmission need both sides`() throws {
    var plain = CodecCapability.vp8
    plain.feedback = [.pictureLoss]
    plain.retransmission = false
    var a = Side("A")
    var b = Side("B", video: [plain])
    try a.add(.video, "camera")
    try b.add(.video, "camera")
    try negotiate(&a, &b)
    let codec = a.session.media[0].sendCodecs[0]
    #expect(codec.feedback == [.pictureLoss] && codec.retransmissionPayloadType == nil)
  }

  @Test func `a wildcard feedback line is for every codec`() throws {
    let offer = try Recorded.chromiumOffer.parsed.replacing("a=rtcp-fb:96 nack\r\n", with: "a=rtcp-fb:* nack\r\n")
    #expect(offer.media[1].codecs.allSatisfy { $0.feedback.contains(.nack) })
  }

  @Test func `a peer that does not bundle gets its first section only`() throws {
    var side = Side("B")
    try side.session.setRemoteDescription(
      .offer, try Recorded.aiortcOffer.parsed.replacing("a=group:BUNDLE 0 1 2\r\n", with: ""))
    let answer = try side.answer()
    #expect(answer.media.map(\.port) == [9, 0, 0] && answer.bundle == [])
  }

  @Test func `of sections inside and outside the bundle the first decides which are taken`() throws {
    var a = Side("A")
    try a.add(.audio, "mic")
    try a.add(.video, "camera")
    let offer = try a.offer()
    for (group, ports) in [("0 1", [9, 9]), ("1", [9, 0]), ("0", [9, 0])] as [(String, [UInt16])] {
      var b = Side("B")
      try b.session.setRemoteDescription(
        .offer, offer.replacing("BUNDLE 0 1", with: "BUNDLE \(group)").replacing("m=video 0", with: "m=video 9"))
      let answer = try b.answer()
      #expect(answer.media.map(\.port) == ports, "BUNDLE \(group)")
      #expect(answer.bundle == (group == "1" ? [] : group == "0" ? ["0"] : ["0", "1"]))
    }
  }

  @Test(arguments: [64, 72, 95]) func `a payload type that RTCP's packets would be taken for is refused`(
    type: UInt8
  ) throws {
    var a = Side("A")
    try a.add(.audio, "mic")
    let text = try a.offer().text.replacingOccurrences(of: "SAVPF 111", with: "SAVPF \(type)")
      .replacingOccurrences(of: ":111 ", with: ":\(type) ")
    let offer = try SessionDescription(parsing: text)
    var b = Side("B")
    let error = JSEPError.reservedPayloadType(type, mLineIndex: 0)
    #expect(throws: error) { try b.session.setRemoteDescription(.offer, offer) }
    #expect(error.line(in: text) == text.split(separator: "\r\n").firstIndex { $0.hasPrefix("m=") }.map { $0 + 1 })
    // Without multiplexing the number is as good as any, and the section is rejected for another reason.
    try b.session.setRemoteDescription(.offer, offer.replacing("a=rtcp-mux\r\n", with: ""))
    #expect(try b.answer().media[0].port == 0)
  }

  @Test func `a megabyte of groups is read once, not for each section`() throws {
    let group = "a=group:LS" + String(repeating: " x", count: 4_000) + "\r\n"
    let section = """
      m=audio 9 UDP/TLS/RTP/SAVPF 111\r
      a=rtpmap:111 opus/48000/2\r
      a=rtcp-mux\r

      """
    let text = """
      v=0\r
      o=- 1 1 IN IP4 192.0.2.1\r
      s=-\r
      t=0 0\r
      a=ice-ufrag:abcd\r
      a=ice-pwd:0123456789012345678901\r
      a=fingerprint:sha-256 \(Array(repeating: "01", count: 32).joined(separator: ":"))\r

      """ + String(repeating: group, count: 120) + String(repeating: section, count: 255)
    let offer = try SessionDescription(parsing: text)
    var side = Side("B")
    let clock = ContinuousClock()
    let spent = try clock.measure {
      try side.session.setRemoteDescription(.offer, offer)
      _ = try side.answer()
    }
    // It takes a tenth of a second, and took most of a minute.
    #expect(spent < .seconds(8))
  }

  @Test func `a peer without mids is answered without`() throws {
    var side = Side("B")
    let text = """
      v=0
      o=bob 1 1 IN IP4 192.0.2.1
      s=-
      c=IN IP4 192.0.2.1
      t=0 0
      a=ice-ufrag:abcd
      a=ice-pwd:0123456789012345678901
      a=fingerprint:sha-256 \(Array(repeating: "01", count: 32).joined(separator: ":"))
      a=sendonly
      m=audio 49170 UDP/TLS/RTP/SAVPF 97 0
      a=rtpmap:97 opus/48000/2
      a=rtcp-mux
      """
    let effects = try side.session.setRemoteDescription(.offer, SessionDescription(parsing: text))
    let answer = try side.answer()
    #expect(effects.tracksAdded.count == 1)
    #expect(answer.media[0].mid == nil && answer.media[0].attributes.direction == .recvonly)
    let transport = side.session.transport
    #expect(transport?.remote.usernameFragment == "abcd" && transport?.setup == .active)
  }

  @Test func `a section without RTCP multiplexing is rejected, and such an answer refused`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    let offer = try a.offer()
    try b.session.setRemoteDescription(.offer, offer.replacing("a=rtcp-mux\r\n", with: ""))
    #expect(try b.answer().media[0].port == 0)
    var c = Side("C")
    try c.session.setRemoteDescription(.offer, offer)
    let answer = try c.answer().replacing("a=rtcp-mux\r\n", with: "")
    #expect(throws: JSEPError.missingRTCPMux(mLineIndex: 0)) { try a.session.setRemoteDescription(.answer, answer) }
  }
}
