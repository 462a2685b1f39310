import CallCore
import Codecs
import PeerSession
import SDP
import StackWorlds
import Statistics
import Testing

/// How a sender sends, changed in a call that goes on (webrtc-pc section 5.2, `getParameters` and `setParameters`).
@Suite struct SendParametersTests {
  private func call(media: MediaFidelity = .synthetic) throws -> SessionPair {
    let pair = SessionPair { $0.media = media }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  private func change(_ pair: SessionPair, _ body: (inout SendParameters) -> Void) throws {
    var parameters = try pair.a.session.sendParameters(of: pair.a.microphone)
    body(&parameters)
    try pair.a.session.setSendParameters(parameters, of: pair.a.microphone)
    pair.drain(pair.a)
  }

  @Test func `they tell what was negotiated`() throws {
    let pair = try call()
    let parameters = try pair.a.session.sendParameters(of: pair.a.microphone)
    #expect(parameters.codecs.map(\.mimeType) == ["audio/opus"] && parameters.codecs.first?.payloadType == 111)
    #expect(parameters.encodings == [EncodingParameters()] && parameters.cname == "a")
    #expect(parameters.headerExtensions.count == 2 && parameters.usesReducedSizeRTCP)
  }

  @Test(arguments: [MediaFidelity.real, .synthetic])
  func `an encoding that is not active is not sent, until it is again`(media: MediaFidelity) throws {
    let pair = try call(media: media)
    try change(pair) { $0.encodings[0].isActive = false }
    let sent = pair.a.mediaSent
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent == sent && pair.b.mediaSent > 60)
    try change(pair) { $0.encodings[0].isActive = true }
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent > sent + 40)
    #expect(pair.a.negotiationsNeeded == 1)
  }

  private func bytesSent(_ pair: SessionPair, in duration: Interval) -> Int64 {
    func count() -> Int64 {
      if case .integer(let bytes)? = pair.a.session.statistics(at: pair.now).first("outbound-rtp")?["bytesSent"] {
        return bytes
      }
      return 0
    }
    let before = count()
    pair.run(for: duration)
    return count() - before
  }

  @Test(arguments: [MediaFidelity.real, .synthetic])
  func `the encoder gives no more than the greatest bit rate`(media: MediaFidelity) throws {
    let pair = try call(media: media)
    let usual = bytesSent(pair, in: .seconds(4))
    try change(pair) { $0.encodings[0].maxBitrate = .kilobitsPerSecond(12) }
    let capped = bytesSent(pair, in: .seconds(4))
    #expect(capped <= 12_000 / 8 * 4 * 12 / 10 && capped * 2 < usual, "\(capped) of \(usual) bytes")
    let report = pair.a.session.statistics(at: pair.now)
    #expect(report.first("outbound-rtp")?["targetBitrate"] == .real(12_000))
    // It outlives a negotiation, and none is as good as before.
    try pair.negotiate()
    #expect(bytesSent(pair, in: .seconds(4)) * 2 < usual)
    try change(pair) { $0.encodings[0].maxBitrate = nil }
    #expect(abs(bytesSent(pair, in: .seconds(4)) - usual) < usual / 10)
  }

  @Test func `what was not asked for, was asked for anew, or names other encodings is refused`() throws {
    let pair = try call()
    var parameters = try pair.a.session.sendParameters(of: pair.a.microphone)
    let later = try pair.a.session.sendParameters(of: pair.a.microphone)
    func refusal(_ parameters: SendParameters) -> String? {
      do throws(SessionError) {
        try pair.a.session.setSendParameters(parameters, of: pair.a.microphone)
        return nil
      } catch {
        return error.name
      }
    }
    #expect(refusal(parameters) == "InvalidModificationError")
    parameters = later
    parameters.encodings.append(EncodingParameters(rid: "b"))
    #expect(refusal(parameters) == "InvalidModificationError")
    parameters = later
    parameters.encodings[0].rid = "a"
    #expect(refusal(parameters) == "InvalidModificationError")
    parameters = later
    parameters.encodings[0].maxBitrate = .bitsPerSecond(0)
    #expect(refusal(parameters) == "RangeError")
    #expect(refusal(later) == nil)
    #expect(refusal(later) == "InvalidStateError")
  }

  @Test(arguments: [
    ([EncodingParameters(rid: "a"), EncodingParameters()], "TypeError"),
    ([EncodingParameters(rid: "a"), EncodingParameters(rid: "a")], "TypeError"),
    ([EncodingParameters(rid: "ä")], "TypeError"), ([EncodingParameters(maxBitrate: .bitsPerSecond(-1))], "RangeError"),
  ])
  func `encodings that cannot be are refused`(encodings: [EncodingParameters], name: String) throws {
    let pair = SessionPair()
    do throws(SessionError) {
      try pair.a.session.addTransceiver(.microphone, TransceiverInit(sendEncodings: encodings))
      Issue.record("they were taken")
    } catch {
      #expect(error.name == name)
    }
  }

  @Test func `audio has one encoding, the first`() throws {
    let pair = SessionPair()
    try pair.a.session.stop(pair.a.microphone)
    let made = try pair.a.session.addTransceiver(
      .microphone,
      TransceiverInit(sendEncodings: [EncodingParameters(rid: "a", isActive: false), EncodingParameters(rid: "b")]))
    let parameters = try pair.a.session.sendParameters(of: made)
    #expect(parameters.encodings == [EncodingParameters(isActive: false)])
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent == 0)
  }
}
