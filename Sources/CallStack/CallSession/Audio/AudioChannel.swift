internal import CallCore
internal import Codecs
internal import CongestionControl
internal import RTP
internal import SDP

/// One transceiver's media: the stream its track is sent in, and the stream that is heard.
final class AudioChannel {
  var state: ChannelState
  private let configuration: SessionConfiguration
  /// Disabled, the track is silence (W3C `track.enabled`).
  var isEnabled: Bool
  /// What the track's source gives, sent or not.
  private(set) var source = AudioLevelMeter()
  private var silence: [Int16] = []
  private(set) var send: AudioSendStream?
  private(set) var receive: AudioReceiveStream?

  init(_ transceiver: Transceiver.ID, configuration: SessionConfiguration, isEnabled: Bool) {
    state = ChannelState(transceiver)
    self.configuration = configuration
    self.isEnabled = isEnabled
  }

  // MARK: Tracks

  func setTrack(_ track: LocalTrack) {
    state.track = track
    source = AudioLevelMeter()
  }

  func setParameters(_ parameters: EncodingParameters) {
    state.parameters = parameters
    send?.setLimit(parameters.maxBitrate)
  }

  /// - Returns: the source that ends with it, when the far side may have heard of it.
  func removeTrack() -> UInt32? {
    let source = send?.hasSent == true ? state.track?.sender.ssrc : nil
    state.track = nil
    send = nil
    return source
  }

  func stop() {
    state.isStopped = true
    receive = nil
  }

  // MARK: Samples

  private var isHeard: Bool { isEnabled && state.track?.source != nil }

  /// Takes what the track's source gives; disabled, it is silence.
  func record(_ samples: Span<Int16>) {
    guard state.track != nil else { return }
    source.add(peak: isHeard ? peakMagnitude(samples) : 0, samples: samples.count)
    guard !isHeard else {
      send?.append(samples)
      return
    }
    if silence.count != samples.count { silence = Array(repeating: 0, count: samples.count) }
    let quiet = silence
    send?.append(quiet.span)
  }

  func record(_ level: AudioLevel, duration: Interval) {
    guard state.track != nil else { return }
    let level = isHeard ? level : .silence
    source.add(peak: level.linear, samples: Int(duration.nanoseconds * 48 / 1_000_000))
    send?.append(level, duration: duration)
  }

  // MARK: Negotiation

  /// Takes what a negotiation came to; nil when the section is rejected. Streams outlive a hold, with their numbers and
  /// counts.
  func apply(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    state.apply(media)
    applySending(media, extensions: extensions, random: random)
    let codecs = media.flatMap { $0.direction.receives && !state.isStopped ? $0.receiveCodecs : nil } ?? []
    if receive == nil, !codecs.isEmpty { receive = AudioReceiveStream(fidelity: configuration.media) }
    receive?.isActive = !codecs.isEmpty
    receive?.accept(codecs, retransmissions: media?.remoteSources ?? [])
    forgetWhatIsOver()
  }

  private func applySending(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    let wasActive = send?.isActive ?? false
    send?.isActive = false
    guard let track = state.track, let media, media.direction.sends, let codec = media.sendCodecs.first else {
      if Defect.heldStreamStartsAfresh.isPlanted { send = nil }
      return
    }
    let stream =
      send
      ?? AudioSendStream(
        settings: configuration.audio, fidelity: configuration.media, media: media, codec: codec, track: track,
        random: random)
    send = stream
    stream.isActive = true
    stream.setLimit(state.parameters.maxBitrate)
    stream.update(media, codec)
    let isFedBack = codec.feedback.contains(.transportCC)
    stream.setExtensions(extensions, isNumbered: isFedBack, naming: wasActive ? nil : media.mid)
  }

  // MARK: Packets

  /// Hands all packets of a track that is sent to the pacer; what was recorded for one that is held is thrown away.
  func produce(into pacer: inout Pacer, at now: Instant) {
    guard let send else { return }
    if send.isActive, !state.isSuspended { send.produce(into: &pacer, at: now) } else { send.dropPending() }
  }

  func receive(
    _ packet: RTPPacket, as role: RTPRouter.Role, in datagram: RawSpan, ecn: ECN, at now: Instant
  ) -> MediaChannel.Reception {
    guard let receive else { return .unexpected }
    var packet = packet
    switch role {
    case .media: break
    case .retransmission:
      guard let original = receive.original(of: packet, in: datagram) else { return .taken }
      packet = original
    case .repair: return .unknownPayloadType
    }
    guard let isNews = receive.receive(packet, in: datagram, ecn: ecn, at: now) else { return .unknownPayloadType }
    // Between a hold's offer and its answer packets still come, of a track that is over.
    guard state.isMuted, state.isAnnounced, isNews, let mid = state.mid else { return .taken }
    state.isMuted = false
    return .unmuted(mid: mid)
  }

  func adopt(_ ssrc: UInt32, from other: AudioChannel) -> Bool {
    guard other !== self, let receive, let source = other.receive?.release(ssrc) else { return false }
    receive.adopt(source)
    return true
  }

  /// The far side sends no more in this section and every source of it has said goodbye.
  func forgetWhatIsOver() {
    if let stream = receive, !stream.isActive, stream.isOver { receive = nil }
  }
}
