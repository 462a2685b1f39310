import CallCore
import RTP
import Testing

@Suite struct H264PayloadTests {
  /// A sequence parameter set of Constrained Baseline, level 3.1, 640x480, as OpenH264 writes it.
  static let sequenceSet: [UInt8] = [
    0x67, 0x42, 0xC0, 0x1F, 0x8C, 0x8D, 0x40, 0x50, 0x1E, 0xD0, 0x0F, 0x08, 0x84, 0x6A,
  ]
  static let pictureSet: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

  func stream(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

  func joined(_ payloads: [(bytes: [UInt8], place: PayloadPlace)]) -> [UInt8] {
    var result: [UInt8] = []
    for payload in payloads { H264Payload.append(payload.bytes.span.bytes, toByteStream: &result) }
    return result
  }

  @Test func `small NAL units share an STAP-A with the highest importance of them`() throws {
    // RFC 6184 section 5.7.1 figure 7: the header, then a size before each unit.
    let frame = stream([[0x27, 1, 2], [0x68, 3], [0x65, 4, 5, 6]])
    let payloads = try #require(packetized(of: frame, as: .h264(.nonInterleaved), limits: .init(maximum: 100)))
    #expect(payloads.map(\.bytes) == [[0x78, 0, 3, 0x27, 1, 2, 0, 2, 0x68, 3, 0, 4, 0x65, 4, 5, 6]])
    #expect(joined(payloads) == frame)
  }

  @Test func `a large NAL unit is cut into FU-As that begin and end it`() throws {
    let frame = stream([[0x65] + (1...20).map { UInt8($0) }])
    let payloads = try #require(packetized(of: frame, as: .h264(.nonInterleaved), limits: .init(maximum: 10)))
    // RFC 6184 section 5.8: the indicator keeps F and NRI, the header has S, E and the type.
    #expect(payloads.map { Array($0.bytes[..<2]) } == [[0x7C, 0x85], [0x7C, 0x05], [0x7C, 0x45]])
    #expect(payloads.map(\.bytes.count) == [8, 9, 9])
    #expect(joined(payloads) == frame)
  }

  @Test func `a NAL unit just too large is never one fragment`() throws {
    let frame = stream([[0x65] + [UInt8](repeating: 7, count: 10)])
    let payloads = try #require(packetized(of: frame, as: .h264(.nonInterleaved), limits: .init(maximum: 10)))
    #expect(payloads.count == 2)
    #expect(joined(payloads) == frame)
    // Nor where only the frame's last packet has less room.
    let two = stream([[0x61, 1], [0x65] + [UInt8](repeating: 7, count: 15)])
    let limits = PayloadLimits(maximum: 20, lastReduction: 6, singleReduction: 0)
    let cut = try #require(packetized(of: two, as: .h264(.nonInterleaved), limits: limits))
    #expect(cut.count == 3)
    #expect(joined(cut) == two)
  }

  @Test func `the single NAL unit mode neither aggregates nor cuts`() throws {
    let frame = stream([[0x67, 1, 2], [0x68, 3]])
    let payloads = try #require(packetized(of: frame, as: .h264(.singleUnit), limits: .init(maximum: 3)))
    #expect(payloads.map(\.bytes) == [[0x67, 1, 2], [0x68, 3]])
    #expect(packetized(of: frame, as: .h264(.singleUnit), limits: .init(maximum: 2)) == nil)
  }

  @Test func `a frame without a NAL unit is refused`() {
    #expect(packetized(of: [1, 2, 3], as: .h264(.nonInterleaved), limits: .init(maximum: 100)) == nil)
  }

  @Test func `aggregated units with a wrong size are refused`() {
    #expect(VideoPayload(bytes: [0x78, 0, 2, 0x67, 1], .h264) != nil)
    #expect(VideoPayload(bytes: [0x78, 0, 3, 0x67, 1], .h264) == nil)
    #expect(VideoPayload(bytes: [0x78, 0, 1, 0x67, 1], .h264) == nil)
    #expect(VideoPayload(bytes: [0x78, 0, 0], .h264) == nil)
    #expect(VideoPayload(bytes: [0x78], .h264) == nil)
  }

  @Test func `a fragment that both begins and ends is refused`() {
    #expect(VideoPayload(bytes: [0x7C, 0xC5, 1], .h264) == nil)
    #expect(VideoPayload(bytes: [0x7C, 0x85], .h264) == nil)
    #expect(VideoPayload(bytes: [0x7C, 0x85, 1], .h264)?.isKeyFrame == true)
    #expect(VideoPayload(bytes: [0x7C, 0x05, 1], .h264)?.isKeyFrame == false)
  }

  @Test func `structures of the interleaved mode are refused`() {
    for kind: UInt8 in [0, 25, 26, 27, 29, 30, 31] {
      #expect(VideoPayload(bytes: [0x60 | kind, 0x85, 1, 2, 3, 4], .h264) == nil)
    }
  }

  @Test func `a sequence parameter set gives the picture's size`() {
    let set = H264SequenceParameterSet(parsing: Self.sequenceSet.span.bytes)
    #expect(set?.width == 640)
    #expect(set?.height == 480)
    #expect(set?.id == 0)
    #expect(set?.level == 31)
  }

  // The sets of libwebrtc's sps_parser_unittest.
  @Test(
    arguments: [
      (
        [
          0x7A, 0x00, 0x1F, 0xBC, 0xD9, 0x40, 0x50, 0x05, 0xBA, 0x10, 0x00, 0x00, 0x03, 0x00, 0xC0, 0x00, 0x00, 0x2A,
          0xE0, 0xF1, 0x83, 0x19, 0x60,
        ], 1280, 720
      ),
      (
        [
          0x7A, 0x00, 0x1E, 0xBC, 0xD9, 0x40, 0xA0, 0x2F, 0xF8, 0x98, 0x40, 0x00, 0x00, 0x03, 0x01, 0x80, 0x00, 0x00,
          0x56, 0x83, 0xC5, 0x8B, 0x65, 0x80,
        ], 640, 360
      ),
      (
        [
          0x7A, 0x00, 0x0D, 0xBC, 0xD9, 0x43, 0x43, 0x3E, 0x5E, 0x10, 0x00, 0x00, 0x03, 0x00, 0x60, 0x00, 0x00, 0x15,
          0xA0, 0xF1, 0x42, 0x99, 0x60,
        ], 200, 400
      ),
    ] as [([UInt8], Int, Int)]) func `cropping and emulation prevention are taken into account`(
      bytes: [UInt8], width: Int, height: Int
    )
  {
    let set = H264SequenceParameterSet(parsing: ([0x67] + bytes).span.bytes)
    #expect(set.map { [Int($0.width), Int($0.height)] } == [width, height])
  }

  @Test func `a key frame's payload tells its parameter sets and size`() throws {
    let slice: [UInt8] = [0x65, 0x88, 0x84]
    let frame = stream([Self.sequenceSet, Self.pictureSet, slice])
    let payloads = try #require(packetized(of: frame, as: .h264(.nonInterleaved), limits: .init(maximum: 100)))
    let payload = try #require(VideoPayload(bytes: payloads[0].bytes, .h264))
    #expect(payload.isKeyFrame)
    #expect(payload.width == 640)
    #expect(payload.start == .possibly)
    guard case .h264(let content) = payload.descriptor else { return #expect(Bool(false)) }
    #expect(content.hasSequenceParameterSet && content.hasPictureParameterSet)
    #expect(H264PictureParameterSet(parsing: Self.pictureSet.span.bytes)?.sequenceParameterSet == 0)
    #expect(H264SliceHeader(parsing: slice.span.bytes)?.firstMacroblock == 0)
  }
}

@Suite struct H264ProfileLevelTests {
  // RFC 6184 table 5 and libwebrtc's h264_profile_level_id_unittest.
  @Test(
    arguments: [
      ("42e01f", .constrainedBaseline, .level3_1), ("42C02A", .constrainedBaseline, .level4_2),
      ("4de01f", .constrainedBaseline, .level3_1), ("58f01f", .constrainedBaseline, .level3_1),
      ("42001f", .baseline, .level3_1), ("42A01F", .baseline, .level3_1), ("58A01F", .baseline, .level3_1),
      ("4D401f", .main, .level3_1), ("64001f", .high, .level3_1), ("640c1f", .constrainedHigh, .level3_1),
      ("42f00b", .constrainedBaseline, .level1b), ("42C00b", .constrainedBaseline, .level1_1),
      ("42900b", .baseline, .level1b), ("4d100b", .main, .level1b), ("64000b", .high, .level1_1),
      ("f4001f", .predictiveHigh444, .level3_1), ("42e034", .constrainedBaseline, .level5_2),
    ] as [(String, H264ProfileLevel.Profile, H264ProfileLevel.Level)])
  func `six digits give profile and level`(
    text: String, profile: H264ProfileLevel.Profile, level: H264ProfileLevel.Level
  ) {
    #expect(H264ProfileLevel(text) == H264ProfileLevel(profile: profile, level: level))
  }

  @Test(arguments: [
    "", " 42e01f", "4242e01f", "e01f", "42e0", "42e0001f", "+2e01f", "42e000", "42e00f", "42e0ff",
    "42e11f", "58601f", "64e01f", "zz001f",
  ])
  func `other text is refused`(text: String) { #expect(H264ProfileLevel(text) == nil) }

  @Test func `what is written reads the same`() {
    for profile in H264ProfileLevel.Profile.allCases {
      for level in H264ProfileLevel.Level.allCases {
        let value = H264ProfileLevel(profile: profile, level: level)
        guard let text = value.text else {
          #expect(level == .level1b && profile.rawValue > H264ProfileLevel.Profile.main.rawValue)
          continue
        }
        #expect(H264ProfileLevel(text) == value)
      }
    }
  }

  @Test func `an answer has the lower level, level 1b below 1_1`() {
    func answer(_ local: String, _ remote: String, _ asymmetry: (Bool, Bool) = (false, false)) -> String? {
      guard let local = H264ProfileLevel(local), let remote = H264ProfileLevel(remote) else { return nil }
      return H264ProfileLevel.answer(
        local: local, localAllowsAsymmetry: asymmetry.0, remote: remote, remoteAllowsAsymmetry: asymmetry.1)?.text
    }
    #expect(answer("42e015", "42e01f") == "42e015")
    #expect(answer("42e01f", "42e015") == "42e015")
    #expect(answer("42e01f", "42e015", (true, false)) == "42e015")
    #expect(answer("42e01f", "42e015", (true, true)) == "42e01f")
    #expect(answer("42f00b", "42e00b") == "42f00b")
    #expect(answer("42e01f", "64001f") == nil)
  }
}
