internal import CallCore
internal import Codecs
internal import SDP

/// The parameters of a track's encoding: our settings within the limits of the remote description.
struct AudioEncoding: Hashable {
  let codec: AudioCodec
  let channels: Int
  let packetDuration: PacketDuration
  let bitrate: DataRate
  /// The bitrate until the path is known, for a codec that follows it; nil for others.
  let initialBitrate: DataRate?
  let isVariableBitrate: Bool
  let usesInBandFEC: Bool
  /// Whether silence is not sent; only if the remote side asks for it (RFC 7587 section 6.1: off by default).
  let usesDTX: Bool
  let maximumBandwidth: OpusPacket.Bandwidth

  init(_ settings: AudioSettings, _ media: NegotiatedMedia, _ codec: NegotiatedCodec) {
    let name = AudioCodec(codec) ?? .opus
    self.codec = name
    guard !name.isModelled else {
      (channels, isVariableBitrate, usesInBandFEC, usesDTX) = (1, false, false, false)
      maximumBandwidth = name == .isac ? .wide : .narrow
      guard name == .isac else {
        let mode: ILBCMode = codec.parameters["mode"] == "20" ? .ms20 : .ms30
        packetDuration = Self.packetDuration(settings, media, among: mode.packetDurations)
        (bitrate, initialBitrate) = (mode.bitrate, nil)
        return
      }
      packetDuration = Self.packetDuration(settings, media, among: ISAC.packetDurations)
      let limit = media.remoteBandwidths.limit(headers: Self.headers(packetDuration)).map(DataRate.bitsPerSecond)
      bitrate = max(ISAC.leastBitrate, min(ISAC.greatestBitrate, settings.bitrate, limit ?? settings.bitrate))
      initialBitrate = min(bitrate, ISAC.initialBitrate)
      return
    }
    initialBitrate = nil
    guard name == .opus else {
      channels = 1
      // G.711 and G.722 have one bitrate; as in libwebrtc, a packet of them holds at most 60 ms.
      packetDuration = min(.ms60, Self.packetDuration(settings, media, OpusParameters(FormatParameters())))
      bitrate = .bitsPerSecond(TelephonyCodec.bitrate)
      isVariableBitrate = false
      usesInBandFEC = false
      usesDTX = false
      maximumBandwidth = name == .g722 ? .wide : .narrow
      return
    }
    let wishes = OpusParameters(codec.parameters)
    channels = settings.stereo && wishes.isStereo ? 2 : 1
    packetDuration = Self.packetDuration(settings, media, wishes)
    let limit = Self.bitrateLimit(media, wishes, packetDuration)
    bitrate = limit.map { min(settings.bitrate, .bitsPerSecond($0)) } ?? settings.bitrate
    isVariableBitrate = !(settings.constantBitrate || wishes.isConstantBitrate)
    usesInBandFEC = settings.inBandFEC && wishes.usesInbandFEC
    usesDTX = settings.dtx && wishes.usesDTX
    maximumBandwidth =
      switch wishes.maximumPlaybackRate {
      case ...8_000: .narrow
      case ...12_000: .medium
      case ...16_000: .wide
      case ...24_000: .superWide
      default: .full
      }
  }

  /// Returns the packet duration. `a=ptime`, the preference of the remote side, overrides our setting; as in libwebrtc,
  /// a duration that Opus does not have is rounded up. `minptime` and `a=maxptime` are limits.
  private static func packetDuration(
    _ settings: AudioSettings, _ media: NegotiatedMedia, _ wishes: OpusParameters
  ) -> PacketDuration {
    let usual = PacketDuration.ofOpus.filter { $0 >= .ms10 }
    func next(_ milliseconds: UInt32) -> PacketDuration {
      usual.first { $0.interval >= .milliseconds(Int64(milliseconds)) } ?? .ms120
    }
    var duration = next(media.packetTime ?? UInt32(clamping: settings.ptime.milliseconds))
    if wishes.minimumPacketTime > 10 { duration = max(duration, next(wishes.minimumPacketTime)) }
    guard let most = media.maximumPacketTime, duration.interval > .milliseconds(Int64(most)) else { return duration }
    return PacketDuration.ofOpus.last { $0.interval <= .milliseconds(Int64(most)) } ?? .ms2_5
  }

