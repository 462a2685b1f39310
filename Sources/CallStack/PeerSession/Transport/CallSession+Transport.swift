package import CallCore
internal import DTLS
internal import ICE
internal import RTP
internal import SRTP
internal import TURN

/// The transport of datagrams: demultiplexing, ICE, DTLS, and SRTP between them.
extension CallSession {
  // MARK: In

  /// Passes a datagram to its protocol, selected by the first byte (RFC 7983 section 7).
  func demultiplex(_ datagram: RawSpan, on path: Path) {
    guard path.transport == .udp else { return discard("stream-to-nobody", on: path) }
    guard let first = datagram.byte(at: 0) else { return discard("empty", on: path) }
    switch first {
    case 0...3: ice.receive(datagram, on: path, at: now)
    case 20...63:
      // The datagram is not authenticated, so only a path known to ICE is trusted and counted.
      if ice.markReceived(on: path, at: now) {
        traffic.received(datagram.byteCount, on: path, isPair: true, at: now)
        dtls.admit(path.remote)
      }
      dtls.receive(datagram, on: path, at: now)
    case 128...191:
      receiveMedia(datagram, on: path)
    default: discard("unknown-protocol", on: path)
    }
  }

  func discard(_ what: StaticString, on path: Path) {
    events.append(.packetDiscarded(what: what, from: path.remote))
  }

  /// Receives SRTP. Only authenticated media reaches statistics and the jitter buffer: forged packets have no effect.
  private func receiveMedia(_ datagram: RawSpan, on path: Path) {
    guard datagram.byteCount <= maximumDatagramSize else { return discard("oversized", on: path) }
    guard !isUnprotected else {
      return accept(datagram, on: path, byteCount: datagram.byteCount)
    }
    guard hasKeys else { return discard(PeerConnectionEvents.mediaBeforeKeys, on: path) }
    if Defect.receptionCountedBeforeAuthentication.isPlanted {
      _ = media.receiveRTP(datagram, ecn: path.ecn, at: now, events: &events)
    }
    // The plaintext is never longer than the packet. Up to 1024 bytes come from the stack, and audio packets are rarely
    // larger.
    let failure = withUnsafeTemporaryAllocation(byteCount: datagram.byteCount, alignment: 16) { memory in
      var packet = OutputSpan<UInt8>(buffer: memory.bindMemory(to: UInt8.self), initializedCount: 0)
      packet.append(contentsOf: datagram)
      let isRTCP = Self.isRTCP(datagram)
      do throws(SRTPError) {
        if isRTCP { try inbound?.unprotectRTCP(&packet) } else { try inbound?.unprotectRTP(&packet) }
      } catch {
        return Optional(error)
      }
      accept(packet.span.bytes, on: path, byteCount: datagram.byteCount)
      return nil
    }
    switch failure {
    case nil: break
    // A packet older than the replay window cannot be distinguished from a replay.
    case .replayed, .tooOld: discard("srtp-replay", on: path)
    case .authenticationFailed: discard("srtp-authentication", on: path)
    default: discard("srtp-malformed", on: path)
    }
  }

  /// Returns whether the second byte is an RTCP packet type, 192...223 (RFC 5761 section 4).
  private static func isRTCP(_ datagram: RawSpan) -> Bool {
    guard let second = datagram.byte(at: 1) else { return false }
    return (192...223).contains(second)
  }

  /// - Parameter byteCount: the packet's size on the wire, for transport statistics.
  private func accept(_ packet: RawSpan, on path: Path, byteCount: Int) {
    let isPair = ice.markReceived(on: path, at: now)
    traffic.received(byteCount, on: path, isPair: isPair, at: now)
    let problem =
      Self.isRTCP(packet)
      ? media.receiveRTCP(packet, at: now, events: &events)
      : media.receiveRTP(packet, ecn: path.ecn, at: now, events: &events)
    if let problem { discard(problem, on: path) }
  }

  // MARK: Out

  /// Writes the next datagram that is not for a STUN or TURN server.
  func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Path? {
    if let path = ice.transmit(into: &buffer) { return path }
    guard let path = closingPath ?? ice.sendingPath(at: now) else {
      // DTLS output without a path is lost, as on a dead link; DTLS's timers send it again.
      while dtls.transmit(into: &buffer) != nil { buffer.removeAll() }
      media.dropPending(at: now)
      dropData()
      return nil
    }
    // The BYE precedes close_notify, after which the peer's media transport is closed.
    if closingPath != nil, nextMedia(into: &buffer) {
      traffic.sent(buffer.count, on: path, at: now)
      return path
    }
    guard dtls.transmit(into: &buffer) != nil || nextMedia(into: &buffer) || nextData(into: &buffer) else { return nil }
    traffic.sent(buffer.count, on: path, at: now)
    return path
  }

  private func nextMedia(into buffer: inout OutputSpan<UInt8>) -> Bool {
    defer { media.takeToneChanges { events.append(.toneChange($1, sender: $0)) } }
    guard !isUnprotected else {
      guard let packet = media.next(into: &buffer, at: now) else { return false }
      note(packet, buffer.count)
      return true
    }
    guard hasKeys else {
      media.dropPending(at: now)
      return false
    }
    while let packet = media.next(into: &buffer, at: now) {
      let size = buffer.count
      do throws(SRTPError) {
        switch packet {
        case .media: try outbound?.protectRTP(&buffer)
        case .control: try outbound?.protectRTCP(&buffer)
        }
      } catch {
        buffer.removeAll()
        continue
      }
      note(packet, size)
      return true
    }
    return false
  }

