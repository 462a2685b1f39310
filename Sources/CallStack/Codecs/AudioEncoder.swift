package import CallCore

/// The result of encoding one frame.
package struct EncodedAudio: Hashable, Sendable {
  package let byteCount: Int
  package let samplesPerChannel: Int
  /// Whether the packet only marks silence; ``DTXGate`` decides whether to send it.
  package let isDTX: Bool

  package init(byteCount: Int, samplesPerChannel: Int, isDTX: Bool) {
    self.byteCount = byteCount
    self.samplesPerChannel = samplesPerChannel
    self.isDTX = isDTX
  }
}

/// An audio encoder, real or synthetic.
package enum AudioEncoder {
  case opus(OpusEncoder)
  case telephony(TelephonyEncoder)
  case synthetic(SyntheticAudioEncoder)

  package var packetDuration: PacketDuration {
    switch self {
    case .opus(let encoder): encoder.settings.packetDuration
    case .telephony(let encoder): encoder.packetDuration
    case .synthetic(let encoder): encoder.settings.packetDuration
    }
  }

  /// The delay of decoded sound behind the timestamps of its packets. libopus looks 6.5 ms ahead at 48 kHz (RFC 6716
  /// section 2); the modelled codec does not look ahead.
  package var delay: Interval {
    switch self {
    case .opus: .microseconds(6_500)
    case .telephony(let encoder): encoder.codec.delay
    case .synthetic: .zero
    }
  }

  /// Whether the encoder needs samples, that is ``encode(_:into:)-(Span<Int16>,_)``.
  package var needsSamples: Bool {
    switch self {
    case .opus, .telephony: true
    case .synthetic: false
    }
  }

  /// Encodes interleaved samples; the synthetic codec keeps only their level.
  package func encode(_ samples: Span<Int16>, into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    let begin = CodecTimer.shared.begin()
    defer { CodecTimer.shared.end(.encoding, since: begin) }
    switch self {
    case .opus(let encoder): return try encoder.encode(samples, into: &output)
    case .telephony(let encoder): return try encoder.encode(samples, into: &output)
    case .synthetic(let encoder): return try encoder.encode(AudioLevel(of: samples), into: &output)
    }
  }

  /// Encodes a frame from its level alone. A real codec throws ``CodecError/samplesRequired``.
  package func encode(_ level: AudioLevel, into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    switch self {
    case .opus, .telephony: throw .samplesRequired
    case .synthetic(let encoder): try encoder.encode(level, into: &output)
    }
  }
}
