import COpus
package import CallCore

/// An Opus encoder (libopus) for 48 kHz interleaved 16-bit samples of a call.
///
/// It is deterministic: the same settings and samples give the same bytes. So with a common cache it encodes only what
/// no other encoder has encoded before. The owner measures the time spent inside.
package final class OpusEncoder {
  package struct Settings: Hashable, Sendable {
    package var channels = 1
    package var packetDuration = PacketDuration.ms20
    package var bitrate = DataRate.kilobitsPerSecond(32)
    /// The complexity, 0 to 10.
    package var complexity = 9
    package var isVariableBitrate = true
    package var usesInBandFEC = true
    /// The packet loss to prepare for in percent, 0 to 100.
    package var expectedPacketLoss = 0
    package var usesDTX = false
    package var maximumBandwidth = OpusPacket.Bandwidth.full

    package init() {}
  }

  /// The size of the longest libopus packet in bytes: 120 ms in six frames.
  package static let maximumPacketSize = 1_275 * 6 + 13

  package private(set) var settings: Settings
  private let encoder: OpaquePointer
  /// What was encoded elsewhere; nil for calls that do not repeat.
  private var past: OpusEncoderPast?

  /// - Parameter cache: the packets of earlier encoders, for calls that repeat.
  package init(settings: Settings = Settings(), cache: EncodedAudioCache? = nil) throws(CodecError) {
    try Self.validate(settings)
    var code: Int32 = 0
    guard
      let encoder = opus_encoder_create(
        opus_int32(audioSampleRate), Int32(settings.channels), OPUS_APPLICATION_VOIP, &code)
    else { throw .library(code: code) }
    self.encoder = encoder
    self.settings = settings
    past = CodecTimer.shared.isRunning ? nil : cache.map(OpusEncoderPast.init)
    try change(to: settings)
  }

  deinit { opus_encoder_destroy(encoder) }

  /// Changes the settings for the following packets. The number of channels cannot change.
  package func update(_ settings: Settings) throws(CodecError) {
    guard settings.channels == self.settings.channels else { throw .unsupportedSetting("channels") }
    try Self.validate(settings)
    try change(to: settings)
    self.settings = settings
  }

  private func change(to settings: Settings) throws(CodecError) {
    guard past != nil else { return try apply(settings) }
    past?.change(to: settings)
  }

  /// Encodes the interleaved samples of one packet, and appends it to `output`.
  ///
  /// - Returns: the properties of the appended packet.
  package func encode(_ samples: Span<Int16>, into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    let frame = settings.packetDuration.samplesPerChannel
    guard samples.count == frame * settings.channels else {
      throw .wrongFrameSize(samples: samples.count / settings.channels, expected: frame)
    }
    let room = Int32(min(output.freeCapacity, Self.maximumPacketSize))
    guard room > 0 else { throw .bufferTooSmall }
    guard past != nil else { return try encodeNow(samples, room: room, into: &output) }
    if let known = past?.known(samples, room: room, into: &output) { return known }
    try catchUp()
    let start = output.count
    let audio = try encodeNow(samples, room: room, into: &output)
    past?.keep(output.span.bytes.extracting(start..<output.count).copied, audio)
    return audio
  }

  /// Encodes what other encoders have encoded in its place, so that its state is as if it had.
  private func catchUp() throws(CodecError) {
    guard let steps = past?.takeSteps(), !steps.isEmpty else { return }
    let discarded = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.maximumPacketSize)
    defer { discarded.deallocate() }
    for step in steps {
      switch step {
      case .settings(let settings): try apply(settings)
      case .reset: _ = callsim_opus_encoder_reset(encoder)
      case .samples(let samples, let room):
        var output = OutputSpan<UInt8>(buffer: discarded, initializedCount: 0)
        _ = try encodeNow(samples.span, room: room, into: &output)
        _ = output.finalize(for: discarded)
      }
    }
  }

  private func encodeNow(
    _ samples: Span<Int16>, room: Int32, into output: inout OutputSpan<UInt8>
  ) throws(CodecError) -> EncodedAudio {
    let frame = samples.count / settings.channels
    var written: Int32 = 0
    output.withUnsafeMutableBufferPointer { buffer, count in
      guard let base = buffer.baseAddress else { return }
      written = samples.withUnsafeBufferPointer { input in
        guard let first = input.baseAddress else { return OPUS_BAD_ARG }
        return opus_encode(encoder, first, Int32(frame), base + count, room)
      }
      if written > 0 { count += Int(written) }
    }
    guard written > 0 else { throw written == OPUS_BUFFER_TOO_SMALL ? .bufferTooSmall : .library(code: written) }
    return EncodedAudio(byteCount: Int(written), samplesPerChannel: frame, isDTX: written <= 2)
  }

  /// Resets all signal history; settings stay.
  package func reset() {
    if past == nil { _ = callsim_opus_encoder_reset(encoder) } else { past?.reset() }
  }

  private static func validate(_ settings: Settings) throws(CodecError) {
    guard (1...2).contains(settings.channels) else { throw .unsupportedSetting("channels") }
    guard (0...10).contains(settings.complexity) else { throw .unsupportedSetting("complexity") }
    guard (0...100).contains(settings.expectedPacketLoss) else { throw .unsupportedSetting("expectedPacketLoss") }
    guard (500...512_000).contains(settings.bitrate.bitsPerSecond) else { throw .unsupportedSetting("bitrate") }
  }

  private func apply(_ settings: Settings) throws(CodecError) {
    try set(OPUS_SET_BITRATE_REQUEST, Int32(settings.bitrate.bitsPerSecond))
    try set(OPUS_SET_COMPLEXITY_REQUEST, Int32(settings.complexity))
    try set(OPUS_SET_VBR_REQUEST, settings.isVariableBitrate ? 1 : 0)
    try set(OPUS_SET_INBAND_FEC_REQUEST, settings.usesInBandFEC ? 1 : 0)
    try set(OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int32(settings.expectedPacketLoss))
    try set(OPUS_SET_DTX_REQUEST, settings.usesDTX ? 1 : 0)
    try set(OPUS_SET_MAX_BANDWIDTH_REQUEST, OPUS_BANDWIDTH_NARROWBAND + Int32(settings.maximumBandwidth.rawValue))
  }

  private func set(_ request: Int32, _ value: Int32) throws(CodecError) {
    let code = callsim_opus_encoder_set(encoder, request, value)
    guard code == OPUS_OK else { throw .library(code: code) }
  }
}
