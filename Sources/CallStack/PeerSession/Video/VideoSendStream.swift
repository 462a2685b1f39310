internal import CallCore
internal import Codecs
internal import CongestionControl
internal import Pictures
internal import RTP
internal import SDP

/// Sends a video track, in one encoding or in several (simulcast).
final class VideoSendStream {
  private(set) var encodings: [VideoEncodingStream]
  private let settings: VideoSettings
  /// The number of the track, by which the bandwidth is divided.
  let number: Int
  /// The wishes of the application for each encoding, in the order of ``encodings``.
  private var parameters: [EncodingParameters]
  /// The limit of an encoding in the remote description.
  private var limit: DataRate?
  /// Whether the negotiated direction sends. If not, nothing is encoded: the streams keep their sequence numbers, which
  /// must never be used twice with one key.
  var isActive = false {
    didSet { if isActive, !oldValue { requestKeyFrames() } }
  }
  /// Whether packets carry transport-wide numbers.
  private(set) var isNumbered = false
  /// The pictures that the source gives in a second.
  private var sourceFrameRate: Int
  private var sourceSize: PictureSize
  /// When the last picture came; nil before it.
  private var lastPicture: Instant?

  init(
    settings: VideoSettings, media: NegotiatedMedia, codec: NegotiatedCodec, video: VideoCodec, track: LocalTrack,
    parameters: [EncodingParameters], random: RandomSource
  ) {
    self.settings = settings
    self.parameters = parameters
    sourceFrameRate = settings.frameRate
    sourceSize = settings.size
    number = track.number
    var encoder = VideoEncoderSettings()
    encoder.size = settings.size
    encoder.frameRate = settings.frameRate
    encoder.temporalLayers = settings.temporalLayers
    encoder.content = settings.content == .detail ? .screen : .camera
    // A simulcast that the remote side does not take is reduced to its first encoding (RFC 8853 section 5.3).
    let accepted = media.sendEncodings.compactMap(\.rid)
    let own = track.sender.encodings
    let sent = accepted.isEmpty ? Array(own.prefix(1)) : own.filter { $0.rid.map(accepted.contains) ?? false }
    encodings = sent.enumerated().map { index, encoding in
      VideoEncodingStream(
        encoding, rid: accepted.isEmpty ? nil : encoding.rid, codec: codec, video: video, settings: encoder,
        content: settings.content, random: random, name: "video/\(track.number)" + (index == 0 ? "" : "/\(index)"))
    }
    applySizes()
  }

  // MARK: Settings

  /// Applies the result of a negotiation.
  func update(
    _ media: NegotiatedMedia, _ codec: NegotiatedCodec, video: VideoCodec, extensions: MediaExtensions,
    naming mid: String?
  ) {
    // Our rates count headers, as `b=AS` does.
    let remote = media.remoteBandwidths.limit(headers: 0)
    limit = remote.map { max(.bitsPerSecond($0), VideoSettings.minimumBitrate) }
    isNumbered = codec.feedback.contains(.transportCC)
    let formats = RepairFormats(media.sendHelpers)
    // FlexFEC has one stream, as in libwebrtc.
    let scheme = formats.scheme(for: codec, isSimulcast: encodings.count > 1)
    for encoding in encodings {
      encoding.update(codec, video: video)
      encoding.setRepair(scheme, redRetransmission: formats.redRetransmission)
      encoding.setExtensions(extensions, isNumbered: isNumbered, naming: mid)
    }
  }

  func setParameters(_ parameters: [EncodingParameters]) {
    self.parameters = parameters
    applySizes()
  }

  private func parameters(of index: Int) -> EncodingParameters {
    let rid = encodings[index].rid
    let named = parameters.first { $0.rid == rid && rid != nil }
    return named ?? (index < parameters.count ? parameters[index] : EncodingParameters())
  }

  /// Sets the sizes: the picture's divided by W3C's `scaleResolutionDownBy`, whose default halves a simulcast from each
  /// encoding to the one before it.
  private func applySizes() {
    for (index, encoding) in encodings.enumerated() {
      let wish = parameters(of: index)
      let factor = wish.scaleResolutionDownBy ?? Double(1 << (encodings.count - 1 - index))
      let rate = wish.maxFramerate.map { min(Double(sourceFrameRate), max(1, $0)) } ?? Double(sourceFrameRate)
      encoding.setSize(sourceSize.divided(by: factor), frameRate: Int(rate.rounded()))
    }
  }

