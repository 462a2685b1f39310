import CallCore
import Codecs
import Testing

@Suite struct SyntheticCodecTests {
  func encoded(_ encoder: SyntheticAudioEncoder, _ level: AudioLevel, room: Int = 4_000) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      let memory = UnsafeMutableBufferPointer(rebasing: buffer[..<room])
      var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
      _ = try encoder.encode(level, into: &output)
      count = output.finalize(for: memory)
    }
  }

  func heard(_ body: (inout OutputSpan<Int16>) -> DecodedAudio?) -> DecodedAudio? {
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 0)
    defer { buffer.deallocate() }
    var output = OutputSpan<Int16>(buffer: buffer, initializedCount: 0)
    return body(&output)
  }

  @Test(arguments: PacketDuration.allCases)
  func `packets have the constant size of the bitrate`(duration: PacketDuration) throws {
    var settings = SyntheticAudioEncoder.Settings()
    settings.packetDuration = duration
    let encoder = SyntheticAudioEncoder(settings: settings)
    for level in [AudioLevel(10), .silence] {
      let bytes = try encoded(encoder, level)
      #expect(bytes.count == 4 * duration.samplesPerChannel / 48)
    }
  }

  @Test(arguments: 5...200)
  func `packets are as large as there is room`(room: Int) throws {
    #expect(try encoded(SyntheticAudioEncoder(), AudioLevel(10), room: room).count == min(room, 80))
  }

  @Test(arguments: 0...4)
  func `without room for a header there is no packet`(room: Int) throws {
    #expect(throws: CodecError.bufferTooSmall) { try encoded(SyntheticAudioEncoder(), AudioLevel(10), room: room) }
  }

  @Test func `loudness arrives without a sample`() throws {
    let decoder = AudioDecoder.synthetic(SyntheticAudioDecoder())
    let payload = try encoded(SyntheticAudioEncoder(), AudioLevel(20))
    let audio = try #require(heard { decoder.decode(payload.span.bytes, into: &$0) })
    #expect(audio.level == AudioLevel(20))
    #expect(audio.samplesPerChannel == 960)
    #expect(!decoder.producesSamples)
  }

  @Test func `redundancy repeats the level before`() throws {
    var settings = SyntheticAudioEncoder.Settings()
    settings.usesInBandFEC = true
    let encoder = SyntheticAudioEncoder(settings: settings)
    let decoder = AudioDecoder.synthetic(SyntheticAudioDecoder())
    let first = try encoded(encoder, AudioLevel(20))
    let second = try encoded(encoder, AudioLevel(30))
    #expect(decoder.inspect(first)?.hasRedundancy == false)
    #expect(decoder.inspect(second)?.hasRedundancy == true)
    let audio = heard { decoder.decodeRedundancy(of: second.span.bytes, samples: 960, into: &$0) }
    #expect(audio?.level == AudioLevel(20))
  }

  @Test func `concealment fades to silence`() throws {
    let decoder = AudioDecoder.synthetic(SyntheticAudioDecoder())
    let payload = try encoded(SyntheticAudioEncoder(), AudioLevel(20))
    _ = heard { decoder.decode(payload.span.bytes, into: &$0) }
    let levels = (0..<20).compactMap { _ in heard { decoder.conceal(samples: 480, into: &$0) }?.level }
    #expect(levels.first == AudioLevel(26))
    #expect(levels.last == .silence)
  }

  @Test func `silence under discontinuous transmission shrinks to marks`() throws {
    var settings = SyntheticAudioEncoder.Settings()
    settings.usesDTX = true
    let encoder = SyntheticAudioEncoder(settings: settings)
    let decoder = AudioDecoder.synthetic(SyntheticAudioDecoder())
    let mark = try encoded(encoder, .silence)
    #expect(mark.count == 5)
    #expect(decoder.inspect(mark)?.isDTX == true)
    let voice = try encoded(encoder, AudioLevel(30))
    #expect(decoder.inspect(voice)?.isDTX == false)
  }

  @Test func `a real encoder refuses a bare level`() throws {
    let encoder = AudioEncoder.opus(try OpusEncoder())
    #expect(throws: CodecError.samplesRequired) {
      _ = try [UInt8](unsafeUninitializedCapacity: 4_000) { buffer, count in
        var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
        count = try encoder.encode(.silence, into: &output).byteCount
      }
    }
  }

  @Test func `foreign bytes are not decoded`() {
    let decoder = AudioDecoder.synthetic(SyntheticAudioDecoder())
    for bytes in [[], [0xA5], [0xA5, 0, 0, 0, 0], [1, 8, 0, 0, 0]] as [[UInt8]] {
      #expect(decoder.inspect(bytes) == nil)
    }
  }
}

@Suite struct AudioHelperTests {
  @Test func `the gate lets through audio, the first mark, and one every 400 ms`() {
    var gate = DTXGate()
    let sent = (0..<100).filter { index in
      gate.admits(EncodedAudio(byteCount: 1, samplesPerChannel: 960, isDTX: index != 0 && index != 50))
    }
    #expect(sent == [0, 1, 21, 41, 50, 51, 71, 91])
  }

  @Test func `levels and amplitudes convert both ways`() {
    for level in UInt8(0)...127 { #expect(AudioLevel(linear: AudioLevel(level).linear) == AudioLevel(level)) }
    #expect(AudioLevel(linear: 1) == AudioLevel(0))
    #expect(AudioLevel(linear: 0.1) == AudioLevel(20))
    #expect(AudioLevel(linear: 0) == .silence)
    #expect(AudioLevel(10) > AudioLevel(20))
  }

  @Test func `a full-scale square wave is the loudest`() {
    #expect(AudioLevel(of: [Int16](repeating: -32_768, count: 10)) == AudioLevel(0))
    #expect(AudioLevel(of: [Int16]()) == .silence)
  }

  @Test func `device chunks regroup into whole frames`() {
    var framer = PCMFramer(frameSize: 960)
    var frames: [[Int16]] = []
    var frame: [Int16] = []
    for chunk in 0..<5 {
      let samples = (0..<480).map { Int16(chunk * 480 + $0) }
      framer.append(samples.span)
      while framer.takeFrame(into: &frame) { frames.append(frame) }
    }
    #expect(frames.count == 2)
    #expect(frames.flatMap { $0 } == (0..<1_920).map { Int16($0) })
    let pending = framer.pendingCount
    #expect(pending == 480)
  }
}
