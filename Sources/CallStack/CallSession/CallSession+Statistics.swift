public import CallCore
internal import Codecs
internal import DTLS
internal import Digests
internal import ICE
internal import JitterBuffer
internal import RTP
internal import SDP
internal import SRTP

/// `getStats` (W3C webrtc-stats): members by their names there, absent rather than zero where nothing is known.
extension CallSession {
  public func statistics(at now: Instant) -> StatsReport {
    var entries = [peerConnection, transport]
    for pair in ice.pairs { entries.append(candidatePair(pair)) }
    for local in ice.localCandidates { entries.append(candidate(local, isRemote: false)) }
    for remote in ice.remoteCandidates { entries.append(candidate(remote, isRemote: true)) }
    entries += carryingPair(besides: entries)
    entries.append(certificate)
    entries += codecs
    for channel in audio.channels { if let track = channel.track { entries.append(source(track, channel.source)) } }
    for send in audio.sendStatistics { entries += outbound(send) }
    for receive in audio.receiveStatistics { entries += inbound(receive) }
    return StatsReport(entries: entries)
  }

  private var peerConnection: StatsReport.Entry {
    StatsReport.Entry(
      id: "P", type: "peer-connection",
      members: [("dataChannelsOpened", .integer(0)), ("dataChannelsClosed", .integer(0))])
  }

  // MARK: Transport

  private var transport: StatsReport.Entry {
    var members = StatsMembers()
    members.add("bytesSent", traffic.total.bytesSent)
    members.add("bytesReceived", traffic.total.bytesReceived)
    members.add("packetsSent", traffic.total.packetsSent)
    members.add("packetsReceived", traffic.total.packetsReceived)
    members.add("dtlsState", dtlsState.rawValue)
    members.add("dtlsRole", dtls.role?.rawValue ?? "unknown")
    members.add("dtlsCipher", dtls.session?.cipher)
    members.add("tlsVersion", dtls.session?.version)
    members.add("srtpCipher", dtls.session?.srtpKeys.profile.name)
    members.add("iceState", ice.connectionState.rawValue)
    members.add("iceRole", ice.role.rawValue)
    members.add("iceLocalUsernameFragment", ice.localCredentials.ufrag)
    members.add("selectedCandidatePairId", ice.selectedPair.map { "CP\($0.id.rawValue)" })
    members.add("selectedCandidatePairChanges", traffic.selectedPairChanges)
    members.add("localCertificateId", "CF")
    return StatsReport.Entry(id: "T", type: "transport", members: members.all)
  }

  private var certificate: StatsReport.Entry {
    let fingerprint = configuration.certificate.fingerprint(.sha256)
    var members = StatsMembers()
    members.add("fingerprint", fingerprint.value)
    members.add("fingerprintAlgorithm", fingerprint.function.rawValue)
    members.add("base64Certificate", Base64.encode(configuration.certificate.der))
    return StatsReport.Entry(id: "CF", type: "certificate", members: members.all)
  }

  private func candidatePair(_ pair: ICECandidatePair) -> StatsReport.Entry {
    let counters = traffic.counters(local: pair.base, remote: pair.remoteEndpoint)
    var members = StatsMembers()
    members.add("transportId", "T")
    members.add("localCandidateId", Self.identifier(of: concealment.shown(pair.local), isRemote: false))
    members.add("remoteCandidateId", Self.identifier(of: pair.remote, isRemote: true))
    members.add("state", pair.state.rawValue)
    members.add("nominated", pair.nominated)
    members.add("writable", pair.reachability == .writable)
    members.add("priority", Int64(clamping: pair.priority))
    members.add("bytesSent", counters.bytesSent)
    members.add("bytesReceived", counters.bytesReceived)
    members.add("packetsSent", counters.packetsSent)
    members.add("packetsReceived", counters.packetsReceived)
    members.add("lastPacketSentTimestamp", timestamp(counters.lastSent))
    members.add("lastPacketReceivedTimestamp", timestamp(counters.lastReceived))
    members.add("currentRoundTripTime", pair.currentRoundTripTime?.seconds)
    members.add("totalRoundTripTime", pair.totalRoundTripTime.seconds)
    members.add("requestsSent", Int64(clamping: pair.counters.requestsSent))
    members.add("requestsReceived", Int64(clamping: pair.counters.requestsReceived))
    members.add("responsesSent", Int64(clamping: pair.counters.responsesSent))
    members.add("responsesReceived", Int64(clamping: pair.counters.responsesReceived))
    members.add("consentRequestsSent", Int64(clamping: pair.counters.consentRequestsSent))
    return StatsReport.Entry(id: "CP\(pair.id.rawValue)", type: "candidate-pair", members: members.all)
  }

