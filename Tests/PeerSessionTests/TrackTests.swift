import CallCore
import Codecs
import PeerSession
import SDP
import StackWorlds
import Statistics
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Tracks that come and go in a call that goes on.
@Suite struct TrackTests {
  private func call(media: MediaFidelity = .synthetic) throws -> SessionPair {
    let pair = SessionPair { $0.media = media }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  // MARK: Adding and removing

  @Test func `a second track is heard together with the first, and alone once the first is removed`() throws {
    let pair = try call(media: .real)
    let second = try pair.a.session.addTrack()
    pair.a.tones = [(pair.a.microphone, 440), (second, 1_300)]
    try pair.negotiate()
    pair.run(for: .seconds(1))
    var heard = pair.listen(at: pair.b)
    #expect(heard.holds(440) && heard.holds(1_300))

    try pair.a.session.removeTrack(pair.a.microphone)
    pair.drain(pair.a)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    heard = pair.listen(at: pair.b)
    #expect(!heard.holds(440) && heard.holds(1_300))
    #expect(pair.a.loudest > AudioLevel(25))
    #expect(pair.hotWakes == 0)
  }

  @Test func `a track may be added by the one who answered`() throws {
    let pair = try call(media: .real)
    let second = try pair.b.session.addTrack()
    pair.b.tones = [(second, 1_300)]
    try pair.negotiate(from: pair.b, to: pair.a)
    pair.run(for: .seconds(1))
    let heard = pair.listen(at: pair.a)
    #expect(heard.holds(1_300) && !heard.holds(440))
    #expect(pair.a.trackEvents == ["track 0", "unmute 0", "track 1", "unmute 1"])
  }

  @Test func `each track is muted for itself`() throws {
    let pair = try call(media: .real)
    let second = try pair.a.session.addTrack()
    pair.a.tones = [(pair.a.microphone, 440), (second, 1_300)]
    try pair.negotiate()
    pair.a.session.setAudioEnabled(false, of: second)
    pair.run(for: .seconds(1))
    var heard = pair.listen(at: pair.b)
    #expect(heard.holds(440) && !heard.holds(1_300))
    pair.a.session.setAudioEnabled(false)
    pair.a.session.setAudioEnabled(true, of: second)
    pair.run(for: .seconds(1))
    heard = pair.listen(at: pair.b)
    #expect(!heard.holds(440) && heard.holds(1_300))
  }

  @Test func `removing a track says goodbye to its source at once and mutes it at the far side`() throws {
    let pair = try call()
    let ssrc = try #require(pair.a.sources("outbound-rtp").first)
    try pair.a.session.removeTrack(pair.a.microphone)
    pair.drain(pair.a)
    pair.run(for: .milliseconds(200))
    #expect(pair.b.goodbyes == [ssrc])
    #expect(pair.b.trackEvents == ["track 0", "unmute 0", "mute 0"])
    try pair.negotiate()
    #expect(pair.b.trackEvents.suffix(1) == ["removeTrack 0"])
    #expect(pair.a.sources("outbound-rtp").isEmpty && pair.b.sources("inbound-rtp").isEmpty)
    pair.run(for: .seconds(12))
    // What is still received is still reported on, by a source that never said goodbye.
    let reported = pair.b.session.statistics(at: pair.now).first("remote-inbound-rtp")
    #expect(reported != nil)
    #expect(pair.b.session.connectionState == .connected && pair.a.session.connectionState == .connected)
  }

  @Test func `a track of a kind there is no codec for is not supported`() {
    let pair = SessionPair()
    let problem = SessionError.notSupported("a video track: this connection is configured without video")
    #expect(throws: problem) { try pair.a.session.addTrack(MediaStreamTrack(.video)) }
    #expect(throws: problem) { try pair.a.session.addTransceiver(.video) }
    let transceivers = pair.a.session.transceivers.count
    #expect(transceivers == 1)
  }

  @Test func `a closed session takes no track`() {
    let pair = SessionPair()
    pair.a.session.close(at: pair.now)
    #expect(throws: SessionError.invalidState("closed")) { try pair.a.session.addTrack() }
    #expect(throws: SessionError.invalidState("closed")) { try pair.a.session.addTransceiver(.microphone) }
  }

  // MARK: Direction

  @Test(arguments: [MediaDirection.recvonly, .inactive, .sendonly])
  func `a hold takes effect when negotiated, and its end begins the track again`(hold: MediaDirection) throws {
    let pair = try call()
    let before = pair.a.sources("outbound-rtp")
    try pair.a.session.setDirection(hold, of: pair.a.microphone)
    try pair.negotiate()
    pair.run(for: .milliseconds(200))
    let (sent, received) = (pair.a.mediaSent, pair.a.mediaReceived)
    pair.run(for: .seconds(1))
    #expect((pair.a.mediaSent > sent) == hold.sends)
    #expect((pair.a.mediaReceived > received) == hold.receives)
    let expected = hold.sends ? [] : ["mute 0", "removeTrack 0"]
    #expect(pair.b.trackEvents == ["track 0", "unmute 0"] + expected)

    try pair.a.session.setDirection(.sendrecv, of: pair.a.microphone)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.b.trackEvents.suffix(2) == ["track 0", "unmute 0"])
    #expect(pair.a.mediaReceived > received + 40 && pair.a.mediaSent > sent + 40)
    #expect(pair.a.sources("outbound-rtp") == before)
  }

