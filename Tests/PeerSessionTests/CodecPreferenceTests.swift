import CallCore
import PeerSession
import SDP
import StackWorlds
import Testing

/// Which codecs a transceiver may prefer (webrtc-pc section 5.4, `setCodecPreferences`).
@Suite struct CodecPreferenceTests {
  @Test func `what can be sent can be preferred, and a call goes on with it`() throws {
    let pair = SessionPair()
    let codecs = pair.a.session.codecs(for: .audio)
    #expect(codecs.first?.name == "opus")
    try pair.a.session.setCodecPreferences([codecs[0], codecs[0]], of: pair.a.microphone)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaReceived > 30)
    try pair.a.session.setCodecPreferences([], of: pair.a.microphone)
  }

  @Test func `a codec that there is not is refused`() throws {
    let pair = SessionPair()
    do throws(SessionError) {
      try pair.a.session.setCodecPreferences([CodecCapability("G729", clockRate: 8_000)], of: pair.a.microphone)
      Issue.record("it was taken")
    } catch {
      #expect(error.name == "InvalidModificationError" && "\(error)".contains("G729/8000"))
    }
  }
}
