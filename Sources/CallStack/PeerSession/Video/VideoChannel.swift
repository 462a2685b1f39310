internal import CallCore
internal import Codecs
internal import CongestionControl
internal import Pictures
internal import RTP
internal import SDP

/// The video of one transceiver: the stream that sends its track, and the stream that receives.
final class VideoChannel {
  let state: ChannelState
  private let configuration: SessionConfiguration
  private let settings: VideoSettings
  /// Whether the track sends its source; a disabled track sends black pictures (W3C `track.enabled`).
  var isEnabled: Bool
  /// The pictures of the track's source, whether they are sent or not.
  private(set) var source = VideoSourceCounters()
  private(set) var send: VideoSendStream?
  private(set) var receive: VideoReceiveStream?

  init(_ transceiver: Transceiver.ID, configuration: SessionConfiguration, isEnabled: Bool) {
    state = ChannelState(transceiver)
    self.configuration = configuration
    settings = configuration.video ?? VideoSettings()
    self.isEnabled = isEnabled
  }

  // MARK: Tracks

  func setTrack(_ track: LocalTrack) {
    state.track = track
    source = VideoSourceCounters()
  }

  func setParameters(_ parameters: [EncodingParameters]) {
    state.encodings = parameters
    send?.setParameters(parameters)
  }

  /// - Returns: the SSRCs that end with the track, if the remote side may know them.
  func removeTrack() -> [UInt32] {
    let sources = send?.sources ?? []
    state.track = nil
    send = nil
    return sources
  }

  func stop() {
    state.isStopped = true
    receive = nil
  }

  // MARK: Negotiation

  /// Applies the result of a negotiation; nil when the section is rejected.
  func apply(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    state.apply(media)
    applySending(media, extensions: extensions, random: random)
    let codecs = state.receiveCodecs(of: media)
    if receive == nil, !codecs.isEmpty { receive = VideoReceiveStream(fidelity: configuration.media) }
    receive?.isActive = !codecs.isEmpty
    if let media { receive?.accept(codecs, of: media) }
    forgetWhatIsOver()
  }

  private func applySending(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    let wasActive = send?.isActive ?? false
    guard let track = state.track, let media, media.direction.sends, let codec = media.sendCodecs.first,
      let video = VideoCodec(codec, fidelity: configuration.media)
    else {
      send?.isActive = false
      return
    }
    let stream =
      send
      ?? VideoSendStream(
        settings: settings, media: media, codec: codec, video: video, track: track, parameters: state.encodings,
        random: random)
    send = stream
    stream.isActive = true
    stream.update(media, codec, video: video, extensions: extensions, naming: wasActive ? nil : media.mid)
  }

  // MARK: Frames

  /// Takes a picture of the track's source, and sends it if that is possible.
  func record(_ input: inout VideoInput, isSendable: Bool, into pacer: inout Pacer, at now: Instant) {
    guard state.attachedTrack != nil else { return }
    source.count(input.size, at: now)
    guard isSendable, let send, send.isActive else { return }
    guard !isEnabled else { return send.send(&input, into: &pacer, at: now) }
    var black = input.blackened
    send.send(&black, into: &pacer, at: now)
  }

  // MARK: Packets

  func receive(
    _ packet: RTPPacket, on route: RTPRouter.Route, in datagram: RawSpan, ecn: ECN, at now: Instant
  ) -> MediaChannel.Reception {
    guard let receive, receive.isActive else { return .unexpected }
    return state.received(receive.receive(packet, on: route, in: datagram, ecn: ecn, at: now))
  }

  func adopt(_ ssrc: UInt32, from other: VideoChannel) -> Bool {
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
