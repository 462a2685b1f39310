import CallCore
import Codecs
import Testing

@Suite struct OpusTests {
  func settings(_ change: (inout OpusEncoder.Settings) -> Void = { _ in }) -> OpusEncoder.Settings {
    var settings = OpusEncoder.Settings()
    settings.complexity = 5
    change(&settings)
    return settings
  }

  @Test(arguments: PacketDuration.ofOpus, [1, 2])
  func `every packet duration survives the round trip`(duration: PacketDuration, channels: Int) throws {
    let packets = try speechPackets(
      10,
      settings {
        $0.packetDuration = duration; $0.channels = channels
      })
    let decoder = try OpusDecoder(channels: channels)
    for payload in packets {
      let packet = try #require(OpusPacket(bytes: payload))
      #expect(packet.samplesPerChannel == duration.samplesPerChannel)
      let samples = try #require(decoded { decoder.decode(payload.span.bytes, into: &$0) })
      #expect(samples.count == duration.samplesPerChannel * channels)
    }
  }

  @Test func `decoded speech is about as loud as it was`() throws {
    var source = SpeechLikeSource()
    let encoder = try OpusEncoder(settings: settings())
    let decoder = try OpusDecoder()
    var (before, after) = (0.0, 0.0)
    for _ in 0..<100 {
      let samples = source.next(960)
      let payload = try encoded(encoder, samples).bytes
      let result = try #require(decoded { decoder.decode(payload.span.bytes, into: &$0) })
      before += rootMeanSquare(samples.span)
      after += rootMeanSquare(result.span)
    }
    #expect(abs(after / before - 1) < 0.2)
  }

  @Test func `two encoders write the same bytes`() throws {
    let first = try speechPackets(100, settings { $0.expectedPacketLoss = 10 })
    let second = try speechPackets(100, settings { $0.expectedPacketLoss = 10 })
    #expect(first == second)
  }

  @Test func `the bitrate is honoured`() throws {
    for rate in [16, 24, 32, 64] as [Int64] {
      let packets = try speechPackets(
        200,
        settings {
          $0.bitrate = .kilobitsPerSecond(rate); $0.isVariableBitrate = false
        })
      #expect(packets.allSatisfy { $0.count == Int(rate) * 20 / 8 })
    }
  }

  /// At 16 kHz of audio bandwidth: what libopus 1.3.1 was measured to do.
  @Test(
    arguments: [
      (16, 5, false), (16, 20, false), (16, 25, true), (20, 5, false), (20, 6, true), (24, 0, false), (24, 1, true),
      (32, 1, true),
    ] as [(Int64, Int, Bool)])
  func `redundancy appears only where bitrate and expected loss allow it`(
    kilobits: Int64, loss: Int, expected: Bool
  ) throws {
    let packets = try speechPackets(
      100,
      settings {
        $0.bitrate = .kilobitsPerSecond(kilobits)
        $0.expectedPacketLoss = loss
        $0.complexity = 9
        $0.maximumBandwidth = .wide
      })
    let count = packets.count { OpusPacket(bytes: $0)?.hasRedundancy == true }
    #expect((count > 10) == expected, "\(count) of 100")
  }

  @Test func `the encoder carries no redundancy when told not to`() throws {
    let packets = try speechPackets(
      100,
      settings {
        $0.usesInBandFEC = false; $0.expectedPacketLoss = 20
      })
    #expect(packets.allSatisfy { OpusPacket(bytes: $0)?.hasRedundancy == false })
  }

  /// The redundancy stands before the speech (RFC 6716 section 4.2.5), so that the shortest beginning of a packet that
  /// decodes to the same redundancy ends with it.
  private func redundantBytes(of packet: [UInt8]) throws -> Int {
    func redundancy(_ count: Int) throws -> [Int16]? {
      let decoder = try OpusDecoder()
      let bytes = Array(packet[..<count])
      return decoded { decoder.decodeRedundancy(of: bytes.span.bytes, samples: 960, into: &$0) }
    }
    let whole = try redundancy(packet.count)
    var (few, enough) = (1, packet.count)
    while enough - few > 1 {
      let middle = (few + enough) / 2
      if try redundancy(middle) == whole { enough = middle } else { few = middle }
    }
    return enough
  }

  /// Drafts on redundancy say two thirds. libopus codes it the finer the more loss it expects.
  @Test(
    arguments: [
      (24, 5, 0.6...0.7), (24, 10, 0.7...0.8), (32, 10, 0.7...0.8), (24, 15, 0.85...0.95), (32, 25, 0.85...0.95),
    ]
      as [(Int64, Int, ClosedRange<Double>)])
  func `redundancy takes two thirds of what the speech takes, and more where more loss is expected`(
    kilobits: Int64, loss: Int, expected: ClosedRange<Double>
  ) throws {
    let packets = try speechPackets(
      300,
      settings {
        $0.bitrate = .kilobitsPerSecond(kilobits)
        $0.expectedPacketLoss = loss
        $0.complexity = 9
        $0.maximumBandwidth = .wide
      }
    ).filter { OpusPacket(bytes: $0)?.hasRedundancy == true }
    try #require(packets.count > 100)
    let redundant = try packets.map(redundantBytes).reduce(0, +)
    let speech = packets.map(\.count).reduce(0, +) - redundant
    let ratio = Double(redundant) / Double(speech)
    #expect(expected.contains(ratio), "\(ratio)")
  }

