internal import CallCore
internal import Codecs
internal import RTP
internal import SDP

/// From samples to RTP packets. Encoding happens when the packet is asked for, into the memory it leaves from.
final class AudioSendStream {
  private(set) var rtp: RTPSender
  private let settings: AudioSettings
  private var encoder: AudioEncoder
  private var framer: PCMFramer
  private var frame: [Int16] = []
  private var levels = FIFO<AudioLevel>()
  private var levelSamples = 0
  private var loudest = AudioLevel.silence
  private var mediaTime: UInt32 = 0
  private var gate = DTXGate()
  private var isTalking = false
  private let scratch: UnsafeMutableBufferPointer<UInt8>
  private var silence: [Int16] = []
  private var identification = RTPHeaderExtensions()
  /// What an Ethernet frame has left beneath IPv6 and UDP, a Send indication to an IPv6 peer, RTP with its extension, and
  /// SRTP's tag. An encoder with no more room than that lowers its rate; a much larger packet would never leave.
  private static let maximumPayload = maximumDatagramSize - 48 - 48 - 12 - 24 - 16

  init(
    settings: AudioSettings, media: MediaFidelity, codec: NegotiatedCodec, ssrc: UInt32, random: consuming RandomStream
  ) {
    self.settings = settings
    encoder = Self.makeEncoder(settings, media, codec)
    let samples = encoder.packetDuration.samplesPerChannel
    framer = PCMFramer(frameSize: samples)
    var sending = RTPSender.Settings(payloadType: codec.payloadType, clockRate: codec.clockRate)
    if codec.feedback.contains(.nack) { sending.historyCapacity = 256 }
    sending.initialSequenceNumber = settings.initialSequenceNumber
    rtp = RTPSender(ssrc: ssrc, settings: sending, random: random)
    scratch = .allocate(capacity: Self.maximumPayload)
  }

  deinit { scratch.deallocate() }

  private static func makeEncoder(
    _ settings: AudioSettings, _ media: MediaFidelity, _ codec: NegotiatedCodec
  ) -> AudioEncoder {
    switch media {
    case .real:
      do throws(CodecError) {
        return .opus(try OpusEncoder(settings: opusSettings(settings, codec)))
      } catch {
        preconditionFailure("validated audio settings were refused: \(error)")
      }
    case .synthetic:
      var synthetic = SyntheticAudioEncoder.Settings()
      synthetic.packetDuration = packetDuration(settings)
      synthetic.bitrate = settings.bitrate
      synthetic.usesInBandFEC = settings.inBandFEC && OpusParameters(codec.parameters).usesInbandFEC
      synthetic.usesDTX = settings.dtx
      return .synthetic(SyntheticAudioEncoder(settings: synthetic))
    }
  }

  /// What we are set to, within what the far side asks for (RFC 7587 section 6.1).
  private static func opusSettings(_ settings: AudioSettings, _ codec: NegotiatedCodec) -> OpusEncoder.Settings {
    let wishes = OpusParameters(codec.parameters)
    var opus = OpusEncoder.Settings()
    opus.packetDuration = packetDuration(settings)
    opus.bitrate =
      wishes.maximumAverageBitrate.map { min(settings.bitrate, .bitsPerSecond(Int64($0))) } ?? settings.bitrate
    opus.complexity = settings.complexity
    opus.isVariableBitrate = !(settings.constantBitrate || wishes.isConstantBitrate)
    opus.usesInBandFEC = settings.inBandFEC && wishes.usesInbandFEC
    opus.expectedPacketLoss = settings.expectedLossPercent ?? 0
    opus.usesDTX = settings.dtx
    return opus
  }

  private static func packetDuration(_ settings: AudioSettings) -> PacketDuration {
    PacketDuration(milliseconds: Int(settings.ptime.milliseconds)) ?? .ms20
  }

  /// Whether the direction last agreed on sends. While it does not, recording goes on and nothing leaves: the stream's
  /// numbers must never be used twice with one key.
  var isActive = true

  func update(codec: NegotiatedCodec) {
    rtp.setPayloadType(codec.payloadType)
    guard case .opus(let opus) = encoder else { return }
    var changed = Self.opusSettings(settings, codec)
    changed.expectedPacketLoss = opus.settings.expectedPacketLoss
    if changed != opus.settings { try? opus.update(changed) }
  }