  private func note(_ packet: MediaTransport.Outgoing, _ byteCount: Int) {
    ice.markSent(at: now)
    switch packet {
    case .media(let ssrc, let prefix):
      events.append(.mediaSent(ssrc: ssrc, byteCount: byteCount, prefix: prefix))
    case .control(let departed):
      // The SSRCs are never used again, so their SRTP state can go.
      for source in departed { try? outbound?.remove(source: source) }
    }
  }

  // MARK: ICE

  func handle(_ event: ICEEvent) {
    switch event {
    case .connectionStateChanged(_, let state):
      events.append(.iceConnectionStateChange(state))
    case .selectedPairChanged(let pair?): selected(pair)
    case .consentExpired(let pair): events.append(.consentExpired(remote: pair.remoteEndpoint))
    case .checkFailed(let pair, let failure):
      events.append(.checkFailed(local: pair.base, remote: pair.remoteEndpoint, reason: Self.word(for: failure)))
    // The round trip of a backup pair says nothing about the path of the handshake.
    case .checkSucceeded: if let pair = ice.selectedPair { timeHandshake(by: pair) }
    case .remoteCandidateRefused(let candidate, let refusal):
      events.append(.remoteCandidateRefused("\(candidate)", reason: refusal))
    case .pairFormed(let pair) where pair.local.type == .relay: gatherer.permit(pair.path, at: now)
    case .selectedPairChanged(nil), .roleChanged, .peerReflexiveDiscovered, .checkSent, .pairFormed, .pairRemoved: break
    }
  }

  private static func word(for failure: ICECheckFailure) -> StaticString {
    switch failure {
    case .timedOut: "timeout"
    case .error: "error-response"
    case .nonSymmetric: "non-symmetric"
    case .consentExpired: "consent-expired"
    case .relayRefused: "relay-refused"
    }
  }

  private func timeHandshake(by pair: ICECandidatePair) {
    if let roundTripTime = pair.smoothedRoundTripTime { dtls.setRoundTripTime(roundTripTime) }
  }

  private func selected(_ pair: ICECandidatePair) {
    traffic.selectedPairChanges += 1
    timeHandshake(by: pair)
    dtls.bind(to: pair.path, at: now)
    if Defect.rolloverForgottenOnPathChange.isPlanted, hasKeys, dtls.role == .client { installKeys() }
    if isUnprotected { media.start(at: now) }
    if traffic.selectedPairChanges > 1 { media.changeRoute(at: now) }
    events.append(
      .selectedCandidatePairChange(
        local: summary(pair.local, base: pair.base, network: pair.network), remote: summary(pair.remote)))
  }

  private func summary(
    _ candidate: ICECandidate, base: Endpoint? = nil, network: ICENetwork? = nil
  ) -> CandidateSummary {
    var summary = CandidateSummary(
      candidateType: candidate.type.rawValue,
      endpoint: candidate.endpoint ?? Endpoint(.anyIPv4, port: candidate.port),
      networkType: (network?.type ?? .unknown).rawValue,
      relayProtocol: relayProtocol(of: candidate, base: base))
    if base != nil, case .name(let name) = obfuscation.shown(candidate).address {
      summary.endpoint.address = candidate.endpoint?.address.isIPv6 == true ? .anyIPv6 : .anyIPv4
      summary.mdnsName = name
    }
    return summary
  }

  /// Returns the interface of a local candidate's socket; for a relayed candidate, of the socket used with its server.
  func interface(of candidate: ICECandidate, base: Endpoint?) -> LocalInterface? {
    let socket = candidate.type == .relay ? candidate.endpoint.flatMap { gatherer.socket(ofRelay: $0) } : base
    return interfaces.first { $0.socket.address == socket?.address }
  }

  /// Returns the protocol to the server of a local relayed candidate (W3C `relayProtocol`).
  func relayProtocol(of candidate: ICECandidate, base: Endpoint?) -> String? {
    guard candidate.type == .relay, let base, let transport = gatherer.transport(ofRelay: base) else { return nil }
    return ICERelayTransport(transport).name
  }

  // MARK: DTLS

  func handle(_ event: DTLSTransport.Event) {
    switch event {
    case .keyLog(let line): events.append(.keyLog(line))
    case .stateChanged(let state):
      events.append(.dtlsStateChange(state))
      if state == .connected {
        installKeys()
        startDataIfReady()
      }
      // The media transport ends with the association (RFC 8842 section 7), and an alert invalidates its keys (RFC 5246
      // section 7.2.2).
      if state == .closed || state == .failed {
        forgetKeys()
        closeDataTransport()
      }
      if state == .failed, let failure = dtls.failure { events.append(.dtlsFailed(reason: "\(failure)")) }
    }
  }

  /// Makes DTLS fail as by an error of its own. Returns false when it has ended already.
  package func failDTLS(at now: Instant) -> Bool {
    guard enter(at: now), dtls.fail(at: self.now) else { return false }
    settle()
    return true
  }

  /// Starts a new DTLS association: nothing is sent or accepted with the old keys.
  func replaceAssociation() {
    associationNumber += 1
    if data?.isStarted == true { endDataTransport() }
    dtls = Self.association(associationNumber, configuration: configuration, random: random)
    dtls.keepsApplicationData = data != nil
    forgetKeys()
    events.append(.dtlsStateChange(.new))
    if let path = ice.sendingPath { dtls.bind(to: path, at: now) }
  }

  private func forgetKeys() {
    outbound = nil
    inbound = nil
    hasKeys = false
  }

  private func installKeys() {
    guard let keys = dtls.session?.srtpKeys else { return }
    do throws(SRTPError) {
      outbound = try SRTPContext(.sending, profile: keys.profile, key: keys.local)
      inbound = try SRTPContext(.receiving, profile: keys.profile, key: keys.remote)
      hasKeys = true
      media.start(at: now)
    } catch {
      events.append(.dtlsFailed(reason: "srtp: \(error)"))
    }
  }
}
