import COpus
import CallCore
import Codecs
import Testing

/// RFC 6716 section 3: what the first byte means, which packets are malformed; libopus is the judge of both.
@Suite struct OpusPacketVectorTests {
  /// What libopus makes of a payload: frames and samples of each, or nil where it refuses it.
  private func judged(_ payload: [UInt8]) -> (frames: Int, samples: Int)? {
    guard let first = payload.first else { return nil }
    var sizes = [opus_int16](repeating: 0, count: 48)
    let frames = opus_packet_parse(payload, opus_int32(payload.count), nil, nil, &sizes, nil)
    guard frames > 0 else { return nil }
    return (Int(frames), Int(opus_packet_get_samples_per_frame([first], 48_000)))
  }

  private func expectAgreement(_ payload: [UInt8]) {
    let (ours, theirs) = (OpusPacket(bytes: payload), judged(payload))
    #expect(ours?.frameCount == theirs?.frames, "\(payload.prefix(8))… of \(payload.count) bytes")
    #expect(ours?.frameSamples == theirs?.samples)
  }

  /// Table 2 and the stereo bit: all 64 combinations.
  @Test func `3-1 - every configuration has the mode, bandwidth and frame size of table 2`() throws {
    for configuration in UInt8(0)..<32 {
      for stereo in [UInt8(0), 4] {
        let packet = try #require(OpusPacket(bytes: [configuration << 3 | stereo, 0]))
        let mode: OpusPacket.Mode = configuration < 12 ? .silk : configuration < 16 ? .hybrid : .celt
        #expect(packet.mode == mode)
        #expect(packet.isStereo == (stereo != 0))
        let theirs = opus_packet_get_bandwidth([configuration << 3])
        #expect(packet.bandwidth.rawValue == Int(theirs - OPUS_BANDWIDTH_NARROWBAND))
        #expect(packet.frameSamples == Int(opus_packet_get_samples_per_frame([configuration << 3], 48_000)))
      }
    }
  }

  /// Section 3.4: R1 to R7, one packet that keeps a rule and one that breaks it.
  @Test func `3-4 - the seven rules of a well-formed packet hold`() {
    let frame = { (count: Int) in [UInt8](repeating: 7, count: count) }
    let pairs: [(rule: String, good: [UInt8], bad: [UInt8])] = [
      ("R1, at least one byte", [0], []),
      ("R2, no implicit frame above 1275 bytes", [0] + frame(1_275), [0] + frame(1_276)),
      ("R2 in code 1", [1] + frame(2_550), [1] + frame(2_552)),
      ("R3, code 1 has an even rest", [1] + frame(4), [1] + frame(5)),
      ("R4, code 2 has room for its first frame", [2, 3] + frame(3), [2, 3] + frame(2)),
      ("R5, code 3 has a count", [3, 1], [3]),
      ("R5, code 3 has a frame and at most 120 ms", [3, 6] + frame(6), [3, 13] + frame(13)),
      ("R6, constant code 3 divides its rest", [3, 2] + frame(6), [3, 2] + frame(7)),
      ("R6, padding fits", [3, 0x41, 2] + frame(3), [3, 0x41, 4] + frame(3)),
      ("R7, variable code 3 has its lengths and frames", [3, 0x82, 1] + frame(2), [3, 0x82, 3] + frame(2)),
    ]
    for (rule, good, bad) in pairs {
      #expect(OpusPacket(bytes: good) != nil, "\(rule)")
      #expect(OpusPacket(bytes: bad) == nil, "\(rule)")
      expectAgreement(good)
      expectAgreement(bad)
    }
  }

  @Test(arguments: 0..<8) func `libopus and we refuse the same packets`(seed: Int) {
    var random = RandomSource(seed: UInt64(seed)).stream("opus")
    for _ in 0..<5_000 {
      let length = random.chance(0.1) ? random.uniform(below: 2_700) : random.uniform(below: 40)
      var payload = random.bytes(Int(length))
      // Half the bytes small, so that lengths and counts are often possible ones.
      if payload.count > 2, random.chance(0.5) {
        payload[1] = UInt8(random.uniform(below: 4)) << 6 | UInt8(random.uniform(below: 10))
        payload[2] = UInt8(random.uniform(below: 12))
      }
      expectAgreement(payload)
    }
  }
}