  /// During an ICE restart the selected pair and its candidates may be of the generation before.
  private func carryingPair(besides known: [StatsReport.Entry]) -> [StatsReport.Entry] {
    guard let pair = ice.selectedPair, !ice.pairs.contains(where: { $0.id == pair.id }) else { return [] }
    let ends = [
      candidate(pair.local, isRemote: false, isCurrent: false),
      candidate(pair.remote, isRemote: true, isCurrent: false),
    ]
    return [candidatePair(pair)] + ends.filter { end in !known.contains { $0.id == end.id } }
  }

  /// The same for a candidate's whole life, whatever comes and goes around it.
  private static func identifier(of candidate: ICECandidate, isRemote: Bool) -> String {
    let place = candidate.endpoint.map { "\($0)" } ?? "\(candidate.address):\(candidate.port)"
    return "\(isRemote ? "R" : "L")\(candidate.type.rawValue)/\(place)"
  }

  private func candidate(_ found: ICECandidate, isRemote: Bool, isCurrent: Bool = true) -> StatsReport.Entry {
    let candidate = isRemote ? found : concealment.shown(found)
    var members = StatsMembers()
    members.add("transportId", "T")
    members.add("candidateType", candidate.type.rawValue)
    members.add("address", "\(candidate.address)")
    members.add("port", Int64(candidate.port))
    members.add("protocol", "udp")
    members.add("priority", Int64(candidate.priority))
    members.add("foundation", candidate.foundation)
    if isCurrent {
      members.add("usernameFragment", isRemote ? ice.remoteCredentials?.ufrag : ice.localCredentials.ufrag)
    }
    if !isRemote {
      members.add("networkType", interface(of: found, base: found.relatedEndpoint ?? found.endpoint)?.networkType)
      members.add("relayProtocol", relayProtocol(of: found, base: found.endpoint))
      if found.type == .relay || found.type == .serverReflexive {
        members.add("url", found.endpoint.flatMap { gatherer.url(ofServerBehind: $0) })
      }
    }
    members.add("isRemote", isRemote)
    return StatsReport.Entry(
      id: Self.identifier(of: candidate, isRemote: isRemote),
      type: isRemote ? "remote-candidate" : "local-candidate", members: members.all)
  }

  /// A DOMHighResTimeStamp: milliseconds since 1970 by the peer's wall clock.
  private func timestamp(_ instant: Instant?) -> Double? {
    instant.map { Double(configuration.wallClock.unixNanoseconds(at: $0)) / 1e6 }
  }

  // MARK: RTP

  /// Each number has one meaning on the whole transport (RFC 9143 section 10.1.1), so it is listed once a direction.
  private var codecs: [StatsReport.Entry] {
    var entries: [StatsReport.Entry] = []
    for media in jsep.media {
      for (codec, direction) in [(media.sendCodecs.first, "O"), (media.receiveCodecs.first, "I")] {
        guard let codec else { continue }
        let id = Self.identifier(of: codec, direction)
        if !entries.contains(where: { $0.id == id }) { entries.append(self.codec(codec, id: id)) }
      }
    }
    return entries
  }

  private static func identifier(of codec: NegotiatedCodec, _ direction: String) -> String {
    "C\(direction)\(codec.payloadType)"
  }

  private func source(_ track: AudioChannel.Track, _ loudness: AudioLevelMeter) -> StatsReport.Entry {
    var members = StatsMembers()
    members.add("trackIdentifier", track.sender.trackID)
    members.add("audioLevel", loudness.level)
    members.add("totalAudioEnergy", loudness.totalEnergy)
    members.add("totalSamplesDuration", loudness.totalDuration)
    return StatsReport.Entry(id: "SA\(track.number)", type: "media-source", kind: "audio", members: members.all)
  }

  private func media(of channel: AudioChannel) -> NegotiatedMedia? {
    jsep.media.first { $0.transceiver == channel.transceiver }
  }

  private func codec(_ codec: NegotiatedCodec, id: String) -> StatsReport.Entry {
    var members = StatsMembers()
    members.add("transportId", "T")
    members.add("payloadType", Int64(codec.payloadType))
    members.add("mimeType", "audio/\(codec.name)")
    members.add("clockRate", Int64(codec.clockRate))
    members.add("channels", Int64(codec.channels))
    members.add("sdpFmtpLine", codec.parameters.isEmpty ? nil : codec.parameters.text)
    return StatsReport.Entry(id: id, type: "codec", members: members.all)
  }

