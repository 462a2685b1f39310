internal import CallCore
internal import JitterBuffer
internal import RTP
internal import SDP

/// The counters of a track's sender.
struct SendStatistics {
  let kind: MediaKind
  let state: ChannelState
  let ssrc: UInt32
  let isActive: Bool
  let bitrate: DataRate
  let outbound: OutboundRTPStatistics
  let remoteInbound: RemoteInboundRTPStatistics
}

/// The counters of a received source.
struct ReceiveStatistics {
  let kind: MediaKind
  let state: ChannelState
  let ssrc: UInt32
  let isActive: Bool
  let inbound: InboundRTPStatistics
  let remoteOutbound: RemoteOutboundRTPStatistics
  /// The playout counters while it played; nil if it never played.
  let playout: AudioJitterBufferStatistics?
}

extension MediaChannel {
  var sendStatistics: SendStatistics? {
    switch self {
    case .audio(let channel):
      channel.send.map { stream in
        SendStatistics(
          kind: kind, state: channel.state, ssrc: stream.rtp.ssrc, isActive: stream.isActive,
          bitrate: stream.encoding.bitrate, outbound: stream.rtp.outbound, remoteInbound: stream.rtp.remoteInbound)
      }
    }
  }

  /// The statistics of every received source. The playing one comes first, because readers that expect one track per
  /// section take the first.
  var receiveStatistics: [ReceiveStatistics] {
    switch self {
    case .audio(let channel):
      guard let stream = channel.receive else { return [] }
      let others = stream.sources.filter { $0.ssrc != stream.playingSource }
      return (stream.sources.filter { $0.ssrc == stream.playingSource } + others).map { source in
        ReceiveStatistics(
          kind: kind, state: channel.state, ssrc: source.ssrc, isActive: stream.isActive, inbound: source.rtp.inbound,
          remoteOutbound: source.rtp.remoteOutbound, playout: stream.playout(of: source))
      }
    }
  }
}
