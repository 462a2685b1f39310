internal import CallCore
internal import CongestionControl
internal import RTP
internal import SDP

/// The media of one transceiver of a forwarding connection: what it receives goes to other connections, and what it
/// sends comes from another one.
final class ForwardingChannel {
  let kind: MediaKind
  let state: ChannelState
  private let configuration: SessionConfiguration
  /// Whether the track is sent; a disabled one sends nothing, because its silence would have to be encoded.
  var isEnabled: Bool
  var policy = ForwardingPolicy() { didSet { send?.policy = policy } }
  private(set) var send: ForwardingSendStream?
  private(set) var receive: ForwardingReceiveStream?

  init(_ transceiver: Transceiver.ID, _ kind: MediaKind, configuration: SessionConfiguration, isEnabled: Bool) {
    self.kind = kind
    state = ChannelState(transceiver)
    self.configuration = configuration
    self.isEnabled = isEnabled
  }

  // MARK: Tracks

  func setTrack(_ track: LocalTrack) { state.track = track }

  func setParameters(_ parameters: [EncodingParameters]) { state.encodings = parameters }

  /// - Returns: the SSRCs that end with the track, if the remote side may know them.
  func removeTrack() -> [UInt32] {
    defer {
      state.track = nil
      send = nil
    }
    return sentSources
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
    if receive == nil, !codecs.isEmpty {
      receive = ForwardingReceiveStream(kind, of: state.transceiver, fidelity: configuration.media)
    }
    receive?.isActive = !codecs.isEmpty
    if let media { receive?.accept(codecs, of: media) }
    forgetWhatIsOver()
  }

  private func applySending(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    let wasActive = send?.isActive ?? false
    guard let track = state.track, let media, media.direction.sends, let codec = media.sendCodecs.first else {
      send?.isActive = false
      return
    }
    let stream = send ?? ForwardingSendStream(kind, codec: codec, track: track, random: random)
    send = stream
    stream.policy = policy
    stream.isActive = true
    stream.update(media, extensions: extensions, naming: wasActive ? nil : media.mid)
  }

  // MARK: Packets

  /// Sends a packet that another connection received.
  func forward(_ packet: ForwardedPacket, into pacer: inout Pacer, at now: Instant) {
    if isEnabled, !state.isSuspended { send?.send(packet, into: &pacer, at: now) }
  }

  func receive(
    _ packet: RTPPacket, on route: RTPRouter.Route, in datagram: RawSpan, ecn: ECN, at now: Instant
  ) -> MediaChannel.Reception {
    guard let receive, receive.isActive else { return .unexpected }
    return state.received(receive.receive(packet, on: route, in: datagram, ecn: ecn, at: now))
  }

  var sentSources: [UInt32] { send.map { $0.hasSent ? $0.sources : [] } ?? [] }

  /// Releases the receive stream once the remote side no longer sends in this section and has sent a BYE for every
  /// source.
  func forgetWhatIsOver() {
    if let stream = receive, !stream.isActive, stream.isOver { receive = nil }
  }
}