  /// Whether an encoding may be sent.
  private var isSending: Bool { isActive && encodings.indices.contains { parameters(of: $0).isActive } }

  func canPad(at now: Instant) -> Bool {
    isSending && lastPicture.map { now - $0 < MediaChannel.idleTimeout } ?? false
  }

  /// The stream for the division of the bandwidth; nil while nothing is sent.
  var allocation: RateAllocator.Stream? {
    guard isSending else { return nil }
    var stream =
      encodings.count == 1
      ? RateAllocator.Stream(id: number, minimum: VideoSettings.minimumBitrate, maximum: maximum(of: 0))
      : RateAllocator.Stream(id: number, encodings: encodings.indices.map(allocation))
    if settings.content == .detail { stream.layerMargin = 1.35 }
    return stream
  }

  private func allocation(of index: Int) -> RateAllocator.Encoding {
    let wish = parameters(of: index)
    let figures = SimulcastRates.of(encodings[index].adaptation.size)
    let maximum = min(maximum(of: index), figures.maximum)
    return RateAllocator.Encoding(
      minimum: min(figures.minimum, maximum), target: min(figures.target, maximum), maximum: maximum,
      isActive: wish.isActive)
  }

  private func maximum(of index: Int) -> DataRate {
    let usual = settings.maximumBitrate ?? SimulcastRates.single(encodings[index].adaptation.size)
    let wish = parameters(of: index).maxBitrate ?? usual
    return max(VideoSettings.minimumBitrate, min(wish, limit ?? wish))
  }

  /// Sets the rates of the encodings with all headers.
  ///
  /// - Parameter repairShare: the share of them for retransmissions.
  func setRates(_ rate: DataRate, layers: [DataRate], repairShare: Double, path: TargetRate, at now: Instant) {
    for (index, encoding) in encodings.enumerated() {
      encoding.setRate(
        encodings.count == 1 ? rate : index < layers.count ? layers[index] : .zero, maximum: maximum(of: index),
        repairShare: repairShare, path: path, at: now)
    }
  }

  // MARK: Frames

  func requestKeyFrames() {
    for encoding in encodings { encoding.requestKeyFrame() }
  }

  /// Encodes a picture in each encoding, and hands the packets to the pacer.
  func send(_ input: inout VideoInput, into pacer: inout Pacer, at now: Instant) {
    lastPicture = now
    if let rate = input.frameRate, rate != sourceFrameRate || input.size != sourceSize {
      (sourceFrameRate, sourceSize) = (max(1, rate), input.size)
      applySizes()
    }
    for index in encodings.indices where parameters(of: index).isActive {
      encodings[index].encode(&input, into: &pacer, at: now)
    }
  }

  // MARK: Packets

  var sources: [UInt32] { encodings.filter(\.hasSent).flatMap(\.sources) }
  var roundTrip: Interval? { encodings.lazy.compactMap(\.roundTrip).first }

  func retransmit(into pacer: inout Pacer, limiter: inout RetransmissionLimiter, at now: Instant) {
    for encoding in encodings { encoding.retransmit(into: &pacer, limiter: &limiter, at: now) }
  }

  func pad(_ count: Int, into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    for encoding in encodings {
      if let packet = encoding.pad(count, into: &output, at: now) { return packet }
    }
    return nil
  }

  func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) -> Bool {
    guard let owner = encodings.first(where: { $0.owns(packet.header.ssrc) }) else { return false }
    owner.departed(packet, bytes, at: now)
    return true
  }

  func dropped(_ packet: OutgoingPacket) {
    for encoding in encodings where encoding.owns(packet.header.ssrc) { encoding.dropped(packet) }
  }

  // MARK: Reports

  func appendSenderReports(to reports: inout [SenderReport], clock: WallClock, at now: Instant) {
    for encoding in encodings where encoding.rtp.hasSentLately {
      if let report = encoding.rtp.senderReport(clock: clock, at: now) { reports.append(report) }
    }
  }
}
