internal import CallCore

extension SCTPAssociation {
  // MARK: Own side

  mutating func sendInit() {
    sendAlone(
      .initiation(
        InitChunk(
          initiateTag: ownTag, receiverWindow: advertisedWindow, outboundStreams: settings.outboundStreams,
          inboundStreams: settings.inboundStreams, initialTSN: ownInitialTSN,
          parameters: InitParameters(offering: settings))), tag: 0)
  }

  private var advertisedWindow: UInt32 { ReassemblyQueue(capacity: settings.receiveBuffer).receiverWindow }

  mutating func receiveInitAck(_ chunk: InitChunk) {
    // In other states it answers an old INIT (RFC 9260 section 5.2.3).
    guard state == .cookieWait else { return }
    let isValid = chunk.initiateTag != 0 && chunk.outboundStreams > 0 && chunk.inboundStreams > 0
    guard isValid, let cookie = chunk.parameters.cookie, cookie.count <= settings.mtu - SCTPPacketHeader.size - 4 else {
      let code: SCTPErrorCause.Code =
        isValid && chunk.parameters.cookie == nil ? .missingMandatoryParameter : .invalidMandatoryParameter
      if chunk.initiateTag != 0 {
        sendAlone(.abort([SCTPErrorCause(code)], isTagReflected: false), tag: chunk.initiateTag)
      }
      end(.failed(code))
      return
    }
    block = TransmissionControlBlock(
      settings: settings, ownInitialTSN: ownInitialTSN, peerTag: chunk.initiateTag, peerInitialTSN: chunk.initialTSN,
      peerWindow: chunk.receiverWindow, tieTag: max(1, random.next()),
      capabilities: SCTPCapabilities(settings, peer: chunk))
    block?.transmission.renewBurst()
    if !chunk.parameters.unrecognized.isEmpty {
      let report = chunk.parameters.unrecognized.reduce([], +)
      sendControl(.error([SCTPErrorCause(.unrecognizedParameters, information: report)]))
    }
    self.cookie = cookie
    state = .cookieEchoed
    handshakeTimer.start(settings.cookieTimeout, at: now)
    sendCookieEcho()
  }

  mutating func sendCookieEcho() {
    guard let block else { return }
    sendAlone(.cookieEcho(cookie), tag: block.peerTag)
  }

  mutating func receiveCookieAck() {
    if state == .cookieEchoed { establish() }
  }

  /// A cookie of ours was too old for the peer: begins anew (section 5.2.6).
  mutating func receiveStaleCookie() {
    guard state == .cookieEchoed else { return }
    block = nil
    controlChunks.removeAll()
    state = .cookieWait
    handshakeTimer.start(settings.initTimeout, at: now)
    sendInit()
  }

  mutating func establish() {
    guard state == .closed || state == .cookieWait || state == .cookieEchoed else { return }
    state = .established
    cookie = []
    errorCount = 0
    handshakeTimer.stop()
    restartHeartbeat()
    emit(.established)
  }

  // MARK: Other side

  mutating func receiveInit(_ chunk: InitChunk) {
    guard chunk.initiateTag != 0, state != .ended else { return }
    guard chunk.outboundStreams > 0, chunk.inboundStreams > 0 else {
      return sendAlone(
        .abort([SCTPErrorCause(.invalidMandatoryParameter)], isTagReflected: false), tag: chunk.initiateTag)
    }
    guard !chunk.parameters.hasHostName else {
      return sendAlone(.abort([SCTPErrorCause(.unresolvableAddress)], isTagReflected: false), tag: chunk.initiateTag)
    }
    var cookie = StateCookie(
      createdAt: now, ownTag: ownTag, ownInitialTSN: ownInitialTSN, peerTag: chunk.initiateTag,
      peerInitialTSN: chunk.initialTSN, peerWindow: chunk.receiverWindow, tieTag: 0,
      capabilities: SCTPCapabilities(settings, peer: chunk))
    switch state {
    case .closed, .cookieWait, .cookieEchoed: break  // The tag of our own INIT, so that both agree (section 5.2.1).
    case .shutdownAckSent: return sendControl(.shutdownAck)
    default:
      // The peer may have restarted (section 5.2.2).
      cookie.ownTag = Self.tag(&random)
      cookie.ownInitialTSN = UInt32(truncatingIfNeeded: random.next())
      cookie.tieTag = block?.tieTag ?? 0
    }
    var parameters = InitParameters(offering: settings)
    parameters.cookie = cookie.sealed(key: cookieKey)
    let unrecognized = chunk.parameters.unrecognized
    // Reports that do not fit are left out.
    if unrecognized.reduce(0, { $0 + $1.count + 8 }) < settings.mtu / 2 { parameters.unrecognized = unrecognized }
    sendAlone(
      .initiationAck(
        InitChunk(
          initiateTag: cookie.ownTag, receiverWindow: advertisedWindow, outboundStreams: settings.outboundStreams,
          inboundStreams: settings.inboundStreams, initialTSN: cookie.ownInitialTSN, parameters: parameters)),
      tag: chunk.initiateTag)
  }

  /// Processes the echo of a cookie, by the table of RFC 9260 section 5.2.4.
  mutating func receiveCookieEcho(_ sealed: [UInt8], tag: UInt32) {
    guard state != .ended, let cookie = StateCookie(opening: sealed, key: cookieKey), tag == cookie.ownTag else {
      counters.refusedCookies += 1
      return
    }
    let isOwnTag = cookie.ownTag == ownTag
    let isPeerTag = block.map { $0.peerTag == cookie.peerTag }
    if now - cookie.createdAt > settings.cookieLifetime, !(isOwnTag && isPeerTag == true) {
      let staleness = (now - cookie.createdAt - settings.cookieLifetime).nanoseconds / 1_000
      sendAlone(.error([SCTPErrorCause(.staleCookie, value: UInt32(clamping: staleness))]), tag: cookie.peerTag)
      return
    }
    switch (isOwnTag, isPeerTag) {
    case (true, true):  // Case D.
      establish()
      sendControl(.cookieAck)
    case (true, nil), (true, false):  // No association yet, or case B: both sides opened, with different tags.
      let isRestart = state != .closed && state != .cookieWait && state != .cookieEchoed
      adopt(cookie)
      if isRestart { restart() } else { establish() }
      sendControl(.cookieAck)
    case (false, false) where cookie.tieTag != 0 && cookie.tieTag == block?.tieTag:  // Case A: the peer restarted.
      if state == .shutdownAckSent {
        sendControl(.shutdownAck)
        return sendControl(.error([SCTPErrorCause(.cookieReceivedWhileShuttingDown)]))
      }
      adopt(cookie)
      restart()
      sendControl(.cookieAck)
    default: counters.refusedCookies += 1  // Case C: a late cookie.
    }
  }

  private mutating func adopt(_ cookie: StateCookie) {
    ownTag = cookie.ownTag
    controlChunks.removeAll()
    let resets = (block?.reset.request?.streams ?? []) + (block?.reset.waiting ?? [])
    block = TransmissionControlBlock(
      settings: settings, ownInitialTSN: cookie.ownInitialTSN, peerTag: cookie.peerTag,
      peerInitialTSN: cookie.peerInitialTSN, peerWindow: cookie.peerWindow, tieTag: max(1, random.next()),
      capabilities: cookie.capabilities)
    block?.transmission.renewBurst()
    if cookie.capabilities.supportsReconfiguration { block?.reset.add(resets) }
  }

  private mutating func restart() {
    queue.restart()
    errorCount = 0
    shutdownTimer.stop()
    state = .established
    restartHeartbeat()
    emit(.restarted)
  }
}
