import Testing

@testable import SDP

/// The examples of RFC 7587 section 7.
struct OpusParameterTests {
  private func codec(_ lines: String) throws -> (CodecDescription, MediaDescription) {
    let text = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n" + lines.replacing("\n", with: "\r\n") + "\r\n"
    let section = try #require(try SessionDescription(parsing: text).media.first)
    return (try #require(section.codecs.first), section)
  }

  @Test func `example 1 - mono sample rates and bitrates are the sender's affair`() throws {
    let (codec, _) = try codec("m=audio 54312 RTP/AVP 101\na=rtpmap:101 opus/48000/2")
    #expect(codec.identity == CodecIdentity(CodecCapability.opus))
    let parameters = OpusParameters(codec.parameters)
    #expect(parameters.maximumPlaybackRate == 48_000 && parameters.minimumPacketTime == 3)
    #expect(!parameters.isStereo && !parameters.usesInbandFEC && !parameters.usesDTX && !parameters.isConstantBitrate)
    #expect(parameters.maximumAverageBitrate == nil)
  }

  @Test func `example 2 - a wideband receiver with a limit, stereo, redundancy and 40 ms packets`() throws {
    let (codec, section) = try codec(
      """
      m=audio 54312 RTP/AVP 101
      a=rtpmap:101 opus/48000/2
      a=fmtp:101 maxplaybackrate=16000; sprop-maxcapturerate=16000; maxaveragebitrate=20000; stereo=1; useinbandfec=1; usedtx=0
      a=ptime:40
      a=maxptime:40
      """)
    let parameters = OpusParameters(codec.parameters)
    #expect(parameters.maximumPlaybackRate == 16_000)
    #expect(parameters.maximumAverageBitrate == 20_000)
    #expect(parameters.isStereo && parameters.usesInbandFEC && !parameters.usesDTX)
    #expect(codec.parameters["sprop-maxcapturerate"] == "16000")
    #expect(section.attributes.packetTime == 40 && section.attributes.maximumPacketTime == 40)
  }

  @Test(arguments: [(0, 6_000), (499, 6_000), (12_000, 12_000), (4_294_967_295, 510_000)] as [(UInt32, UInt32)])
  func `a bitrate that cannot be asked for counts as the nearest`(asked: UInt32, taken: UInt32) throws {
    let (codec, _) = try codec(
      "m=audio 9 RTP/AVP 101\na=rtpmap:101 opus/48000/2\na=fmtp:101 maxaveragebitrate=\(asked)")
    #expect(OpusParameters(codec.parameters).maximumAverageBitrate == taken)
  }

  @Test func `example 3 - stereo is wanted and will be sent`() throws {
    let (codec, _) = try codec(
      "m=audio 54312 RTP/AVP 101\na=rtpmap:101 opus/48000/2\na=fmtp:101 stereo=1; sprop-stereo=1")
    #expect(OpusParameters(codec.parameters).isStereo)
    #expect(codec.parameters["sprop-stereo"] == "1")
  }
}
