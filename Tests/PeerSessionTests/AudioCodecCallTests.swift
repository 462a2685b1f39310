import CallCore
import Codecs
import DTLS
import RTP
import SDP
import StackWorlds
import Statistics
import Testing

@testable import PeerSession

/// Calls of two sessions with codecs beside Opus.
@Suite struct AudioCodecCallTests {
  func pair(_ codecs: [AudioCodec], adjust: @escaping (inout SessionConfiguration) -> Void = { _ in }) -> SessionPair {
    SessionPair {
      $0.media = .real
      $0.audio.codecs = codecs
      adjust(&$0)
    }
  }

  /// What `b` plays of the tone of 440 Hz in a second from now on.
  func heard(_ pair: SessionPair) -> (amplitude: Double, ratio: Double) {
    pair.run(for: .seconds(1))
    pair.b.heard = []
    pair.run(for: .seconds(1))
    return toneFit(pair.b.heard, 440)
  }

  func mimeType(_ side: SessionPair.Side, _ pair: SessionPair) -> StatsReport.Value? {
    side.session.statistics(at: pair.now).first("codec")?["mimeType"]
  }

  @Test(arguments: [(AudioCodec.pcmu, 30.0), (.pcma, 30), (.g722, 28)]) func `a call is held in each codec`(
    codec: AudioCodec, ratio: Double
  ) throws {
    let pair = pair([codec])
    try pair.negotiate()
    let fit = heard(pair)
    #expect(abs(fit.amplitude - 8_000) < 400 && fit.ratio > ratio)
    #expect(mimeType(pair.a, pair) == .text("audio/\(codec.rawValue)"))
    let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
    #expect(inbound["packetsLost"] == .integer(0))
  }

  @Test func `Chromium's formats are offered in its order, with its payload types`() throws {
    let pair = pair(AudioCodec.chromium)
    let lines = try pair.a.session.createOffer().sdp.split(separator: "\r\n").map(String.init)
    #expect(lines.first { $0.hasPrefix("m=audio") }?.hasSuffix(" 111 63 9 0 8 13 110 126") == true)
    #expect(
      lines.filter { $0.hasPrefix("a=rtpmap") } == [
        "a=rtpmap:111 opus/48000/2", "a=rtpmap:63 red/48000/2", "a=rtpmap:9 G722/8000", "a=rtpmap:0 PCMU/8000",
        "a=rtpmap:8 PCMA/8000", "a=rtpmap:13 CN/8000", "a=rtpmap:110 telephone-event/48000",
        "a=rtpmap:126 telephone-event/8000",
      ])
    #expect(
      lines.filter { $0.hasPrefix("a=fmtp") } == ["a=fmtp:111 minptime=10;useinbandfec=1", "a=fmtp:63 111/111"])
  }

  @Test func `by default Opus alone is offered`() throws {
    let offer = try SessionPair().a.session.createOffer().sdp
    #expect(offer.split(separator: "\r\n").first { $0.hasPrefix("m=audio") }?.hasSuffix(" 111") == true)
    #expect(offer.split(separator: "\r\n").count { $0.hasPrefix("a=rtpmap") } == 1)
  }

  @Test func `the common codec is used when one side lacks Opus`() throws {
    let pair = pair(AudioCodec.chromium)
    pair.replaceB {
      $0.media = .real
      $0.audio.codecs = [.pcma, .telephoneEvents]
    }
    try pair.negotiate()
    #expect(heard(pair).ratio > 30)
    #expect(mimeType(pair.a, pair) == .text("audio/PCMA"))
  }

  @Test func `a section without a common codec is rejected`() throws {
    let pair = pair([.g722, .telephoneEvents])
    pair.replaceB {
      $0.media = .real
      $0.audio.codecs = [.pcmu, .telephoneEvents]
    }
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    #expect(answer.sdp.contains("m=audio 0 "))
  }

  @Test func `static payload types need no rtpmap`() throws {
    let pair = pair([.pcmu])
    var offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    offer.sdp.replace("a=rtpmap:0 PCMU/8000\r\n", with: "")
    try pair.answer(offer, of: pair.a, by: pair.b)
    try pair.exchangeCandidates()
    #expect(heard(pair).ratio > 30)
  }

  @Test func `a renegotiation changes the codec in a call`() throws {
    let pair = pair(AudioCodec.chromium)
    try pair.negotiate()
    #expect(heard(pair).ratio > 15)
    let codecs = pair.a.session.codecs(for: .audio)
    for name in ["PCMU", "G722", "opus"] {
      let wanted = codecs.filter { $0.name == name }
      try pair.a.session.setCodecPreferences(wanted, of: pair.a.microphone)
      try pair.negotiate()
      #expect(heard(pair).ratio > (name == "opus" ? 15 : 28))
      #expect(mimeType(pair.b, pair) == .text("audio/\(name)"))
    }
    let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
    #expect(inbound["packetsLost"] == .integer(0) && inbound["concealedSamples"] == .integer(0))
  }

  @Test func `redundancy restores lost packets in a call`() throws {
    let pair = pair([.opus, .redundancy]) {
      $0.audio.redundantPackets = 1
      $0.audio.inBandFEC = false
    }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let before = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
    var count = 0
    pair.drops = { datagram in
      guard datagram.fromA, datagram.isMedia, !(192...223).contains(datagram.bytes[1]) else { return false }
      count += 1
      return count % 5 == 0
    }
    pair.run(for: .seconds(4))
    let after = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
    guard case .integer(let lost)? = after["packetsLost"], case .integer(let start)? = before["concealedSamples"],
      case .integer(let end)? = after["concealedSamples"]
    else {
      Issue.record("statistics are missing")
      return
    }
    #expect(lost > 30 && end - start < 2 * 960)
  }

  @Test func `digits cross a call`() throws {
    let pair = pair(AudioCodec.chromium)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    guard case .audio(let sending)? = pair.a.session.media.channels.first else {
      Issue.record("no channel")
      return
    }
    for digit in "42#" { #expect(sending.send?.sendTelephoneEvent(digit) == true) }
    pair.run(for: .seconds(2))
    let digits = pair.b.observations.compactMap { if case .digitReceived(let digit) = $0 { digit } else { nil } }
    #expect(digits == Array("42#"))
  }

  @Test func `modelled media is negotiated and carried with other codecs too`() throws {
    let pair = SessionPair { $0.audio.codecs = [.pcmu, .comfortNoise] }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaReceived > 40 && pair.b.loudest == AudioLevel(20))
  }

  @Test func `settings without a media codec are refused`() {
    var settings = AudioSettings()
    settings.codecs = [.redundancy, .telephoneEvents]
    #expect(settings.problem != nil)
    settings.codecs = [.opus, .opus]
    #expect(settings.problem != nil)
    settings.codecs = AudioCodec.chromium
    #expect(settings.problem == nil)
  }
}
