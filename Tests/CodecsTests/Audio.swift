import CallCore
import Codecs

/// A speech-like signal: a gliding voiced sound in syllables of 160 ms with pauses of 80 ms between them.
struct SpeechLikeSource {
  private var position = 0
  private var phase = 0.0
  private var noise = UInt32(1)

  mutating func next(_ count: Int, channels: Int = 1) -> [Int16] {
    var samples: [Int16] = []
    for _ in 0..<count {
      let syllable = position % 11_520
      let envelope = syllable < 7_680 ? Double(min(syllable, 7_680 - syllable)) / 3_840 : 0
      let pitch = 110 + 40 * Double(position / 11_520 % 5) / 5
      phase += pitch / 48_000
      if phase >= 1 { phase -= 1 }
      noise = noise &* 1_664_525 &+ 1_013_904_223
      let hiss = Double(noise >> 16) / 65_536 - 0.5
      // A sawtooth softened by its square is rich in harmonics, as voices are.
      let tone = (phase * 2 - 1) * (1 - phase)
      let value = Int16(max(-32_000, min(32_000, envelope * (tone * 14_000 + hiss * 900))))
      for _ in 0..<channels { samples.append(value) }
      position += 1
    }
    return samples
  }
}

func encoded(
  _ encoder: OpusEncoder, _ samples: [Int16]
) throws(CodecError) -> (bytes: [UInt8], audio: EncodedAudio) {
  let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: OpusEncoder.maximumPacketSize)
  defer { buffer.deallocate() }
  var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
  let audio = try encoder.encode(samples.span, into: &output)
  let count = output.finalize(for: buffer)
  return (Array(buffer[..<count]), audio)
}

/// The samples `body` appends.
func decoded(_ body: (inout OutputSpan<Int16>) -> Int?) -> [Int16]? {
  var failed = false
  let samples = [Int16](unsafeUninitializedCapacity: 5_760 * 2) { buffer, count in
    var output = OutputSpan<Int16>(buffer: buffer, initializedCount: 0)
    failed = body(&output) == nil
    count = output.finalize(for: buffer)
  }
  return failed ? nil : samples
}

/// Packets of speech-like audio.
func speechPackets(_ count: Int, _ settings: OpusEncoder.Settings) throws -> [[UInt8]] {
  let encoder = try OpusEncoder(settings: settings)
  var source = SpeechLikeSource()
  return try (0..<count).map { _ in
    try encoded(encoder, source.next(settings.packetDuration.samplesPerChannel, channels: settings.channels)).bytes
  }
}

// Expectations cannot hold spans: these take the bytes themselves.
extension OpusPacket {
  init?(bytes: [UInt8]) { self.init(parsing: bytes.span.bytes) }
}

extension AudioDecoder {
  func inspect(_ bytes: [UInt8]) -> AudioPayload? { inspect(bytes.span.bytes) }
}

extension AudioLevel {
  init(of samples: [Int16]) { self.init(of: samples.span) }
}
