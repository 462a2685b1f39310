import CallCore
import Testing

@testable import Profiles

@Suite struct BandwidthLimitTests {
  private static let sdp = [
    "v=0", "c=IN IP4 0.0.0.0", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", "b=AS:40", "a=mid:0",
    "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:1", "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "a=mid:2", "",
  ]

  @Test func `each limit is a line of its own section, before the attributes`() {
    let limit = BandwidthLimit(audio: .kilobitsPerSecond(32), video: .kilobitsPerSecond(256))
    var expected = Self.sdp
    expected[4] = "b=AS:32"
    expected.insert("b=AS:256", at: 8)
    #expect(limit.limiting(Self.sdp.joined(separator: "\r\n")) == expected.joined(separator: "\r\n"))
  }

  @Test func `without a limit a description stays as it is`() {
    let sdp = Self.sdp.joined(separator: "\r\n")
    #expect(BandwidthLimit().limiting(sdp) == sdp)
  }
}
