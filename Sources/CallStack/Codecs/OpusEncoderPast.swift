internal import CallCore

/// What an encoder was given while the packets came from a cache.
struct OpusEncoderPast {
  /// What the encoder must still be given before it can encode the next packet.
  enum Step {
    case samples([Int16], room: Int32)
    case settings(OpusEncoder.Settings)
    case reset
  }

  private let cache: EncodedAudioCache
  private var key = EncodedAudioCache.Key()
  private var steps: [Step] = []
  private var sampleCount = 0
  /// Five minutes of sound. A longer call is encoded, rather than kept.
  private static let sampleLimit = 5 * 60 * audioSampleRate

  init(_ cache: EncodedAudioCache) { self.cache = cache }

  mutating func change(to settings: OpusEncoder.Settings) {
    key.mix(1)
    for word in settings.words { key.mix(UInt64(bitPattern: Int64(word))) }
    steps.append(.settings(settings))
  }

  mutating func reset() {
    key.mix(2)
    steps.append(.reset)
  }

  /// Appends the packet of these samples to `output` if an encoder has made it before.
  mutating func known(
    _ samples: Span<Int16>, room: Int32, into output: inout OutputSpan<UInt8>
  ) -> EncodedAudio? {
    key.mix(3)
    key.mix(UInt64(room))
    key.mix(samples)
    guard sampleCount < Self.sampleLimit, let packet = cache.packet(for: key) else { return nil }
    for byte in packet.bytes { output.append(byte) }
    steps.append(.samples(samples.withUnsafeBufferPointer { Array($0) }, room: room))
    sampleCount += samples.count
    return packet.audio
  }

  /// Returns what the encoder was not given, and forgets it.
  mutating func takeSteps() -> [Step] {
    defer { (steps, sampleCount) = ([], 0) }
    return steps
  }

  /// Keeps the packet of the samples that ``known(_:room:into:)`` was asked for.
  func keep(_ bytes: [UInt8], _ audio: EncodedAudio) {
    cache.add(EncodedAudioCache.Packet(bytes: bytes, audio: audio), for: key)
  }
}

extension OpusEncoder.Settings {
  /// All settings in numbers.
  fileprivate var words: [Int] {
    [
      channels, packetDuration.samplesPerChannel, Int(bitrate.bitsPerSecond), complexity, isVariableBitrate ? 1 : 0,
      usesInBandFEC ? 1 : 0, expectedPacketLoss, usesDTX ? 1 : 0, Int(maximumBandwidth.rawValue),
    ]
  }
}