  /// Names the media section in every packet (RFC 9143 section 15) until the far side reports on the stream: then it
  /// knows whose the source is.
  func identify(_ mid: String, extensionID: UInt8) {
    identification = RTPHeaderExtensions()
    identification.append(id: extensionID, bytes: Array(mid.utf8).span.bytes)
  }

  /// Where the sample after the last one recorded will be.
  var recordedPosition: AudioPosition {
    let pending =
      encoder.needsSamples
      ? framer.pendingCount : levels.count * encoder.packetDuration.samplesPerChannel + levelSamples
    return AudioPosition(ssrc: rtp.ssrc, timestamp: rtp.timestamp(of: mediaTime &+ UInt32(pending)))
  }

  var hasSent: Bool { rtp.outbound.packetsSent > 0 }
  var roundTrip: Interval? { rtp.remoteInbound.roundTripTime }

  // MARK: Samples

  func append(_ samples: Span<Int16>, isEnabled: Bool) {
    if isEnabled {
      framer.append(samples)
    } else {
      if silence.count != samples.count { silence = Array(repeating: 0, count: samples.count) }
      let quiet = silence
      framer.append(quiet.span)
    }
  }

  func append(_ level: AudioLevel, duration: Interval) {
    let frame = encoder.packetDuration.samplesPerChannel
    loudest = max(loudest, level)
    levelSamples += Int(duration.nanoseconds * 48 / 1_000_000)
    while levelSamples >= frame {
      levelSamples -= frame
      levels.append(loudest)
      loudest = levelSamples > 0 ? level : .silence
    }
  }

  /// Throws away what was recorded; the media clock goes on.
  func dropPending() {
    let samples = UInt32(encoder.packetDuration.samplesPerChannel)
    while levels.popFirst() != nil { mediaTime &+= samples }
    while framer.takeFrame(into: &frame) { mediaTime &+= samples }
  }

  // MARK: Packets

  /// Writes the next audio packet or retransmission, and returns the first bytes of its payload.
  func next(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> UInt64? {
    while let encoded = encodeNext() {
      let time = mediaTime
      mediaTime &+= UInt32(encoded.samplesPerChannel)
      guard gate.admits(encoded) else { continue }
      let payload = UnsafeRawBufferPointer(start: scratch.baseAddress, count: encoded.byteCount).bytes
      let isOnset = !isTalking && !encoded.isDTX
      isTalking = !encoded.isDTX
      guard
        rtp.packetize(
          payload: payload, mediaTime: time, marker: isOnset, extensions: identification, into: &buffer, at: now)
          != nil
      else { continue }
      return payload.bigEndian(UInt64.self, at: 0) ?? 0
    }
    return rtp.retransmit(into: &buffer, at: now) == nil ? nil : 0
  }

  private func encodeNext() -> EncodedAudio? {
    var output = OutputSpan<UInt8>(buffer: scratch, initializedCount: 0)
    if encoder.needsSamples {
      guard framer.takeFrame(into: &frame) else { return nil }
      let samples = frame
      let encoded = try? encoder.encode(samples.span, into: &output)
      _ = output.finalize(for: scratch)
      return encoded
    }
    guard let level = levels.popFirst() else { return nil }
    let encoded = try? encoder.encode(level, into: &output)
    _ = output.finalize(for: scratch)
    return encoded
  }

  // MARK: Feedback

  func senderReport(clock: WallClock, at now: Instant) -> SenderReport? {
    rtp.senderReport(clock: clock, at: now)
  }

  func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    guard block.ssrc == rtp.ssrc else { return }
    rtp.receive(block, clock: clock, at: now)
    identification = RTPHeaderExtensions()
    guard settings.expectedLossPercent == nil, case .opus(let opus) = encoder else { return }
    var changed = opus.settings
    changed.expectedPacketLoss = Int((rtp.remoteInbound.fractionLost * 100).rounded())
    try? opus.update(changed)
  }

  func receive(_ nack: GenericNACK) { rtp.receive(nack) }
}
