import CallCore
import DTLS
import ICE
import SDP
import StackWorlds
import Testing

@testable import PeerSession

/// Transports that end while the session goes on, and peers that take the place of others.
@Suite struct TransportRenewalTests {
  private func call() throws -> SessionPair {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  /// Ends the call's one section.
  private func stopAll(_ pair: SessionPair) throws {
    try pair.a.session.stop(pair.a.microphone)
    pair.drain(pair.a)
    try pair.negotiate()
    pair.run(for: .milliseconds(200))
  }

  private func credentials(_ sdp: String?) -> [Substring] {
    (sdp ?? "").split(separator: "\r\n").filter { $0.hasPrefix("a=ice-") && !$0.hasPrefix("a=ice-options") }
  }

  @Test func `without a section there is no transport, and the next one is another`() throws {
    let pair = try call()
    let before = credentials(pair.a.session.localDescription?.sdp)
    try stopAll(pair)
    for side in [pair.a, pair.b] {
      #expect(side.session.iceConnectionState == .new && side.session.dtlsState == .new)
      #expect(side.session.connectionState == .new && side.session.iceGatheringState == .new)
    }
    try pair.b.session.addTrack()
    try pair.negotiate(from: pair.b, to: pair.a)
    let after = credentials(pair.a.session.localDescription?.sdp)
    #expect(before.count == 2 && after.count == 2 && !after.contains(where: before.contains))
    let received = pair.a.mediaReceived
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
    #expect(pair.a.mediaReceived > received + 20)
    #expect(pair.hotWakes == 0)
  }

  @Test(arguments: [true, false])
  func `after all sections were rejected a peer with new credentials is answered, and answers`(itOffers: Bool) throws {
    let pair = try call()
    try stopAll(pair)
    pair.replaceB()
    if itOffers {
      try pair.negotiate(from: pair.b, to: pair.a)
    } else {
      try pair.a.session.addTrack()
      try pair.negotiate()
    }
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
    #expect(pair.b.mediaReceived > (itOffers ? -1 : 20) && pair.a.mediaReceived > 60)
  }

  @Test func `of two endpoints that an offer was forked to the one that answers for good is talked to`() throws {
    let pair = SessionPair()
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    pair.drain(pair.a)
    let told = pair.a.candidates
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let early = SessionDescriptionText(.pranswer, sdp: try pair.b.session.createAnswer().sdp)
    try pair.b.session.setLocalDescription(early, at: pair.now)
    try pair.a.session.setRemoteDescription(early, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    #expect(pair.a.session.signalingState == .haveRemotePranswer)
    #expect(pair.a.session.localDescription?.kind == .offer)
    #expect(pair.a.session.connectionState == .connected && pair.a.mediaReceived > 20)

    pair.replaceB()
    pair.a.candidates = told
    try pair.answer(offer, of: pair.a, by: pair.b)
    try pair.exchangeCandidates()
    #expect(pair.a.session.signalingState == .stable)
    pair.run(for: .seconds(2))
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
    #expect(pair.b.mediaReceived > 40 && pair.hotWakes == 0)
  }

  @Test(arguments: [(false, "192.0.2.1"), (true, "203.0.113.1")])
  func `a gathered description says where a peer without ICE may send`(relays: Bool, address: String) throws {
    let pair = SessionPair { if relays { $0.iceServers = [SessionPair.turn] } }
    if relays { pair.startServer() }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    for side in [pair.a, pair.b] {
      let sdp = try #require(side.session.localDescription?.sdp)
      let expected = side === pair.a || relays ? address : "192.0.2.2"
      #expect(sdp.contains("c=IN IP4 \(expected)\r\n") && !sdp.contains("m=audio 9 "))
    }
  }
}

/// When the far side's track is muted, while signalling and media pass one another.
@Suite struct MuteTests {
  @Test func `packets between a hold's offer and its answer do not unmute the track that it ended`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    for (direction, expected) in [
      (MediaDirection.inactive, ["mute 0", "removeTrack 0"]), (.sendrecv, ["track 0", "unmute 0"]),
    ] {
      let told = pair.b.trackEvents.count
      try pair.a.session.setDirection(direction, of: pair.a.microphone)
      let offer = try pair.a.session.createOffer()
      try pair.a.session.setLocalDescription(offer, at: pair.now)
      try pair.b.session.setRemoteDescription(offer, at: pair.now)
      pair.run(for: .milliseconds(200))
      let answer = try pair.b.session.createAnswer()
      try pair.b.session.setLocalDescription(answer, at: pair.now)
      pair.run(for: .milliseconds(200))
      try pair.a.session.setRemoteDescription(answer, at: pair.now)
      pair.run(for: .milliseconds(300))
      #expect(Array(pair.b.trackEvents[told...]) == expected)
    }
  }
}