  /// Returns the packet duration of a codec with frames of its own, where as many apply as fit into the wanted one, and at
  /// least one.
  private static func packetDuration(
    _ settings: AudioSettings, _ media: NegotiatedMedia, among possible: [PacketDuration]
  ) -> PacketDuration {
    let wanted = media.packetTime.map { .milliseconds(Int64($0)) } ?? settings.ptime
    let most = media.maximumPacketTime.map { .milliseconds(Int64($0)) } ?? wanted
    return possible.last { $0.interval <= min(wanted, most) } ?? possible[0]
  }

  /// The size of the RTP, UDP and IPv4 headers in bits.
  private static let headerBits: Int64 = 8 * (12 + 8 + 20)
  /// The lowest value of `maxaveragebitrate` in bit/s.
  private static let lowestLimit: Int64 = 6_000
  /// The lowest bitrate requested of Opus.
  static let lowestBitrate = DataRate.bitsPerSecond(lowestLimit)

  /// Returns the lowest limit in bit/s that the remote side sets. `b=AS` includes the headers (RFC 3550 section 6.2),
  /// `b=TIAS` and `maxaveragebitrate` do not (RFC 3890 section 6.2).
  private static func bitrateLimit(
    _ media: NegotiatedMedia, _ wishes: OpusParameters, _ duration: PacketDuration
  ) -> Int64? {
    let limit = media.remoteBandwidths.limit(headers: headers(duration))
    let limits = [wishes.maximumAverageBitrate.map(Int64.init), limit]
    return limits.compactMap(\.self).min().map { max($0, lowestLimit) }
  }

  /// Returns the rate of the headers in bit/s.
  private static func headers(_ duration: PacketDuration) -> Int64 {
    headerBits * Int64(audioSampleRate) / Int64(duration.samplesPerChannel)
  }

  func opus(complexity: Int, expectedPacketLoss: Int) -> OpusEncoder.Settings {
    var opus = OpusEncoder.Settings()
    opus.channels = channels
    opus.packetDuration = packetDuration
    opus.bitrate = bitrate
    opus.complexity = complexity
    opus.isVariableBitrate = isVariableBitrate
    opus.usesInBandFEC = usesInBandFEC
    opus.expectedPacketLoss = expectedPacketLoss
    opus.usesDTX = usesDTX
    opus.maximumBandwidth = maximumBandwidth
    return opus
  }

  /// - Parameter bottleneck: the rate that the path carries; nil if unknown. Most codecs do not follow it.
  func synthetic(bottleneck: DataRate?) -> SyntheticAudioEncoder.Settings {
    var synthetic = SyntheticAudioEncoder.Settings()
    synthetic.packetDuration = packetDuration
    synthetic.bitrate = initialBitrate.map { min(bitrate, bottleneck ?? $0) } ?? bitrate
    synthetic.usesInBandFEC = usesInBandFEC
    synthetic.usesDTX = usesDTX
    return synthetic
  }
}

/// The loss that an encoder prepares for: the average of the reported loss, with an upper bound as in libwebrtc. The
/// weight of a report decays with a time constant of 10 s, so one report without loss does not disable redundancy.
struct ExpectedLoss {
  private var average: (fraction: Double, at: Instant)?
  private static let maximum = 0.2
  /// The factor by which the weight of a report decays per millisecond.
  private static let memory = 0.9999

  /// Adds the fraction lost of a report, and returns the expected loss in percent.
  mutating func add(_ fraction: Double, at now: Instant) -> Int {
    var next = fraction
    if let average {
      let old = Self.power(Self.memory, UInt64(max(0, (now - average.at).milliseconds)))
      next = old * average.fraction + (1 - old) * fraction
    }
    average = (next, now)
    return Int((min(next, Self.maximum) * 100).rounded())
  }

  private static func power(_ base: Double, _ exponent: UInt64) -> Double {
    var (result, square, rest) = (1.0, base, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result *= square }
      square *= square
      rest >>= 1
    }
    return result
  }
}
