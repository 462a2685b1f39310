internal import CallCore
internal import Codecs
internal import Pictures
internal import RTP
internal import SDP
internal import Statistics
internal import VideoReceive

/// The entries of `getStats` about media.
extension CallSession {
  /// The codecs, listed once for each direction: a payload type has one meaning on the whole transport (RFC 9143
  /// section 10.1.1).
  func codecs(received: [ReceiveStatistics]) -> [StatsReport.Entry] {
    var entries: [StatsReport.Entry] = []
    let coming = received.compactMap { codec(of: $0) }
    for media in jsep.media {
      let own = media.receiveCodecs.filter(coming.contains)
      let inbound = own.isEmpty ? media.receiveCodecs.prefix(1) : own[...]
      for (codec, direction) in media.sendCodecs.prefix(1).map({ ($0, "O") }) + inbound.map({ ($0, "I") }) {
        let id = Self.identifier(of: codec, direction)
        if !entries.contains(where: { $0.id == id }) { entries.append(self.codec(codec, media.kind, id: id)) }
      }
    }
    return entries
  }

  /// Returns the codec of the newest media of a stream, or the first one before any.
  private func codec(of receive: ReceiveStatistics) -> NegotiatedCodec? {
    let codecs = negotiated(receive.state)?.receiveCodecs ?? []
    return codecs.first { $0.payloadType == receive.payloadType } ?? codecs.first
  }

  private static func identifier(of codec: NegotiatedCodec, _ direction: String) -> String {
    "C\(direction)\(codec.payloadType)"
  }

  /// Returns the letter that marks entries of one kind of media, as in libwebrtc.
  private static func letter(of kind: MediaKind) -> String {
    switch kind {
    case .audio: "A"
    case .video: "V"
    }
  }

  private static func sourceIdentifier(_ track: LocalTrack, _ kind: MediaKind) -> String {
    "S\(letter(of: kind))\(track.number)"
  }

  /// Returns the statistics of a channel's source, whether it is sent or not; nil where the sender has none (W3C
  /// webrtc-stats, RTCMediaSourceStats), as in a section that receives alone.
  func source(of channel: MediaChannel, at now: Instant) -> StatsReport.Entry? {
    guard let track = channel.state.attachedTrack else { return nil }
    var members = StatsMembers()
    members.add("trackIdentifier", track.sender.trackID)
    switch channel {
    case .audio(let channel):
      members.add("audioLevel", channel.source.level)
      members.add("totalAudioEnergy", channel.source.totalEnergy)
      members.add("totalSamplesDuration", channel.source.totalDuration)
    case .video(let channel):
      members.add("width", channel.source.size.map { Int64($0.width) })
      members.add("height", channel.source.size.map { Int64($0.height) })
      members.add("frames", channel.source.frames)
      members.add("framesPerSecond", channel.source.rate.framesPerSecond(at: now))
    // What is forwarded is not seen or heard here.
    case .forwarding: break
    }
    return StatsReport.Entry(
      id: Self.sourceIdentifier(track, channel.kind), type: "media-source", kind: channel.kind.rawValue,
      members: members.all)
  }

  private func negotiated(_ state: ChannelState) -> NegotiatedMedia? {
    jsep.media.first { $0.transceiver == state.transceiver }
  }

  private func codec(_ codec: NegotiatedCodec, _ kind: MediaKind, id: String) -> StatsReport.Entry {
    var members = StatsMembers()
    members.add("transportId", "T")
    members.add("payloadType", Int64(codec.payloadType))
    members.add("mimeType", "\(kind.rawValue)/\(codec.name)")
    members.add("clockRate", Int64(codec.clockRate))
    members.add("channels", Int64(codec.channels))
    members.add("sdpFmtpLine", codec.parameters.isEmpty ? nil : codec.parameters.text)
    return StatsReport.Entry(id: id, type: "codec", members: members.all)
  }