  @Test func `a transceiver that only receives has no source, and one with a track sends`() throws {
    let pair = SessionPair()
    try pair.a.session.removeTrack(pair.a.microphone)
    try pair.a.session.stop(pair.a.microphone)
    let listener = try pair.a.session.addTransceiver(.audio, TransceiverInit(direction: .recvonly))
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent == 0 && pair.a.mediaReceived > 30)
    let sender = try pair.a.session.addTrack()
    #expect(sender == listener)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent > 30)
  }

  // MARK: Stopping

  @Test func `stopping ends both ways, and the section serves the next track under another mid`() throws {
    let pair = try call()
    _ = try pair.a.session.addTrack()
    try pair.negotiate()
    try pair.a.session.stop(pair.a.microphone)
    pair.drain(pair.a)
    try pair.negotiate()
    #expect(pair.b.trackEvents.contains("ended 0"))
    let offer = try pair.a.session.createOffer().sdp
    #expect(offer.contains("m=audio 0 ") && offer.contains("a=group:BUNDLE 1\r\n"))
    pair.run(for: .seconds(1))
    _ = try pair.a.session.addTrack()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.a.sections == ["2", "1"] && pair.b.sections == ["2", "1"])
    #expect(pair.b.trackEvents.suffix(2) == ["track 2", "unmute 2"])
    #expect(pair.b.session.connectionState == .connected)
  }

  @Test func `twelve tracks one after the other leave nothing behind`() throws {
    let pair = try call()
    for _ in 0..<12 {
      let track = try pair.a.session.addTrack()
      try pair.negotiate()
      pair.run(for: .milliseconds(200))
      #expect(pair.b.sources("inbound-rtp").count == 2)
      try pair.a.session.stop(track)
      pair.drain(pair.a)
      try pair.negotiate()
      pair.run(for: .milliseconds(100))
      #expect(pair.a.sources("outbound-rtp").count == 1 && pair.b.sources("inbound-rtp").count == 1)
    }
    #expect(pair.a.sections.count == 2 && pair.b.sections.count == 2)
    let transceivers = (pair.a.session.transceivers.count, pair.b.session.transceivers.count)
    #expect(transceivers == (1, 1))
    #expect(pair.b.goodbyes.count == 12)
    // The packet on its way when its section went.
    #expect(pair.discarded == Array(repeating: "rtp-unknown-source", count: 12))
    #expect(pair.hotWakes == 0)
  }

  // MARK: Glare

  @Test func `when both offer at once the polite side takes its offer back and both tracks come through`() throws {
    let pair = try call(media: .real)
    let (first, second) = (try pair.a.session.addTrack(), try pair.b.session.addTrack())
    pair.a.tones = [(first, 700)]
    pair.b.tones = [(second, 1_300)]
    let (polite, impolite) = (pair.b, pair.a)
    try polite.session.setLocalDescription(try polite.session.createOffer(), at: pair.now)
    let winner = try impolite.session.createOffer()
    try impolite.session.setLocalDescription(winner, at: pair.now)
    try pair.answer(winner, of: impolite, by: polite)
    pair.drain(pair.a)
    pair.drain(pair.b)
    for side in [pair.a, pair.b] where side.needsNegotiation {
      try pair.negotiate(from: side, to: side === pair.a ? pair.b : pair.a)
    }
    pair.run(for: .seconds(1))
    let heard = (pair.listen(at: pair.b), pair.listen(at: pair.a))
    #expect(heard.0.holds(700) && heard.1.holds(1_300))
    #expect(pair.a.sections == pair.b.sections && pair.a.sections.count == 2)
  }

  @Test func `negotiation is needed when a track comes or goes, and not after the answer`() throws {
    let pair = try call()
    let before = pair.a.negotiationsNeeded
    let track = try pair.a.session.addTrack()
    pair.drain(pair.a)
    #expect(pair.a.negotiationsNeeded == before + 1)
    try pair.negotiate()
    #expect(pair.a.negotiationsNeeded == before + 1)
    // Asked for while an offer is open: told when the state is stable again.
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    try pair.a.session.removeTrack(track)
    pair.drain(pair.a)
    #expect(pair.a.negotiationsNeeded == before + 1)
    try pair.answer(offer, of: pair.a, by: pair.b)
    pair.drain(pair.a)
    #expect(pair.a.negotiationsNeeded == before + 2)
  }

  // MARK: Statistics

  @Test func `every stream has statistics of its own, with its mid and its track's name`() throws {
    let pair = try call()
    _ = try pair.a.session.addTrack()
    try pair.negotiate()
    pair.run(for: .seconds(10))
    let sent = pair.a.session.statistics(at: pair.now).entries
    let received = pair.b.session.statistics(at: pair.now).entries
    for type in ["outbound-rtp", "remote-inbound-rtp", "media-source"] {
      #expect(sent.count { $0.type == type } == 2, "\(type)")
    }
    for type in ["inbound-rtp", "remote-outbound-rtp"] {
      #expect(received.count { $0.type == type } == 2, "\(type)")
    }
    #expect(Set(sent.map(\.id)).count == sent.count && Set(received.map(\.id)).count == received.count)
    let inbound = received.filter { $0.type == "inbound-rtp" }
    #expect(inbound.map { $0["mid"] } == [.text("0"), .text("1")])
    #expect(inbound.map { $0["trackIdentifier"] } == [.text("a-audio"), .text("a-audio-2")])
    let ssrcs = sent.filter { $0.type == "outbound-rtp" }.map { $0["ssrc"] }
    #expect(inbound.map { $0["ssrc"] } == ssrcs)
    #expect(sent.count { $0.type == "codec" } == 2)
  }
}

