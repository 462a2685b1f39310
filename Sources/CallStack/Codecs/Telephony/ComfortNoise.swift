/// The payload of comfort noise (RFC 3389 section 3): a level, and the reflection coefficients of an all-pole filter. A
/// coefficient has the sign with which libwebrtc sends it: that of −r₁/r₀ for the first.
package enum ComfortNoise {
  /// The number of coefficients that are sent and used; libwebrtc sends as many.
  static let order = 8
  /// The rate of the analyzed and of the generated noise: that of the media clock of payload type 13.
  static let sampleRate = 8_000
  /// The maximum size of a payload in bytes.
  package static let maximumSize = order + 1

  /// Returns the octet of a coefficient between −1 and 1 (section 3.2: 127 is zero, a step is 258/32768).
  static func octet(_ coefficient: Double) -> UInt8 {
    UInt8(min(max((coefficient * 32_768 / 258).rounded() + 127, 0), 254))
  }

  static func coefficient(_ octet: UInt8) -> Double {
    min(max(258 * (Double(octet) - 127) / 32_768, -0.999), 0.999)
  }
}

/// Finds the pauses in sound, and describes the noise in them.
///
/// A pause is sound that stays below −50 dBov for more than 200 ms.
package final class ComfortNoiseEncoder {
  private static let threshold = AudioLevel(50)
  private static let hangover = audioSampleRate / 5
  private var downsampler = Downsampler(to: ComfortNoise.sampleRate)
  private let own: UnsafeMutableBufferPointer<Int16>
  private var count = 0
  /// The duration of the silence so far.
  private var silence = 0

  package init() { own = .allocate(capacity: TelephonyCodec.longestPayload) }

  deinit { own.deallocate() }

  /// Takes the samples of a packet: 48 kHz mono, at most 120 ms.
  ///
  /// - Returns: whether they belong to a pause.
  package func isPause(_ samples: Span<Int16>) -> Bool {
    var lower = OutputSpan<Int16>(buffer: own, initializedCount: 0)
    downsampler.convert(samples, into: &lower)
    count = lower.finalize(for: own)
    silence = AudioLevel(of: samples) < Self.threshold ? silence + samples.count : 0
    return silence > Self.hangover
  }

  /// Appends the payload that describes the last packet's noise.
  package func write(into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    guard output.freeCapacity >= ComfortNoise.maximumSize else { throw .bufferTooSmall }
    output.append(AudioLevel(of: UnsafeMutableBufferPointer(rebasing: own[..<count]).span).rawValue)
    // The autocorrelation under a parabola (Welch's window).
    var correlation: InlineArray<9, Double> = .init(repeating: 0)
    for lag in 0...ComfortNoise.order where lag < count {
      for index in lag..<count { correlation[lag] += windowed(index) * windowed(index - lag) }
    }
    // White noise 40 dB below keeps the recursion stable.
    correlation[0] = correlation[0] * 1.0001 + 1
    appendReflections(of: correlation, into: &output)
    return EncodedAudio(
      byteCount: ComfortNoise.maximumSize, samplesPerChannel: count * TelephonyCodec.samplesPerByte, isDTX: true)
  }

  private func windowed(_ index: Int) -> Double {
    let place = (2 * Double(index) + 1) / Double(count) - 1
    return Double(own[index]) * (1 - place * place)
  }

  /// Appends the reflection coefficients, by Levinson's recursion.
  private func appendReflections(of correlation: InlineArray<9, Double>, into output: inout OutputSpan<UInt8>) {
    var predictor: InlineArray<9, Double> = .init(repeating: 0)
    var error = correlation[0]
    for stage in 1...ComfortNoise.order {
      var sum = correlation[stage]
      for index in 1..<stage { sum += predictor[index] * correlation[stage - index] }
      let reflection = -sum / error
      let old = predictor
      for index in 1..<stage { predictor[index] = old[index] + reflection * old[stage - index] }
      predictor[stage] = reflection
      error *= 1 - reflection * reflection
      output.append(ComfortNoise.octet(reflection))
    }
  }
}

/// Makes the noise that a payload describes: 48 kHz mono.
package final class ComfortNoiseDecoder {
  private var level = AudioLevel.silence
  private var reflections: InlineArray<8, Double> = .init(repeating: 0)
  /// The backward signals of the lattice filter.
  private var states: InlineArray<9, Double> = .init(repeating: 0)
  /// The scale of the excitation.
  private var gain = 0.0
  private var random = UInt64(1)
  private var upsampler = Upsampler(from: ComfortNoise.sampleRate)
  private let own: UnsafeMutableBufferPointer<Int16>

  package init() { own = .allocate(capacity: TelephonyCodec.longestPayload) }

  deinit { own.deallocate() }

  /// The sound made at once for a payload; the rest of the pause is a gap.
  static let samplesPerPayload = PacketDuration.ms10.samplesPerChannel

  package func reset() {
    level = .silence
    gain = 0
    reflections = .init(repeating: 0)
    states = .init(repeating: 0)
    upsampler.reset()
  }

  /// Takes a description, and appends the first 10 ms of its noise. Coefficients beyond the eighth are left out.
  func decode(_ payload: RawSpan, into output: inout OutputSpan<Int16>) -> Int? {
    guard payload.byteCount > 0 else { return nil }
    level = AudioLevel(payload.unsafeLoad(fromByteOffset: 0, as: UInt8.self) & 0x7F)
    var power = 1.0
    for index in 0..<ComfortNoise.order {
      let octet =
        index + 1 < payload.byteCount ? payload.unsafeLoad(fromByteOffset: index + 1, as: UInt8.self) : 127
      reflections[index] = ComfortNoise.coefficient(octet)
      power *= 1 - reflections[index] * reflections[index]
    }
    // Uniform noise between −1 and 1 has a power of a third; the filter raises it by 1/power.
    gain = level.linear * 32_768 * (3 * power).squareRoot()
    return generate(Self.samplesPerPayload, into: &output)
  }

  /// Appends noise: a multiple of 2.5 ms, at most 120 ms.
  func generate(_ count: Int, into output: inout OutputSpan<Int16>) -> Int? {
    guard count > 0, count <= PacketDuration.ms120.samplesPerChannel, count % 120 == 0, output.freeCapacity >= count
    else { return nil }
    var samples = OutputSpan<Int16>(buffer: own, initializedCount: 0)
    for _ in 0..<count / TelephonyCodec.samplesPerByte { samples.append(nextSample()) }
    upsampler.convert(samples.span, into: &output)
    _ = samples.finalize(for: own)
    return count
  }

  private func nextSample() -> Int16 {
    // Knuth's MMIX generator: the same noise in every run.
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    var forward = gain * (Double(random >> 32) / 2_147_483_648 - 1)
    for stage in stride(from: ComfortNoise.order, to: 0, by: -1) {
      forward -= reflections[stage - 1] * states[stage - 1]
      states[stage] = states[stage - 1] + reflections[stage - 1] * forward
    }
    states[0] = forward
    return Int16(min(max(forward, -32_768), 32_767))
  }
}
