public import CallCore
internal import DTLS
internal import Digests
internal import ICE
internal import SRTP
public import Statistics

/// `getStats` (W3C webrtc-stats): members have the names used there, and unknown members are absent, not zero.
extension CallSession {
  /// Returns the session's statistics at `now` (W3C `getStats`).
  public func statistics(at now: Instant) -> StatsReport {
    var entries = [peerConnection, transport]
    for pair in ice.pairs { entries.append(candidatePair(pair)) }
    for local in ice.localCandidates { entries.append(candidate(local, isRemote: false)) }
    for remote in ice.remoteCandidates { entries.append(candidate(remote, isRemote: true)) }
    entries += carryingPair(besides: entries)
    entries += dataStatistics
    entries.append(certificateEntry)
    let received = media.channels.flatMap { $0.receiveStatistics(at: now) }
    entries += codecs(received: received)
    for channel in media.channels { if let source = source(of: channel, at: now) { entries.append(source) } }
    for channel in media.channels { for send in channel.sendStatistics { entries += outbound(send, at: now) } }
    for receive in received { entries += inbound(receive, at: now) }
    return StatsReport(entries: entries)
  }

  private var peerConnection: StatsReport.Entry {
    let counts = dataChannelCounts
    return StatsReport.Entry(
      id: "P", type: "peer-connection",
      members: [
        ("dataChannelsOpened", .integer(Int64(counts.opened))), ("dataChannelsClosed", .integer(Int64(counts.closed))),
      ])
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

  /// Returns the statistics of our certificate, which stays as it is.
  static func entry(of certificate: Certificate) -> StatsReport.Entry {
    let fingerprint = certificate.fingerprint(.sha256)
    var members = StatsMembers()
    members.add("fingerprint", fingerprint.value)
    members.add("fingerprintAlgorithm", fingerprint.function.rawValue)
    members.add("base64Certificate", Base64.encode(certificate.der))
    return StatsReport.Entry(id: "CF", type: "certificate", members: members.all)
  }

  private func candidatePair(_ pair: ICECandidatePair) -> StatsReport.Entry {
    let counters = traffic.counters(local: pair.base, remote: pair.remoteEndpoint)
    var members = StatsMembers()
    members.add("transportId", "T")
    members.add("localCandidateId", Self.identifier(of: obfuscation.shown(pair.local), isRemote: false))
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
    if pair.id == ice.selectedPair?.id {
      members.add("availableOutgoingBitrate", media.availableOutgoingBitrate.map { Double($0.bitsPerSecond) })
    }
    members.add("requestsSent", Int64(clamping: pair.counters.requestsSent))
    members.add("requestsReceived", Int64(clamping: pair.counters.requestsReceived))
    members.add("responsesSent", Int64(clamping: pair.counters.responsesSent))
    members.add("responsesReceived", Int64(clamping: pair.counters.responsesReceived))
    members.add("consentRequestsSent", Int64(clamping: pair.counters.consentRequestsSent))
    return StatsReport.Entry(id: "CP\(pair.id.rawValue)", type: "candidate-pair", members: members.all)
  }

  /// Returns the selected pair and its candidates if they are of the previous generation, as during an ICE restart.
  private func carryingPair(besides known: [StatsReport.Entry]) -> [StatsReport.Entry] {
    guard let pair = ice.selectedPair, !ice.pairs.contains(where: { $0.id == pair.id }) else { return [] }
    let ends = [
      candidate(pair.local, isRemote: false, isCurrent: false),
      candidate(pair.remote, isRemote: true, isCurrent: false),
    ]
    return [candidatePair(pair)] + ends.filter { end in !known.contains { $0.id == end.id } }
  }

  /// Returns an identifier that stays the same for a candidate's whole life.
  private static func identifier(of candidate: ICECandidate, isRemote: Bool) -> String {
    let place = candidate.endpoint.map { "\($0)" } ?? "\(candidate.address):\(candidate.port)"
    return "\(isRemote ? "R" : "L")\(candidate.type.rawValue)/\(place)"
  }

  private func candidate(_ found: ICECandidate, isRemote: Bool, isCurrent: Bool = true) -> StatsReport.Entry {
    let candidate = isRemote ? found : obfuscation.shown(found)
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

  /// Returns a DOMHighResTimeStamp: milliseconds since 1970 by the peer's wall clock.
  func timestamp(_ instant: Instant?) -> Double? {
    instant.map { Double(configuration.wallClock.unixNanoseconds(at: $0)) / 1e6 }
  }
}
