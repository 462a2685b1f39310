import CallCore
import Codecs
import SDP
import StackWorlds
import Testing

@testable import PeerSession

/// Digits of a sender (webrtc-pc section 7, `RTCDTMFSender`).
@Suite struct DTMFTests {
  private func pair(_ codecs: [AudioCodec] = [.opus, .telephoneEvents]) -> SessionPair {
    SessionPair {
      $0.media = .real
      $0.audio.codecs = codecs
    }
  }

  private func connected(_ codecs: [AudioCodec] = [.opus, .telephoneEvents]) throws -> SessionPair {
    let pair = pair(codecs)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  private func insert(
    _ tones: String, duration: Interval = .milliseconds(100), gap: Interval = .milliseconds(70), _ pair: SessionPair
  ) throws {
    try pair.a.session.insertDTMF(tones, duration: duration, interToneGap: gap, of: pair.a.microphone)
  }

  private func received(_ pair: SessionPair) -> String {
    String(pair.b.observations.compactMap { if case .digitReceived(let digit) = $0 { digit } else { nil } })
  }

  @Test(arguments: [[AudioCodec.opus, .telephoneEvents], [.pcmu, .telephoneEvents], [.g722, .telephoneEvents]])
  func `digits are received in order, letters in upper case`(codecs: [AudioCodec]) throws {
    let pair = try connected(codecs)
    try insert("11*#aD", pair)
    pair.run(for: .seconds(3))
    #expect(received(pair) == "11*#AD")
  }

  @Test func `a comma is a pause of two seconds`() throws {
    let pair = try connected()
    try insert("1,2", pair)
    pair.run(for: .milliseconds(1_900))
    #expect(received(pair) == "1")
    pair.run(for: .milliseconds(600))
    #expect(received(pair) == "12")
  }

  @Test func `the tone buffer holds what has not begun`() throws {
    let pair = try connected()
    try insert("1a,", pair)
    #expect(pair.a.session.toneBuffer(of: pair.a.microphone) == "1A,")
    pair.run(for: .milliseconds(60))
    #expect(pair.a.session.toneBuffer(of: pair.a.microphone) == "A,")
    pair.run(for: .seconds(3))
    #expect(pair.a.session.toneBuffer(of: pair.a.microphone) == "")
  }

  @Test func `each tone and pause is told when it begins, and the end of all`() throws {
    let pair = try connected()
    try insert("1,b", pair)
    pair.run(for: .seconds(3))
    let told = pair.a.events.compactMap { if case .toneChange(let tone, _) = $0 { tone } else { nil } }
    #expect(told == ["1", ",", "B", ""])
  }

  @Test func `new tones replace those that wait, and the present one goes on`() throws {
    let pair = try connected()
    try insert("123", pair)
    pair.run(for: .milliseconds(60))
    try insert("9", pair)
    pair.run(for: .seconds(1))
    #expect(received(pair) == "19")
  }

  @Test func `an empty text discards the tones that wait`() throws {
    let pair = try connected()
    try insert("123", pair)
    pair.run(for: .milliseconds(60))
    try insert("", pair)
    pair.run(for: .seconds(1))
    #expect(received(pair) == "1")
  }

  @Test(arguments: [(10, 40), (100, 100), (9_000, 6_000)] as [(Int64, Int64)])
  func `a tone lasts 40 ms to 6 s`(asked: Int64, played: Int64) throws {
    let pair = try connected()
    try insert("12", duration: .milliseconds(asked), gap: .milliseconds(30), pair)
    pair.run(for: .milliseconds(played))
    #expect(received(pair) == "1")
    pair.run(for: .milliseconds(150))
    #expect(received(pair) == "12")
  }

  @Test func `another character is refused, and nothing is sent`() throws {
    let pair = try connected()
    #expect(throws: SessionError.invalidCharacter("'E' is not a DTMF digit")) { try insert("12E", pair) }
    pair.run(for: .seconds(1))
    #expect(received(pair) == "")
  }

  @Test func `digits are refused before the connection, and without telephone events`() throws {
    let pair = pair()
    #expect(!pair.a.session.canInsertDTMF(of: pair.a.microphone))
    #expect(throws: SessionError.self) { try insert("1", pair) }
    let deaf = try connected([.opus])
    #expect(!deaf.a.session.canInsertDTMF(of: deaf.a.microphone))
    #expect(throws: SessionError.self) { try insert("1", deaf) }
  }

  @Test func `digits are refused on a transceiver that does not send`() throws {
    let pair = try connected()
    #expect(pair.a.session.canInsertDTMF(of: pair.a.microphone))
    try pair.a.session.setDirection(.recvonly, of: pair.a.microphone)
    try pair.negotiate()
    #expect(throws: SessionError.invalidState("the transceiver does not send")) { try insert("1", pair) }
  }
}