// MARK: Reading a pair

extension SessionPair {
  /// What `side` plays in the next 400 ms.
  func listen(at side: Side) -> Spectrum {
    side.heard = []
    run(for: .milliseconds(400))
    return Spectrum(samples: side.heard)
  }

  var discarded: [String] {
    (a.observations + b.observations).compactMap {
      if case .packetDiscarded(let what, _) = $0 { "\(what)" } else { nil }
    }
  }
}

extension SessionPair.Side {
  /// What the session told about the far side's tracks.
  var trackEvents: [String] {
    events.compactMap { event in
      switch event {
      case .track(let mid, _): "track \(mid)"
      case .removeTrack(let mid): "removeTrack \(mid)"
      case .mute(let mid): "mute \(mid)"
      case .unmute(let mid): "unmute \(mid)"
      case .ended(let mid): "ended \(mid)"
      default: nil
      }
    }
  }

  var negotiationsNeeded: Int { events.count { if case .negotiationNeeded = $0 { true } else { false } } }

  /// Whether negotiation was needed after the last description was set.
  var needsNegotiation: Bool {
    let last = events.last {
      switch $0 {
      case .negotiationNeeded, .signalingStateChange: true
      default: false
      }
    }
    if case .negotiationNeeded? = last { return true }
    return false
  }

  var goodbyes: [UInt32] { observations.compactMap { if case .remoteBye(let ssrc) = $0 { ssrc } else { nil } } }

  /// The sources of one type of statistics.
  func sources(_ type: String) -> [UInt32] {
    session.statistics(at: .zero).entries.filter { $0.type == type }.compactMap {
      if case .integer(let ssrc)? = $0["ssrc"] { UInt32(ssrc) } else { nil }
    }
  }

  /// The mids of our description, in its order.
  var sections: [String] {
    let sdp = (try? session.createOffer().sdp) ?? ""
    return sdp.split(separator: "\r\n").filter { $0.hasPrefix("a=mid:") }.map { String($0.dropFirst(6)) }
  }
}

/// How much of a tone there is in what was heard.
struct Spectrum {
  let samples: [Int16]

  /// Whether a tone has at least a tenth of the amplitude that the tests' tones have (Goertzel).
  func holds(_ frequency: Double) -> Bool { amplitude(of: frequency) > 800 }

  func amplitude(of frequency: Double) -> Double {
    let step = 2 * Double.pi * frequency / 48_000
    var (real, imaginary) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      real += Double(sample) * cos(step * Double(index))
      imaginary += Double(sample) * sin(step * Double(index))
    }
    return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(max(1, samples.count))
  }
}
