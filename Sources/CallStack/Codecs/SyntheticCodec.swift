package import CallCore

/// A *modelled* audio codec: packets of constant size that carry a level instead of samples.
///
/// Everything below the codec is unchanged, at a fraction of the cost. A payload consists of: magic, duration in units
/// of 2.5 ms, level, flags, level of the previous packet (modelled redundancy), in modelled iSAC the sender's estimate of
/// the way to it, and filler up to the size.
package enum SyntheticCodec {
  static let magic = SyntheticPayload.magic
  static let headerSize = 5
  static let dtxFlag: UInt8 = 1
  static let redundancyFlag: UInt8 = 2
  static let bottleneckFlag: UInt8 = 4
  /// The maximum number of samples that redundancy restores. Opus repeats the frame before the first one, and frames in
  /// a packet of several have 20 ms.
  static let redundantSamples = 960

  /// The content of a payload.
  struct Payload {
    var samples: Int
    var level: AudioLevel
    var isDTX: Bool
    var redundantLevel: AudioLevel?
    /// The index of the rate that the sender can receive, by ``ISAC/rates``.
    var bottleneck: UInt8?

    @inline(__always)
    init?(parsing bytes: RawSpan) {
      guard bytes.byteCount >= SyntheticCodec.headerSize, bytes.byte(at: 0) == SyntheticCodec.magic,
        let units = bytes.byte(at: 1), (1...48).contains(units), let level = bytes.byte(at: 2),
        let flags = bytes.byte(at: 3), let previous = bytes.byte(at: 4)
      else { return nil }
      samples = Int(units) * 120
      self.level = AudioLevel(level)
      isDTX = flags & SyntheticCodec.dtxFlag != 0
      redundantLevel = flags & SyntheticCodec.redundancyFlag != 0 ? AudioLevel(previous) : nil
      bottleneck = flags & SyntheticCodec.bottleneckFlag != 0 ? bytes.byte(at: SyntheticCodec.headerSize) : nil
    }
  }

  /// Returns the rate that the sender of a packet of modelled iSAC can receive; nil where it does not say.
  package static func bottleneck(in payload: RawSpan) -> DataRate? {
    Payload(parsing: payload)?.bottleneck.flatMap(ISAC.bitrate)
  }
}

/// The encoder of the modelled codec.
package final class SyntheticAudioEncoder {
  package struct Settings: Hashable, Sendable {
    package var packetDuration = PacketDuration.ms20
    package var bitrate = DataRate.kilobitsPerSecond(32)
    /// Whether every packet repeats the level of the previous one, unless that was a marker: Opus repeats no pause.
    package var usesInBandFEC = false
    /// Whether silence is reduced to a marker: one packet, and then one every 400 ms as in Opus.
    package var usesDTX = false
    /// The index of the rate that this side can receive, which each packet says; nil says nothing.
    package var bottleneck: UInt8?

    package init() {}

    /// The constant size of a packet in bytes.
    package var packetSize: Int {
      let bits = Double(bitrate.bitsPerSecond) * packetDuration.interval.seconds
      return max(SyntheticCodec.headerSize, min(1_275 * 6, Int((bits / 8).rounded())))
    }
  }

  package private(set) var settings: Settings
  private var previousLevel: AudioLevel?

  package init(settings: Settings = Settings()) { self.settings = settings }

  package func update(_ settings: Settings) { self.settings = settings }

  /// Writes a packet with the given level, limited to the available room as in Opus. With DTX, a packet of silence has
  /// five bytes and is marked.
  package func encode(_ level: AudioLevel, into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    let samples = settings.packetDuration.samplesPerChannel
    let isDTX = settings.usesDTX && level == .silence
    let size = isDTX ? SyntheticCodec.headerSize : min(settings.packetSize, output.freeCapacity)
    guard size >= SyntheticCodec.headerSize, output.freeCapacity >= size else { throw .bufferTooSmall }
    let redundant = settings.usesInBandFEC ? previousLevel : nil
    output.append(SyntheticCodec.magic)
    output.append(UInt8(samples / 120))
    output.append(level.rawValue)
    let bottleneck = size > SyntheticCodec.headerSize ? settings.bottleneck : nil
    output.append(
      (isDTX ? SyntheticCodec.dtxFlag : 0) | (redundant == nil ? 0 : SyntheticCodec.redundancyFlag)
        | (bottleneck == nil ? 0 : SyntheticCodec.bottleneckFlag))
    output.append(redundant?.rawValue ?? 0)
    if let bottleneck { output.append(bottleneck) }
    output.append(repeating: 0, count: size - SyntheticCodec.headerSize - (bottleneck == nil ? 0 : 1))
    previousLevel = isDTX ? nil : level
    return EncodedAudio(byteCount: size, samplesPerChannel: samples, isDTX: isDTX)
  }
}

/// The decoder of the modelled codec, which produces levels and no samples.
package final class SyntheticAudioDecoder {
  private var lastLevel = AudioLevel.silence

  package init() {}

  @inline(__always)
  func decode(_ payload: RawSpan) -> DecodedAudio? {
    guard let content = SyntheticCodec.Payload(parsing: payload) else { return nil }
    lastLevel = content.level
    return DecodedAudio(samplesPerChannel: content.samples, level: content.level)
  }

  func decodeRedundancy(of payload: RawSpan, samples: Int) -> DecodedAudio? {
    guard let level = SyntheticCodec.Payload(parsing: payload)?.redundantLevel else { return nil }
    lastLevel = level
    return DecodedAudio(samplesPerChannel: samples, level: level)
  }

  /// Conceals with a fade of 6 dB every 10 ms, a modelled value of the right order.
  func conceal(samples: Int) -> DecodedAudio {
    let fade = min(127, 6 * ((samples + 479) / 480))
    lastLevel = AudioLevel(UInt8(min(127, Int(lastLevel.rawValue) + fade)))
    return DecodedAudio(samplesPerChannel: samples, level: lastLevel)
  }

  func reset() { lastLevel = .silence }
}