  func outbound(_ send: SendStatistics, at now: Instant) -> [StatsReport.Entry] {
    var members = StatsMembers()
    let (kind, letter) = (send.kind, Self.letter(of: send.kind))
    let (id, remoteID) = ("O\(letter)\(send.ssrc)", "RI\(letter)\(send.ssrc)")
    let codec = send.isActive ? negotiated(send.state)?.sendCodecs.first : nil
    let remote = send.remoteInbound
    let isReported = remote.reportsReceived > 0
    members.add("ssrc", Int64(send.ssrc))
    members.add("rid", send.video?.rid)
    members.add("mid", send.state.mid)
    members.add("mediaSourceId", send.state.attachedTrack.map { Self.sourceIdentifier($0, kind) })
    members.add("transportId", "T")
    members.add("codecId", codec.map { Self.identifier(of: $0, "O") })
    members.add("remoteId", isReported ? remoteID : nil)
    members.add("active", send.isActive)
    members.add("packetsSent", send.outbound.packetsSent)
    members.add("bytesSent", send.outbound.bytesSent)
    members.add("headerBytesSent", send.outbound.headerBytesSent)
    members.add("retransmittedPacketsSent", send.outbound.retransmittedPacketsSent)
    members.add("retransmittedBytesSent", send.outbound.retransmittedBytesSent)
    members.add("nackCount", send.outbound.nackCount)
    members.add("targetBitrate", send.bitrate.map { Double($0.bitsPerSecond) })
    if let video = send.video { members.add(video, at: now) }
    if let forwarding = send.forwarding { members.add(forwarding, kind) }
    let entry = StatsReport.Entry(id: id, type: "outbound-rtp", kind: kind.rawValue, members: members.all)
    guard isReported else { return [entry] }
    var reported = StatsMembers()
    reported.add("ssrc", Int64(send.ssrc))
    reported.add("localId", id)
    reported.add("transportId", "T")
    reported.add("packetsLost", remote.packetsLost)
    reported.add("fractionLost", remote.fractionLost)
    reported.add("jitter", remote.jitter)
    reported.add("roundTripTime", remote.roundTripTime?.seconds)
    reported.add("totalRoundTripTime", remote.totalRoundTripTime.seconds)
    reported.add("roundTripTimeMeasurements", remote.roundTripTimeMeasurements)
    return [
      entry, StatsReport.Entry(id: remoteID, type: "remote-inbound-rtp", kind: kind.rawValue, members: reported.all),
    ]
  }

  func inbound(_ receive: ReceiveStatistics, at now: Instant) -> [StatsReport.Entry] {
    let rtp = receive.inbound
    let (kind, letter) = (receive.kind, Self.letter(of: receive.kind))
    let (id, remoteID) = ("I\(letter)\(receive.ssrc)", "RO\(letter)\(receive.ssrc)")
    let codec = receive.isActive ? codec(of: receive) : nil
    let remote = receive.remoteOutbound
    var members = StatsMembers()
    members.add("ssrc", Int64(receive.ssrc))
    members.add("mid", receive.state.mid)
    members.add("trackIdentifier", receive.state.remoteTrackID)
    members.add("transportId", "T")
    members.add("codecId", codec.map { Self.identifier(of: $0, "I") })
    members.add("remoteId", remote.reportsSent > 0 ? remoteID : nil)
    // What other sources retransmit and correct of this one counts with it, as in libwebrtc.
    let (repair, correction) = (receive.video?.repair ?? receive.forwarding?.repair, receive.video?.correction?.stream)
    let all = [rtp] + [repair, correction].compactMap { $0?.inbound }
    members.add("packetsReceived", all.reduce(0) { $0 + $1.packetsReceived })
    members.add("bytesReceived", all.reduce(0) { $0 + $1.bytesReceived })
    members.add("headerBytesReceived", all.reduce(0) { $0 + $1.headerBytesReceived })
    members.add("rtxSsrc", repair.map { Int64($0.ssrc) })
    members.add("fecSsrc", correction.map { Int64($0.ssrc) })
    members.add("packetsLost", rtp.packetsLost)
    members.add("jitter", rtp.jitter)
    members.add("packetsReceivedWithEct1", rtp.packetsReceivedWithEct1)
    members.add("packetsReceivedWithCe", rtp.packetsReceivedWithCe)
    members.add("lastPacketReceivedTimestamp", timestamp(rtp.lastPacketReceivedTimestamp))
    members.add("estimatedPlayoutTimestamp", receive.playoutTime)
    let nackCount = receive.forwarding?.nackCount ?? receive.video.map { Int64($0.receiver.nackCount) }
    members.add("nackCount", nackCount ?? rtp.nackCount)
    if let playout = receive.playout { members.add(playout) }
    if let video = receive.video { members.add(video, at: now) }
    if let forwarding = receive.forwarding { members.add(forwarding, kind) }
    let entry = StatsReport.Entry(id: id, type: "inbound-rtp", kind: kind.rawValue, members: members.all)
    guard remote.reportsSent > 0 else { return [entry] }
    var reported = StatsMembers()
    reported.add("ssrc", Int64(receive.ssrc))
    reported.add("localId", id)
    reported.add("transportId", "T")
    reported.add("packetsSent", Int64(remote.packetsSent))
    reported.add("bytesSent", Int64(remote.bytesSent))
    reported.add("reportsSent", remote.reportsSent)
    reported.add("remoteTimestamp", remote.remoteTimestamp?.unixMilliseconds)
    return [
      entry, StatsReport.Entry(id: remoteID, type: "remote-outbound-rtp", kind: kind.rawValue, members: reported.all),
    ]
  }
}