  private func outbound(_ send: AudioSendStatistics) -> [StatsReport.Entry] {
    var members = StatsMembers()
    let (id, remoteID) = ("OA\(send.ssrc)", "RIA\(send.ssrc)")
    let codec = send.isActive ? media(of: send.channel)?.sendCodecs.first : nil
    let remote = send.remoteInbound
    let isReported = remote.reportsReceived > 0
    members.add("ssrc", Int64(send.ssrc))
    members.add("mid", send.channel.mid)
    members.add("mediaSourceId", send.channel.track.map { "SA\($0.number)" })
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
    members.add("targetBitrate", Double(send.bitrate.bitsPerSecond))
    let entry = StatsReport.Entry(id: id, type: "outbound-rtp", kind: "audio", members: members.all)
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
      entry, StatsReport.Entry(id: remoteID, type: "remote-inbound-rtp", kind: "audio", members: reported.all),
    ]
  }

  private func inbound(_ receive: AudioReceiveStatistics) -> [StatsReport.Entry] {
    let rtp = receive.inbound
    let (id, remoteID) = ("IA\(receive.ssrc)", "ROA\(receive.ssrc)")
    let codec = receive.isActive ? media(of: receive.channel)?.receiveCodecs.first : nil
    let remote = receive.remoteOutbound
    var members = StatsMembers()
    members.add("ssrc", Int64(receive.ssrc))
    members.add("mid", receive.channel.mid)
    members.add("trackIdentifier", receive.channel.remoteTrackID)
    members.add("transportId", "T")
    members.add("codecId", codec.map { Self.identifier(of: $0, "I") })
    members.add("remoteId", remote.reportsSent > 0 ? remoteID : nil)
    members.add("packetsReceived", rtp.packetsReceived)
    members.add("bytesReceived", rtp.bytesReceived)
    members.add("headerBytesReceived", rtp.headerBytesReceived)
    members.add("packetsLost", rtp.packetsLost)
    members.add("jitter", rtp.jitter)
    members.add("packetsReceivedWithEct1", rtp.packetsReceivedWithEct1)
    members.add("packetsReceivedWithCe", rtp.packetsReceivedWithCe)
    members.add("lastPacketReceivedTimestamp", timestamp(rtp.lastPacketReceivedTimestamp))
    members.add("nackCount", rtp.nackCount)
    if let playout = receive.playout { members.add(playout) }
    let entry = StatsReport.Entry(id: id, type: "inbound-rtp", kind: "audio", members: members.all)
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
      entry, StatsReport.Entry(id: remoteID, type: "remote-outbound-rtp", kind: "audio", members: reported.all),
    ]
  }
}

/// Collects members, leaving out what is not known.
private struct StatsMembers {
  var all: [(name: String, value: StatsReport.Value)] = []

  mutating func add(_ name: String, _ value: Int64?) { if let value { all.append((name, .integer(value))) } }
  mutating func add(_ name: String, _ value: Double?) { if let value { all.append((name, .real(value))) } }
  mutating func add(_ name: String, _ value: Bool) { all.append((name, .flag(value))) }
  mutating func add(_ name: String, _ value: String?) { if let value { all.append((name, .text(value))) } }

  mutating func add(_ playout: AudioJitterBufferStatistics) {
    add("packetsDiscarded", playout.packetsDiscarded)
    add("fecPacketsReceived", playout.fecPacketsReceived)
    add("fecPacketsDiscarded", playout.fecPacketsDiscarded)
    add("jitterBufferDelay", playout.jitterBufferDelay)
    add("jitterBufferTargetDelay", playout.jitterBufferTargetDelay)
    add("jitterBufferMinimumDelay", playout.jitterBufferMinimumDelay)
    add("jitterBufferEmittedCount", playout.jitterBufferEmittedCount)
    add("totalProcessingDelay", playout.totalProcessingDelay)
    add("totalSamplesReceived", playout.totalSamplesReceived)
    add("concealedSamples", playout.concealedSamples)
    add("silentConcealedSamples", playout.silentConcealedSamples)
    add("concealmentEvents", playout.concealmentEvents)
    add("insertedSamplesForDeceleration", playout.insertedSamplesForDeceleration)
    add("removedSamplesForAcceleration", playout.removedSamplesForAcceleration)
    add("audioLevel", playout.audioLevel)
    add("totalAudioEnergy", playout.totalAudioEnergy)
    add("totalSamplesDuration", playout.totalSamplesDuration)
  }
}
