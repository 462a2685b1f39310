/// What an encoder made of one frame.
public struct EncodedAudio: Hashable, Sendable {
  public let byteCount: Int
  public let samplesPerChannel: Int
  /// Whether the packet only marks silence; ``DTXGate`` says whether to send it.
  public let isDTX: Bool

  public init(byteCount: Int, samplesPerChannel: Int, isDTX: Bool) {
    self.byteCount = byteCount
    self.samplesPerChannel = samplesPerChannel
    self.isDTX = isDTX
  }
}

/// An audio encoder of either fidelity.
public enum AudioEncoder {
  case opus(OpusEncoder)
  case synthetic(SyntheticAudioEncoder)

  public var packetDuration: PacketDuration {
    switch self {
    case .opus(let encoder): encoder.settings.packetDuration
    case .synthetic(let encoder): encoder.settings.packetDuration
    }
  }

  /// Whether ``encode(_:into:)-(Span<Int16>,_)`` is the one to call.
  public var needsSamples: Bool {
    switch self {
    case .opus: true
    case .synthetic: false
    }
  }

  /// Encodes interleaved samples; the synthetic codec keeps their loudness only.
  public func encode(_ samples: Span<Int16>, into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    switch self {
    case .opus(let encoder): try encoder.encode(samples, into: &output)
    case .synthetic(let encoder): try encoder.encode(AudioLevel(of: samples), into: &output)
    }
  }

  /// Encodes a frame known by its loudness only. A real codec throws ``CodecError/samplesRequired``.
  public func encode(_ level: AudioLevel, into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    switch self {
    case .opus: throw .samplesRequired
    case .synthetic(let encoder): try encoder.encode(level, into: &output)
    }
  }
}
