import CallCore
import Codecs
import DTLS
import Foundation
import ICE
import SDP
import StackWorlds
import Testing

@testable import PeerSession

/// Descriptions that are no descriptions, that belong elsewhere, or that promise what is not true.
@Suite struct BadDescriptionTests {
  static let garbage = [
    "", "\0", "v=0", "hello", "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=\r\n",
    String(repeating: "a=x\r\n", count: 100_000), "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=\u{FFFD}\0\r\n",
    "{\"type\":\"offer\"}",
  ]

  @Test(arguments: garbage.indices) func `garbage as an offer is refused, and the next offer is answered`(which: Int)
    throws
  {
    let pair = SessionPair()
    let error = #expect(throws: SessionError.self) {
      try pair.b.session.setRemoteDescription(SessionDescriptionText(.offer, sdp: Self.garbage[which]), at: pair.now)
    }
    guard case .invalidDescription = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(pair.b.session.signalingState == .stable && !pair.b.session.hasRemoteDescription)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.b.session.connectionState == .connected)
  }

  @Test func `an offer without a fingerprint is refused with the line of its section`() throws {
    let pair = SessionPair()
    let offer = try pair.a.session.createOffer()
    let lines = offer.sdp.split(separator: "\r\n").filter { !$0.hasPrefix("a=fingerprint") }
    let line = try #require(lines.firstIndex { $0.hasPrefix("m=") }) + 1
    let text = lines.joined(separator: "\r\n") + "\r\n"
    let error = #expect(throws: SessionError.self) {
      try pair.b.session.setRemoteDescription(SessionDescriptionText(.offer, sdp: text), at: pair.now)
    }
    #expect(
      error?.description
        == "SDP line \(line): section 0 wants a=fingerprint: media is protected with DTLS-SRTP")
  }

  @Test(arguments: garbage.indices) func `garbage as an answer is refused, and the right one still taken`(which: Int)
    throws
  {
    let pair = SessionPair()
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    #expect(throws: SessionError.self) {
      try pair.a.session.setRemoteDescription(SessionDescriptionText(.answer, sdp: Self.garbage[which]), at: pair.now)
    }
    #expect(pair.a.session.signalingState == .haveLocalOffer)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    try pair.a.session.setRemoteDescription(answer, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .connected && pair.leaks == [])
  }

  /// Each is in the form of what it should be, and no use.
  private static let unusable = [
    ("ice-ufrag", "ab-cd"), ("ice-pwd", "0123456789_abcdefghijklm"), ("fingerprint", "sha-256 AA:BB"),
    ("fingerprint", "sha-999 AA:BB"),
  ]

  @Test(arguments: unusable) func `unusable credentials are refused before anything is taken`(
    name: String, value: String
  ) throws {
    let pair = SessionPair()
    let (pattern, replacement) = (try Regex("a=\(name):.*"), "a=\(name):\(value)")
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    var bad = offer
    bad.sdp.replace(pattern, with: replacement)
    #expect(throws: SessionError.self) { try pair.b.session.setRemoteDescription(bad, at: pair.now) }
    #expect(pair.b.session.signalingState == .stable && !pair.b.session.hasRemoteDescription)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    bad = answer
    bad.sdp.replace(pattern, with: replacement)
    #expect(throws: SessionError.self) { try pair.a.session.setRemoteDescription(bad, at: pair.now) }
    #expect(pair.a.session.signalingState == .haveLocalOffer)
    try pair.a.session.setRemoteDescription(answer, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    #expect(pair.a.session.connectionState == .connected)
  }

  /// What negotiation lets pass must be what the handshake can compare with.
  @Test(arguments: DTLS.Fingerprint.HashFunction.allCases.map(\.rawValue) + ["md2", "md5", "sha-3", "SHA-256"])
  func `negotiation and handshake know the same fingerprints`(algorithm: String) {
    for length in 0...80 {
      let fingerprint = SDP.Fingerprint(algorithm: algorithm, digest: Array(repeating: 1, count: length))
      #expect(fingerprint.isUsable == (DTLS.Fingerprint(fingerprint.text) != nil), "\(length) bytes")
    }
  }

  @Test func `an answer that restarts ICE where the offer did not is refused, and the right one still taken`() throws {
    let pair = try connected()
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    var restarting = answer
    restarting.sdp.replace(/a=ice-ufrag:.*/, with: "a=ice-ufrag:other")
    #expect(throws: SessionError.self) { try pair.a.session.setRemoteDescription(restarting, at: pair.now) }
    #expect(pair.a.session.signalingState == .haveLocalOffer)
    try pair.a.session.setRemoteDescription(answer, at: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.a.session.signalingState == .stable && pair.a.session.connectionState == .connected)
  }

  @Test(arguments: garbage.indices) func `garbage in the middle of a call changes nothing`(which: Int) throws {
    let pair = try connected()
    for kind in [SessionDescriptionText.Kind.offer, .answer, .pranswer] {
      #expect(throws: SessionError.self) {
        try pair.b.session.setRemoteDescription(SessionDescriptionText(kind, sdp: Self.garbage[which]), at: pair.now)
      }
    }
    let before = pair.b.mediaReceived
    pair.run(for: .seconds(1))
    #expect(pair.b.session.signalingState == .stable && pair.b.session.connectionState == .connected)
    #expect(pair.b.mediaReceived - before >= 45)
  }

  // MARK: An answer for another offer

  /// An answer made for this offer, changed.
  private func answer(_ change: (inout String) -> Void) throws -> (SessionPair, SessionDescriptionText) {
    let pair = SessionPair()
    let offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    var answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    change(&answer.sdp)
    return (pair, answer)
  }

  private func section(of text: String) -> String {
    String(text[(text.range(of: "m=audio")?.lowerBound ?? text.endIndex)...])
  }

  @Test(arguments: 0..<4) func `an answer whose sections are another offer's is refused`(which: Int) throws {
    let (pair, answer) = try answer { text in
      switch which {
      case 0: text.replace("a=mid:0", with: "a=mid:other")
      case 1: text += section(of: text).replacing("a=mid:0", with: "a=mid:1")
      case 2: text = String(text[..<(text.range(of: "m=audio")?.lowerBound ?? text.endIndex)])
      default: text.replace("m=audio", with: "m=video")
      }
    }
    let error = #expect(throws: SessionError.self) {
      try pair.a.session.setRemoteDescription(answer, at: pair.now)
    }
    if case .invalidDescription? = error {} else { Issue.record("\(String(describing: error))") }
    #expect(pair.a.session.signalingState == .haveLocalOffer)
    pair.run(for: .seconds(3))
    #expect(pair.a.mediaSent == 0 && pair.a.mediaReceived == 0)
    #expect(pair.leaks == [] && !pair.hasEarlyMedia)
  }

  @Test func `a recorded answer to Chromium's offer answers none of ours`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = tests.appending(path: "SDPTests/Recorded/chromium-answer.sdp")
    let answer = SessionDescriptionText(.answer, sdp: try String(contentsOf: file, encoding: .utf8))
    let pair = SessionPair()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    #expect(throws: SessionError.self) { try pair.a.session.setRemoteDescription(answer, at: pair.now) }
    #expect(pair.a.session.signalingState == .haveLocalOffer)
  }

  /// Everything about the answer is right but the ICE credentials, which are those of another call: nothing at this
  /// address can check, and nothing may be sent to it but checks.
  @Test func `an answer with another call's credentials connects to nobody`() throws {
    let (pair, answer) = try answer { text in
      text.replace(/a=ice-ufrag:.*/, with: "a=ice-ufrag:else")
      text.replace(/a=ice-pwd:.*/, with: "a=ice-pwd:0123456789abcdefghijklmn")
    }
    try pair.a.session.setRemoteDescription(answer, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(40))
    #expect(pair.a.session.connectionState == .failed)
    #expect(!pair.a.connectionStates.contains(.connected))
    #expect(pair.sent.filter(\.fromA).allSatisfy { (0...3).contains($0.bytes.first ?? 255) })
    #expect(pair.b.mediaReceived == 0 && pair.a.mediaReceived == 0 && pair.leaks == [])
  }

  // MARK: Codecs

  private static func offerOnlyPCMU(_ text: inout String) {
    text.replace(/m=audio (\d+) (\S+) .*/, with: { "m=audio \($0.1) \($0.2) 0" })
    for name in ["rtpmap", "fmtp", "rtcp-fb"] {
      text = text.split(separator: "\r\n").filter { !$0.hasPrefix("a=\(name):") }.joined(separator: "\r\n") + "\r\n"
    }
  }

  @Test func `an offer without a common codec is answered with a rejected section, and nothing is sent`() throws {
    let pair = SessionPair()
    var offer = try pair.a.session.createOffer()
    Self.offerOnlyPCMU(&offer.sdp)
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    #expect(answer.rejectsEverything && answer.sdp.contains("m=audio 0 UDP/TLS/RTP/SAVPF 0\r\n"))
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    #expect(pair.b.session.signalingState == .stable && pair.b.session.transceivers.isEmpty)
    pair.run(for: .seconds(3))
    #expect(pair.sent.isEmpty && pair.b.session.iceGatheringState == .new)
  }

  @Test func `an answer that rejects everything is taken, and no media follows`() throws {
    let (pair, answer) = try answer { text in
      text.replace(/m=audio \d+/, with: "m=audio 0")
      text.replace("a=group:BUNDLE 0", with: "a=x-group")
    }
    #expect(answer.rejectsEverything)
    try pair.a.session.setRemoteDescription(answer, at: pair.now)
    #expect(pair.a.session.signalingState == .stable && pair.a.session.transceivers.isEmpty)
    pair.run(for: .seconds(3))
    #expect(pair.sent.filter(\.fromA).isEmpty && pair.a.mediaReceived == 0)
  }

  @Test func `an answer in another codec is refused, and says so`() throws {
    let (pair, answer) = try answer { Self.offerOnlyPCMU(&$0) }
    #expect(throws: SessionError.noCommonCodec) { try pair.a.session.setRemoteDescription(answer, at: pair.now) }
    #expect(pair.a.session.signalingState == .haveLocalOffer)
    pair.run(for: .seconds(3))
    #expect(pair.a.mediaSent == 0 && pair.leaks == [])
  }

  // MARK: Certificates

  private static func forge(_ text: inout String) {
    text.replace(
      /a=fingerprint:.*/, with: "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"))
  }

  /// The side that was lied to fails; the other is told by an alert. Neither ever sends media.
  @Test(arguments: [false, true], [false, true]) func `a wrong fingerprint ends in failure and no media`(
    inOffer: Bool, offererIsClient: Bool
  ) throws {
    let pair = SessionPair { $0.answersPassively = offererIsClient }
    var offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    if inOffer { Self.forge(&offer.sdp) }
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    var answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    if !inOffer { Self.forge(&answer.sdp) }
    try pair.a.session.setRemoteDescription(answer, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(5))
    let (deceived, other) = inOffer ? (pair.b, pair.a) : (pair.a, pair.b)
    #expect(deceived.failures == ["fingerprint-mismatch"])
    #expect(deceived.session.connectionState == .failed)
    #expect(other.session.connectionState != .connected || other.session.dtlsState == .closed)
    for side in [pair.a, pair.b] { #expect(side.mediaReceived == 0 && side.loudest == .silence) }
    #expect(deceived.mediaSent == 0)
    #expect(pair.leaks == [])
  }

  /// A renegotiation with another certificate, such as after the far side's app was started again: the session shakes
  /// hands anew, and until that is done neither sends nor plays.
  @Test(arguments: [false, true]) func `a certificate that changes by negotiation is another association`(
    answersPassively: Bool
  ) throws {
    let pair = try connected { $0.answersPassively = answersPassively }
    let keys = pair.a.session.dtls.session?.srtpKeys
    pair.replaceB()
    let offer = try pair.b.session.createOffer()
    try pair.b.session.setLocalDescription(offer, at: pair.now)
    try pair.a.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.a.session.createAnswer()
    try pair.a.session.setLocalDescription(answer, at: pair.now)
    let (renegotiated, sent, received) = (pair.now, pair.sent.count, pair.a.mediaReceived)
    #expect(pair.a.session.dtlsState != .connected)
    try pair.b.session.setRemoteDescription(answer, at: pair.now)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(5))
    let again = pair.a.events.compactMap { if case .dtlsStateChange(let state) = $0 { state } else { nil } }
    #expect(again == [.connecting, .connected, .new, .connecting, .connected])
    #expect(pair.a.connectionStates.last == .connected && pair.b.connectionStates.last == .connected)
    #expect(pair.a.session.dtls.session?.srtpKeys != keys)
    #expect(pair.a.mediaReceived - received >= 100 && pair.b.mediaReceived >= 100)
    let first = pair.sent[sent...].first { $0.fromA && $0.isMedia }
    #expect(try #require(first).time > renegotiated)
    #expect(pair.leaks == [])
  }

  /// The far side is who he was, and signalling says that he is somebody else: the call ends rather than trusts.
  @Test func `a wrong fingerprint in the middle of a call ends media for good`() throws {
    let pair = try connected { $0.dtls.handshakeTimeout = .seconds(10) }
    var offer = try pair.b.session.createOffer()
    Self.forge(&offer.sdp)
    let (played, sent) = (pair.a.mediaReceived, pair.sent.count)
    try pair.a.session.setRemoteDescription(offer, at: pair.now)
    try pair.a.session.setLocalDescription(try pair.a.session.createAnswer(), at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(15))
    #expect(pair.a.session.connectionState == .failed)
    #expect(pair.a.failures == ["handshake-timeout"])
    #expect(pair.a.mediaReceived == played)
    #expect(!pair.sent[sent...].contains { $0.fromA && $0.isMedia })
    #expect(pair.leaks == [])
  }

  @Test(arguments: ["fingerprint", "ice-ufrag", "ice-pwd"]) func `a description without its transport is refused`(
    missing: String
  ) throws {
    let pair = SessionPair()
    var offer = try pair.a.session.createOffer()
    offer.sdp =
      offer.sdp.split(separator: "\r\n").filter { !$0.hasPrefix("a=\(missing):") }.joined(separator: "\r\n") + "\r\n"
    let error = #expect(throws: SessionError.self) {
      try pair.b.session.setRemoteDescription(offer, at: pair.now)
    }
    if case .invalidDescription? = error {} else { Issue.record("\(String(describing: error))") }
    #expect(pair.b.session.signalingState == .stable)
  }
}

/// Two sessions one second into their call.
func connected(_ adjust: (inout SessionConfiguration) -> Void = { _ in }) throws -> SessionPair {
  let pair = SessionPair(adjust: adjust)
  try pair.negotiate()
  pair.run(for: .seconds(1))
  #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
  return pair
}
