internal import CallCore
internal import Codecs
internal import CongestionControl
internal import RTP
internal import SDP

/// The audio of one transceiver: the stream that sends its track, and the stream that receives.
final class AudioChannel {
  let state: ChannelState
  private let configuration: SessionConfiguration
  /// Whether the track sends its source; a disabled track sends silence (W3C `track.enabled`).
  var isEnabled: Bool { didSet { if !isEnabled { send?.silencePending() } } }
  /// The level of the track's source, whether it is sent or not.
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

  func setParameters(_ parameters: [EncodingParameters]) {
    state.encodings = parameters
    send?.setLimit(state.encodings[0].maxBitrate)
  }

  /// - Returns: the SSRC that ends with the track, if the remote side may know it.
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

  var isHeard: Bool { isEnabled && state.attachedTrack != nil }

  /// Takes samples of the track's source, or silence in their place while the track is disabled.
  func record(_ samples: Span<Int16>) {
    guard state.track != nil else { return }
    let channels = configuration.audio.stereo ? 2 : 1
    if state.attachedTrack != nil {
      source.add(peak: isHeard ? peakMagnitude(samples) : 0, samples: samples.count / channels)
    }
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
    if state.attachedTrack != nil {
      source.add(peak: level.linear, samples: Int(duration.nanoseconds * 48 / 1_000_000))
    }
    send?.append(level, duration: duration)
  }

  // MARK: Negotiation

  /// Applies the result of a negotiation; nil when the section is rejected. Streams keep their sequence numbers and
  /// counters during a hold.
  func apply(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    state.apply(media)
    applySending(media, extensions: extensions, random: random)
    let codecs = state.receiveCodecs(of: media)
    if receive == nil, !codecs.isEmpty { receive = AudioReceiveStream(fidelity: configuration.media) }
    receive?.isActive = !codecs.isEmpty
    let helpers = codecs.isEmpty ? [] : media?.receiveHelpers ?? []
    receive?.accept(codecs, helpers: helpers, retransmissions: media?.remoteSources ?? [])
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
    stream.setLimit(state.encodings[0].maxBitrate)
    stream.update(media, codec)
    let isFedBack = codec.feedback.contains(.transportCC)
    stream.setExtensions(extensions, isNumbered: isFedBack, naming: wasActive ? nil : media.mid)
  }

  // MARK: Packets

  /// Hands all packets of a sending track to the pacer, and discards the recorded samples of a held one.
  func produce(into pacer: inout Pacer, at now: Instant) {
    guard let send else { return }
    if let receive { send.adapt(to: receive.remoteBottleneck, saying: receive.bottleneck.index) }
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
    return state.receivedMedia(isNews: isNews)
  }

  func adopt(_ ssrc: UInt32, from other: AudioChannel) -> Bool {
    guard other !== self, let receive, let source = other.receive?.release(ssrc) else { return false }
    receive.adopt(source)
    return true
  }

  /// Releases the receive stream once the remote side no longer sends in this section and has sent a BYE for every
  /// source.
  func forgetWhatIsOver() {
    if let stream = receive, !stream.isActive, stream.isOver { receive = nil }
  }
}
