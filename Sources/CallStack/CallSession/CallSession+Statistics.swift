public import CallCore
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
    entries.append(certificate)
    if let media = audioMedia {
      if let codec = media.sendCodecs.first { entries.append(self.codec(codec, id: "CO")) }
      if let codec = media.receiveCodecs.first { entries.append(self.codec(codec, id: "CI")) }
    }
    if let send = audio.sendStatistics { entries += outbound(send) }
    if let receive = audio.receiveStatistics { entries += inbound(receive) }
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
    members.add("localCandidateId", Self.identifier(of: pair.local, isRemote: false))
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

  /// The same for a candidate's whole life, whatever comes and goes around it.
  private static func identifier(of candidate: ICECandidate, isRemote: Bool) -> String {
    let place = candidate.endpoint.map { "\($0)" } ?? "unresolved"
    return "\(isRemote ? "R" : "L")\(candidate.type.rawValue)/\(place)"
  }

  private func candidate(_ candidate: ICECandidate, isRemote: Bool) -> StatsReport.Entry {
    var members = StatsMembers()
    members.add("transportId", "T")
    members.add("candidateType", candidate.type.rawValue)
    members.add("address", candidate.endpoint.map { "\($0.address)" })
    members.add("port", Int64(candidate.port))
    members.add("protocol", "udp")
    members.add("priority", Int64(candidate.priority))
    members.add("foundation", candidate.foundation)
    members.add("usernameFragment", isRemote ? ice.remoteCredentials?.ufrag : ice.localCredentials.ufrag)
    if !isRemote {
      members.add("networkType", interfaces.first { $0.socket == candidate.endpoint }?.networkType)
      members.add("relayProtocol", candidate.type == .relay ? "udp" : nil)
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
    members.add("ssrc", Int64(send.ssrc))
    members.add("mid", audioMid)
    members.add("transportId", "T")
    members.add("codecId", audioMedia?.direction.sends == true ? "CO" : nil)
    members.add("active", audio.send?.isActive ?? false)
    members.add("packetsSent", send.outbound.packetsSent)
    members.add("bytesSent", send.outbound.bytesSent)
    members.add("headerBytesSent", send.outbound.headerBytesSent)
    members.add("retransmittedPacketsSent", send.outbound.retransmittedPacketsSent)
    members.add("retransmittedBytesSent", send.outbound.retransmittedBytesSent)
    members.add("nackCount", send.outbound.nackCount)
    members.add("targetBitrate", Double(configuration.audio.bitrate.bitsPerSecond))
    var entries = [StatsReport.Entry(id: "OA", type: "outbound-rtp", kind: "audio", members: members.all)]
    let remote = send.remoteInbound
    guard remote.roundTripTimeMeasurements > 0 || remote.packetsLost != 0 else { return entries }
    var reported = StatsMembers()
    reported.add("ssrc", Int64(send.ssrc))
    reported.add("localId", "OA")
    reported.add("transportId", "T")
    reported.add("packetsLost", remote.packetsLost)
    reported.add("fractionLost", remote.fractionLost)
    reported.add("jitter", remote.jitter)
    reported.add("roundTripTime", remote.roundTripTime?.seconds)
    reported.add("totalRoundTripTime", remote.totalRoundTripTime.seconds)
    reported.add("roundTripTimeMeasurements", remote.roundTripTimeMeasurements)
    entries.append(StatsReport.Entry(id: "RIA", type: "remote-inbound-rtp", kind: "audio", members: reported.all))
    return entries
  }

  private func inbound(_ receive: AudioReceiveStatistics) -> [StatsReport.Entry] {
    let (rtp, playout) = (receive.inbound, receive.playout)
    var members = StatsMembers()
    members.add("ssrc", Int64(receive.ssrc))
    members.add("mid", audioMid)
    members.add("transportId", "T")
    members.add("codecId", audioMedia?.direction.receives == true ? "CI" : nil)
    members.add("packetsReceived", rtp.packetsReceived)
    members.add("bytesReceived", rtp.bytesReceived)
    members.add("headerBytesReceived", rtp.headerBytesReceived)
    members.add("packetsLost", rtp.packetsLost)
    members.add("jitter", rtp.jitter)
    members.add("lastPacketReceivedTimestamp", timestamp(rtp.lastPacketReceivedTimestamp))
    members.add("packetsDiscarded", playout.packetsDiscarded)
    members.add("fecPacketsReceived", playout.fecPacketsReceived)
    members.add("fecPacketsDiscarded", playout.fecPacketsDiscarded)
    members.add("nackCount", rtp.nackCount)
    members.add("jitterBufferDelay", playout.jitterBufferDelay)
    members.add("jitterBufferTargetDelay", playout.jitterBufferTargetDelay)
    members.add("jitterBufferMinimumDelay", playout.jitterBufferMinimumDelay)
    members.add("jitterBufferEmittedCount", playout.jitterBufferEmittedCount)
    members.add("totalSamplesReceived", playout.totalSamplesReceived)
    members.add("concealedSamples", playout.concealedSamples)
    members.add("silentConcealedSamples", playout.silentConcealedSamples)
    members.add("concealmentEvents", playout.concealmentEvents)
    members.add("insertedSamplesForDeceleration", playout.insertedSamplesForDeceleration)
    members.add("removedSamplesForAcceleration", playout.removedSamplesForAcceleration)
    members.add("audioLevel", playout.audioLevel)
    members.add("totalAudioEnergy", playout.totalAudioEnergy)
    members.add("totalSamplesDuration", playout.totalSamplesDuration)
    var entries = [StatsReport.Entry(id: "IA", type: "inbound-rtp", kind: "audio", members: members.all)]
    let remote = receive.remoteOutbound
    guard remote.reportsSent > 0 else { return entries }
    var reported = StatsMembers()
    reported.add("ssrc", Int64(receive.ssrc))
    reported.add("localId", "IA")
    reported.add("transportId", "T")
    reported.add("packetsSent", Int64(remote.packetsSent))
    reported.add("bytesSent", Int64(remote.bytesSent))
    reported.add("reportsSent", remote.reportsSent)
    entries.append(StatsReport.Entry(id: "ROA", type: "remote-outbound-rtp", kind: "audio", members: reported.all))
    return entries
  }

  private var audioMedia: NegotiatedMedia? { jsep.media.first { $0.kind == .audio } }
  private var audioMid: String? { audioMedia?.mid }
}

/// Collects members, leaving out what is not known.
private struct StatsMembers {
  var all: [(name: String, value: StatsReport.Value)] = []

  mutating func add(_ name: String, _ value: Int64?) { if let value { all.append((name, .integer(value))) } }
  mutating func add(_ name: String, _ value: Double?) { if let value { all.append((name, .real(value))) } }
  mutating func add(_ name: String, _ value: Bool) { all.append((name, .flag(value))) }
  mutating func add(_ name: String, _ value: String?) { if let value { all.append((name, .text(value))) } }
}
