import Testing

@testable import SDP

/// Sections of media that one side cannot do.
@Suite struct RejectedSectionTests {
  @Test func `the bundle's first section is rejected in its place and the next one carries the transport`() throws {
    var a = Side("A")
    try a.add(.video, "camera")
    try a.add(.audio, "mic")
    var b = Side("B", video: [])
    let offer = try a.offer()
    #expect(offer.bundle == ["0", "1"])
    let effects = try b.session.setRemoteDescription(.offer, offer)
    #expect(effects.tracksAdded.count == 1)
    let answer = try b.answer()
    #expect(answer.media.map(\.port) == [0, 9] && answer.media.map(\.mid) == ["0", "1"])
    #expect(answer.bundle == ["1"])
    try a.session.setRemoteDescription(.answer, answer)
    let transports = (a.session.transport?.mLineIndex, b.session.transport?.mLineIndex)
    #expect(transports == (1, 1))
    // And the next offer has it in front from the start.
    let next = try a.offer()
    #expect(next.media.map(\.port) == [0, 9] && next.bundle == ["1"])
  }

  @Test func `candidates count for the section that an answer will accept`() throws {
    var a = Side("A")
    try a.add(.video, "camera")
    try a.add(.audio, "mic")
    var b = Side("B", video: [])
    try b.session.setRemoteDescription(.offer, try a.offer())
    let candidate = "candidate:1 1 udp 2130706431 198.51.100.1 5000 typ host"
    let used = (
      try b.session.addRemoteCandidate(candidate, mid: "0"), try b.session.addRemoteCandidate(candidate, mid: "1")
    )
    // Both: until it has read the answer, a peer with max-bundle has the bundle's first section alone to tell them under.
    #expect(used == (true, true))
    _ = try b.answer()
    let candidates = b.session.transport?.remote.candidates.count
    #expect(candidates == 2)
    let late = try b.session.addRemoteCandidate("candidate:2 1 udp 1 198.51.100.2 5000 typ relay", mid: "0")
    #expect(late)
    let index = b.session.localTransportIndex
    #expect(index == 1)
  }

  @Test func `candidates of a rejected section with a transport of its own are nobody's`() throws {
    var a = Side("A")
    try a.add(.video, "camera")
    try a.add(.audio, "mic")
    var b = Side("B", video: [])
    let offer = try a.offer().replacing("a=bundle-only\r\n", with: "").replacing("m=audio 0", with: "m=audio 9")
    try b.session.setRemoteDescription(.offer, offer)
    let candidate = "candidate:1 1 udp 2130706431 198.51.100.1 5000 typ host"
    let used = (
      try b.session.addRemoteCandidate(candidate, mid: "0"), try b.session.addRemoteCandidate(candidate, mid: "1")
    )
    #expect(used == (false, true))
  }

  @Test func `a rejected section says what its formats are, for peers that look them up`() throws {
    var a = Side("A")
    try a.add(.audio, "mic")
    try a.add(.video, "camera")
    var b = Side("B", video: [])
    let offer = try a.offer()
    try b.session.setRemoteDescription(.offer, offer)
    let rejected = try b.answer().media[1]
    #expect(rejected.port == 0 && rejected.formats == offer.media[1].formats)
    #expect(rejected.attributes.rtpMaps == offer.media[1].attributes.rtpMaps && rejected.codecs.count == 2)
  }

  @Test func `a rejected section's numbers are given to no other codec`() throws {
    var a = Side("A")
    let camera = try a.add(.video, "camera")
    try a.add(.audio, "mic")
    var b = Side("B")
    try b.add(.audio, "mic")
    try b.add(.video, "camera")
    try negotiate(&a, &b)
    try a.session.stop(camera)
    try negotiate(&a, &b)
    let other = try a.session.addTransceiver(.audio, direction: .recvonly)
    var pcm = CodecCapability("L16", clockRate: 48_000)
    pcm.preferredPayloadType = 97
    try a.session.setCodecPreferences([pcm], of: other)
    let section = try a.session.createOffer(a.parameters).media.first { $0.codecs.first?.name == "L16" }
    #expect(section?.formats == ["98"])
  }

  @Test func `media that cannot be decoded never becomes a track`() throws {
    var a = Side("A")
    try a.add(.audio, "mic")
    var b = Side("B", video: [])
    try negotiate(&a, &b)
    let camera = try a.add(.video, "camera")
    let effects = try b.session.setRemoteDescription(.offer, try a.offer())
    #expect(effects.tracksAdded.isEmpty)
    let answer = try b.answer()
    #expect(answer.media.map(\.port) == [9, 0])
    let gone = try a.session.setRemoteDescription(.answer, answer)
    #expect(gone.stopped == [camera] && gone.tracksRemoved.isEmpty)
    let left = b.session.transceivers.map(\.kind)
    #expect(left == [.audio])
  }
}
