internal import CallCore
internal import JitterBuffer
internal import RTP

/// What a track's sender counts.
struct AudioSendStatistics {
  let channel: AudioChannel
  let ssrc: UInt32
  let isActive: Bool
  let bitrate: DataRate
  let outbound: OutboundRTPStatistics
  let remoteInbound: RemoteInboundRTPStatistics
}

/// What a source received counts.
struct AudioReceiveStatistics {
  let channel: AudioChannel
  let ssrc: UInt32
  let isActive: Bool
  let inbound: InboundRTPStatistics
  let remoteOutbound: RemoteOutboundRTPStatistics
  /// Of the time in which it played; nil for a source that never has.
  let playout: AudioJitterBufferStatistics?
}

extension AudioTransport {
  var sendStatistics: [AudioSendStatistics] {
    channels.compactMap { channel in
      guard let stream = channel.send else { return nil }
      return AudioSendStatistics(
        channel: channel, ssrc: stream.rtp.ssrc, isActive: stream.isActive, bitrate: stream.encoding.bitrate,
        outbound: stream.rtp.outbound, remoteInbound: stream.rtp.remoteInbound)
    }
  }

  var receiveStatistics: [AudioReceiveStatistics] {
    channels.flatMap { channel in
      guard let stream = channel.receive else { return [AudioReceiveStatistics]() }
      // The one that plays is what is meant where a section has one track.
      let others = stream.sources.filter { $0.ssrc != stream.playingSource }
      return (stream.sources.filter { $0.ssrc == stream.playingSource } + others).map { source in
        AudioReceiveStatistics(
          channel: channel, ssrc: source.ssrc, isActive: stream.isActive, inbound: source.rtp.inbound,
          remoteOutbound: source.rtp.remoteOutbound, playout: stream.playout(of: source))
      }
    }
  }
}
