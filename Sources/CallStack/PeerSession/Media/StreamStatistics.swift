internal import CallCore
internal import JitterBuffer
internal import RTP
internal import SDP
internal import VideoReceive

/// The counters of one stream of a track's sender.
struct SendStatistics {
  let kind: MediaKind
  let state: ChannelState
  let ssrc: UInt32
  let isActive: Bool
  /// The target of the encoder; nil without one.
  let bitrate: DataRate?
  let outbound: OutboundRTPStatistics
  let remoteInbound: RemoteInboundRTPStatistics
  var video: Video?
  var forwarding: ForwardingSendStream?

  struct Video {
    let rid: String?
    let retransmissionSSRC: UInt32?
    let counters: VideoSendCounters
    let adaptation: VideoAdaptation
  }
}

/// The counters of a received source.
struct ReceiveStatistics {
  let kind: MediaKind
  let state: ChannelState
  let ssrc: UInt32
  let isActive: Bool
  let inbound: InboundRTPStatistics
  /// The payload type of the newest media; nil before any.
  let payloadType: UInt8?
  let remoteOutbound: RemoteOutboundRTPStatistics
  /// The sender's wall clock at what is played now; nil while it is unknown.
  var playoutTime: Double?
  /// The playout counters of audio while it played; nil if it never played.
  var playout: AudioJitterBufferStatistics?
  var video: Video?
  var forwarding: ForwardingSource?

  struct Video {
    let counters: VideoReceiveCounters
    let receiver: VideoReceiveStatistics
    let retransmission: RetransmissionReceiver
    /// The stream that retransmits; nil before its first packet.
    let repair: RTPReceiver?
    /// Forward error correction; nil when none was negotiated.
    let correction: VideoRepairReceiver?
    let freezes: FreezeDetector
  }
}

extension MediaChannel {
  /// The statistics of every stream that is sent.
  var sendStatistics: [SendStatistics] {
    switch self {
    case .audio(let channel):
      guard let stream = channel.send else { return [] }
      return [
        SendStatistics(
          kind: kind, state: channel.state, ssrc: stream.rtp.ssrc, isActive: stream.isActive,
          bitrate: stream.encoding.bitrate, outbound: stream.rtp.outbound, remoteInbound: stream.rtp.remoteInbound)
      ]
    case .video(let channel):
      guard let stream = channel.send else { return [] }
      return stream.encodings.map { encoding in
        SendStatistics(
          kind: kind, state: channel.state, ssrc: encoding.rtp.ssrc,
          isActive: stream.isActive && encoding.rate > .zero, bitrate: encoding.targetRate,
          outbound: encoding.rtp.outbound, remoteInbound: encoding.rtp.remoteInbound,
          video: .init(
            rid: encoding.rid, retransmissionSSRC: encoding.retransmissionSSRC, counters: encoding.counters,
            adaptation: encoding.adaptation))
      }
    case .forwarding(let channel):
      guard let stream = channel.send else { return [] }
      return [
        SendStatistics(
          kind: kind, state: channel.state, ssrc: stream.rtp.ssrc, isActive: stream.isActive, bitrate: nil,
          outbound: stream.rtp.outbound, remoteInbound: stream.rtp.remoteInbound, forwarding: stream)
      ]
    }
  }

  /// The statistics of every received source. The playing one comes first, because readers that expect one track per
  /// section take the first.
  func receiveStatistics(at now: Instant) -> [ReceiveStatistics] {
    switch self {
    case .audio(let channel):
      guard let stream = channel.receive else { return [] }
      let others = stream.sources.filter { $0.ssrc != stream.playingSource }
      return (stream.sources.filter { $0.ssrc == stream.playingSource } + others).map { source in
        ReceiveStatistics(
          kind: kind, state: channel.state, ssrc: source.ssrc, isActive: stream.isActive, inbound: source.rtp.inbound,
          payloadType: source.rtp.mediaPayloadType,
          remoteOutbound: source.rtp.remoteOutbound, playoutTime: stream.playoutTime(of: source, at: now),
          playout: stream.playout(of: source))
      }
    case .video(let channel):
      guard let stream = channel.receive else { return [] }
      return stream.sources.map { source in
        ReceiveStatistics(
          kind: kind, state: channel.state, ssrc: source.ssrc, isActive: stream.isActive, inbound: source.rtp.inbound,
          payloadType: source.rtp.mediaPayloadType,
          remoteOutbound: source.rtp.remoteOutbound,
          playoutTime: source.rtp.playoutTime(of: source.lastShown, at: now),
          video: .init(
            counters: source.counters, receiver: source.receiver.statistics, retransmission: source.retransmission,
            repair: source.repair, correction: source.correction, freezes: source.receiver.freezes))
      }
    case .forwarding(let channel):
      guard let stream = channel.receive else { return [] }
      return stream.sources.map { source in
        ReceiveStatistics(
          kind: kind, state: channel.state, ssrc: source.ssrc, isActive: stream.isActive, inbound: source.rtp.inbound,
          payloadType: source.rtp.mediaPayloadType,
          remoteOutbound: source.rtp.remoteOutbound, forwarding: source)
      }
    }
  }
}
