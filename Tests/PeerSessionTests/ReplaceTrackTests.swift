import CallCore
import Codecs
import PeerSession
import SDP
import StackWorlds
import Statistics
import Testing

/// A sender whose track changes in a call that goes on, without negotiation (webrtc-pc section 5.2, `replaceTrack`).
@Suite struct ReplaceTrackTests {
  private func call(media: MediaFidelity = .synthetic) throws -> SessionPair {
    let pair = SessionPair { $0.media = media }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  @Test(arguments: [MediaFidelity.real, .synthetic])
  func `without a track nothing is sent, and nobody need negotiate`(media: MediaFidelity) throws {
    let pair = try call(media: media)
    try pair.a.session.replaceTrack(nil, of: pair.a.microphone)
    pair.drain(pair.a)
    let sent = pair.a.mediaSent
    pair.run(for: .seconds(2))
    #expect(pair.a.mediaSent == sent && pair.b.mediaSent > 120)
    #expect(pair.a.session.rtpTransceivers[0].sender.track == nil)
    #expect(pair.a.negotiationsNeeded == 1, "that of the first track alone")
    #expect(pair.a.session.signalingState == .stable)
  }

  @Test func `the next track goes on in the same stream, as late as it is`() throws {
    let pair = try call(media: .real)
    let before = pair.a.sources("outbound-rtp")
    try pair.a.session.replaceTrack(nil, of: pair.a.microphone)
    pair.run(for: .seconds(3))
    try pair.a.session.replaceTrack(MediaStreamTrack(.audio, id: "headset"), of: pair.a.microphone)
    pair.a.tones = [(nil, 1_300)]
    pair.run(for: .seconds(1))
    let heard = pair.listen(at: pair.b)
    #expect(heard.holds(1_300) && !heard.holds(440))
    #expect(pair.a.sources("outbound-rtp") == before)
    #expect(pair.a.session.rtpTransceivers[0].sender.track == MediaStreamTrack(.audio, id: "headset"))
    // The media clock went on: what comes after the pause is not late.
    let report = pair.b.session.statistics(at: pair.now)
    guard case .real(let jitter)? = report.first("inbound-rtp")?["jitter"] else {
      Issue.record("there is no jitter")
      return
    }
    #expect(jitter < 0.01)
  }

  @Test func `a transceiver that was made for a kind sends once it has a track`() throws {
    let pair = SessionPair()
    try pair.a.session.stop(pair.a.microphone)
    let made = try pair.a.session.addTransceiver(.audio)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent == 0 && pair.b.mediaSent > 30)
    #expect(pair.b.trackEvents == ["track 0"], "announced, and muted")
    try pair.a.session.replaceTrack(.microphone, of: made)
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent > 40 && pair.b.trackEvents == ["track 0", "unmute 0"])
  }

  @Test func `a sender without a track is free for the next that is added`() throws {
    let pair = SessionPair()
    let made = try pair.a.session.addTransceiver(.audio)
    let added = try pair.a.session.addTrack()
    #expect(added == made)
  }

  @Test func `the answerer's transceiver sends when it is given a direction and a track`() throws {
    let pair = SessionPair()
    try pair.b.session.stop(pair.b.microphone)
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let theirs = try #require(pair.b.session.rtpTransceivers.first?.id)
    try pair.b.session.replaceTrack(.microphone, of: theirs)
    try pair.b.session.setDirection(.sendrecv, of: theirs)
    let answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    try pair.a.session.setRemoteDescription(answer, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaSent > 30 && pair.a.mediaReceived > 30)
  }

  @Test func `a track of another kind, of a stopped transceiver or twice is refused`() throws {
    let pair = try call()
    #expect(throws: SessionError.notSupported("a video track: this connection is configured without video")) {
      try pair.a.session.replaceTrack(MediaStreamTrack(.video), of: pair.a.microphone)
    }
    let headset = MediaStreamTrack(.audio, id: "headset")
    try pair.a.session.addTrack(headset)
    #expect(throws: SessionError.invalidAccess("the track 'headset' is sent already")) {
      try pair.a.session.addTrack(headset)
    }
    try pair.a.session.stop(pair.a.microphone)
    #expect(throws: SessionError.invalidState("the transceiver is stopped")) {
      try pair.a.session.replaceTrack(nil, of: pair.a.microphone)
    }
  }
}