  @Test func `redundancy restores a lost packet better than concealment does`() throws {
    let packets = try speechPackets(300, settings { $0.expectedPacketLoss = 20 })
    let reference = try OpusDecoder()
    let wanted = try packets.map { payload in
      try #require(decoded { reference.decode(payload.span.bytes, into: &$0) })
    }
    func error(usingRedundancy: Bool) throws -> Double {
      let decoder = try OpusDecoder()
      var sum = 0.0
      for index in packets.indices.dropLast() {
        let isLost = index % 10 == 5
        let (payload, next) = (packets[index], packets[index + 1])
        let result = try #require(
          decoded { output in
            guard isLost else { return decoder.decode(payload.span.bytes, into: &output) }
            guard usingRedundancy else { return decoder.conceal(samples: 960, into: &output) }
            return decoder.decodeRedundancy(of: next.span.bytes, samples: 960, into: &output)
          })
        guard isLost else { continue }
        for (a, b) in zip(result, wanted[index]) { sum += (Double(a) - Double(b)) * (Double(a) - Double(b)) }
      }
      return sum
    }
    #expect(try error(usingRedundancy: true) < 0.7 * error(usingRedundancy: false))
  }

  @Test func `silence under discontinuous transmission shrinks to marks`() throws {
    let encoder = try OpusEncoder(settings: settings { $0.usesDTX = true })
    let silence = [Int16](repeating: 0, count: 960)
    var marks = 0
    for _ in 0..<100 {
      let (bytes, audio) = try encoded(encoder, silence)
      let packet = try #require(OpusPacket(bytes: bytes))
      #expect(packet.isDTX == audio.isDTX)
      if audio.isDTX { marks += 1 }
    }
    #expect(marks > 70)
  }

  @Test func `concealment after nothing is silent and has the length asked for`() throws {
    let decoder = try OpusDecoder()
    let samples = try #require(decoded { decoder.conceal(samples: 480, into: &$0) })
    #expect(samples == [Int16](repeating: 0, count: 480))
    #expect(decoded { decoder.conceal(samples: 100, into: &$0) } == nil)
  }

  @Test func `settings out of range are refused by name`() {
    let wrong: [(inout OpusEncoder.Settings) -> Void] = [
      { $0.channels = 3 }, { $0.complexity = 11 }, { $0.bitrate = .bitsPerSecond(1) }, { $0.expectedPacketLoss = 101 },
    ]
    for change in wrong {
      #expect(throws: CodecError.self) { try OpusEncoder(settings: settings(change)) }
    }
  }

  @Test func `a frame of the wrong length is refused`() throws {
    let encoder = try OpusEncoder(settings: settings())
    #expect(throws: CodecError.wrongFrameSize(samples: 480, expected: 960)) {
      try encoded(encoder, [Int16](repeating: 0, count: 480))
    }
  }

  @Test func `an encoder can change its packet duration mid-stream`() throws {
    let encoder = try OpusEncoder(settings: settings())
    var source = SpeechLikeSource()
    _ = try encoded(encoder, source.next(960))
    try encoder.update(settings { $0.packetDuration = .ms60 })
    let (bytes, _) = try encoded(encoder, source.next(2_880))
    #expect(OpusPacket(bytes: bytes)?.samplesPerChannel == 2_880)
  }

  @Test func `no mutation of a payload traps, and the decoder goes on`() throws {
    let packets = try speechPackets(20, settings { $0.expectedPacketLoss = 20 })
    let decoder = try OpusDecoder()
    var random = RandomSource(seed: 5).stream("opus")
    for round in 0..<400 {
      var bytes = packets[round % 20]
      for _ in 0...random.uniform(below: 3) {
        bytes[Int(random.uniform(below: UInt64(min(bytes.count, 6))))] = UInt8(truncatingIfNeeded: random.next())
      }
      bytes.removeLast(Int(random.uniform(below: UInt64(bytes.count))))
      _ = decoded { decoder.decode(bytes.span.bytes, into: &$0) }
    }
    let sound = packets[0]
    #expect(decoded { decoder.decode(sound.span.bytes, into: &$0) }?.count == 960)
  }

  @Test(arguments: 0..<3)
  func `the packet parser accepts what libopus decodes, and nothing else`(seed: UInt64) throws {
    let decoder = try OpusDecoder()
    var random = RandomSource(seed: seed).stream("toc")
    for _ in 0..<2_000 {
      let bytes = random.bytes(1 + Int(random.uniform(below: 40)))
      let packet = OpusPacket(bytes: bytes)
      let samples = decoded { decoder.decode(bytes.span.bytes, into: &$0) }
      #expect(samples?.count == packet?.samplesPerChannel)
    }
  }

  @Test func `the libraries name their versions`() {
    #expect(CodecLibraries.opusVersion.hasPrefix("libopus "))
    #expect(CodecLibraries.vpxVersion.hasPrefix("v"))
  }
}
