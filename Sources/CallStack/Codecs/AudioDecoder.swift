/// The result of decoding a packet, or of concealing a missing one.
package struct DecodedAudio: Hashable, Sendable, BitwiseCopyable {
  package let samplesPerChannel: Int
  /// The level, from a codec without samples; nil when it follows from the samples.
  package let level: AudioLevel?
}

/// The properties of a payload that are known without decoding.
package struct AudioPayload: Hashable, Sendable, BitwiseCopyable {
  package let samplesPerChannel: Int
  /// The number of samples just before it that its redundancy restores, zero without redundancy. It may be less than
  /// the previous packet: in-band FEC covers one Opus frame, and a packet may hold several.
  package let redundantSamples: Int
  /// Whether the packet only marks silence, so that a gap may follow.
  package let isDTX: Bool

  /// The number of samples after its timestamp at which the payload takes effect.
  package let lead: Int

  package var hasRedundancy: Bool { redundantSamples > 0 }
  /// Whether the payload holds sound, and not an event in its place.
  package var isSound: Bool { samplesPerChannel > 0 }

  package init(samplesPerChannel: Int, redundantSamples: Int, isDTX: Bool, lead: Int = 0) {
    self.samplesPerChannel = samplesPerChannel
    self.redundantSamples = redundantSamples
    self.isDTX = isDTX
    self.lead = lead
  }
}

/// An audio decoder, real or synthetic. Samples are 48 kHz, interleaved, and appended to the output.
package enum AudioDecoder {
  case opus(OpusDecoder)
  case telephony(TelephonyDecoder)
  case comfortNoise(ComfortNoiseDecoder)
  case tones(ToneDecoder)
  case synthetic(SyntheticAudioDecoder)

  package var channels: Int {
    switch self {
    case .opus(let decoder): decoder.channels
    case .telephony, .comfortNoise, .tones, .synthetic: 1
    }
  }

  /// Whether decoding appends samples; otherwise it reports levels only.
  package var producesSamples: Bool {
    switch self {
    case .opus, .telephony, .comfortNoise: true
    case .tones(let decoder): decoder.hasSamples
    case .synthetic: false
    }
  }

  /// Whether its packets fill pauses between sounds of another codec.
  package var fillsPauses: Bool {
    switch self {
    case .comfortNoise, .tones: true
    case .opus, .telephony, .synthetic: false
    }
  }

  /// Parses a payload, or returns nil when it is malformed.
  package func inspect(_ payload: RawSpan) -> AudioPayload? {
    switch self {
    case .opus:
      guard let packet = OpusPacket(parsing: payload) else { return nil }
      return AudioPayload(
        samplesPerChannel: packet.samplesPerChannel,
        redundantSamples: packet.hasRedundancy ? packet.frameSamples : 0, isDTX: packet.isDTX)
    case .telephony:
      return TelephonyDecoder.samples(in: payload).map {
        AudioPayload(samplesPerChannel: $0, redundantSamples: 0, isDTX: false)
      }
    case .comfortNoise:
      return payload.isEmpty
        ? nil
        : AudioPayload(samplesPerChannel: ComfortNoiseDecoder.samplesPerPayload, redundantSamples: 0, isDTX: true)
    case .tones(let decoder): return decoder.inspect(payload)
    case .synthetic:
      guard let content = SyntheticCodec.Payload(parsing: payload) else { return nil }
      return AudioPayload(
        samplesPerChannel: content.samples,
        redundantSamples: content.redundantLevel == nil ? 0 : min(content.samples, SyntheticCodec.redundantSamples),
        isDTX: content.isDTX)
    }
  }

  /// Decodes a payload. Nil when it is malformed, or holds an event instead of sound.
  package func decode(_ payload: RawSpan, into output: inout OutputSpan<Int16>) -> DecodedAudio? {
    let begin = CodecTimer.shared.begin()
    defer { CodecTimer.shared.end(.decoding, since: begin) }
    switch self {
    case .opus(let decoder): return Self.samples(decoder.decode(payload, into: &output))
    case .telephony(let decoder): return Self.samples(decoder.decode(payload, into: &output))
    case .comfortNoise(let decoder): return Self.samples(decoder.decode(payload, into: &output))
    case .tones(let decoder):
      decoder.take(payload)
      return nil
    case .synthetic(let decoder): return decoder.decode(payload)
    }
  }

  /// Decodes the `samples` lost just before `payload` from its redundancy.
  package func decodeRedundancy(
    of payload: RawSpan, samples: Int, into output: inout OutputSpan<Int16>
  ) -> DecodedAudio? {
    let begin = CodecTimer.shared.begin()
    defer { CodecTimer.shared.end(.decoding, since: begin) }
    switch self {
    case .opus(let decoder): return Self.samples(decoder.decodeRedundancy(of: payload, samples: samples, into: &output))
    case .telephony, .comfortNoise, .tones: return nil
    case .synthetic(let decoder): return decoder.decodeRedundancy(of: payload, samples: samples)
    }
  }

  /// Conceals `samples` of a missing packet.
  package func conceal(samples: Int, into output: inout OutputSpan<Int16>) -> DecodedAudio? {
    let begin = CodecTimer.shared.begin()
    defer { CodecTimer.shared.end(.decoding, since: begin) }
    switch self {
    case .opus(let decoder): return Self.samples(decoder.conceal(samples: samples, into: &output))
    case .telephony(let decoder): return Self.samples(decoder.conceal(samples: samples, into: &output))
    case .comfortNoise(let decoder): return Self.samples(decoder.generate(samples, into: &output))
    case .tones(let decoder): return decoder.play(samples, into: &output)
    case .synthetic(let decoder): return decoder.conceal(samples: samples)
    }
  }

  package func reset() {
    switch self {
    case .opus(let decoder): decoder.reset()
    case .telephony(let decoder): decoder.reset()
    case .comfortNoise(let decoder): decoder.reset()
    case .tones(let decoder): decoder.reset()
    case .synthetic(let decoder): decoder.reset()
    }
  }

  private static func samples(_ count: Int?) -> DecodedAudio? {
    count.map { DecodedAudio(samplesPerChannel: $0, level: nil) }
  }
}
