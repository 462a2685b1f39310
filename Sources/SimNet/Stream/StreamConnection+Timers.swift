package import CallCore

extension StreamConnection {
  package mutating func advance(to instant: Instant) {
    now = max(now, instant)
    if let lingerUntil, lingerUntil <= now {
      // In FIN-WAIT-2 the peer never closed its side; in TIME-WAIT the wait is complete.
      return finish(.timedOut)
    }
    if let acknowledgeAt, acknowledgeAt <= now {
      self.acknowledgeAt = nil
      acknowledgmentPending = true
    }
    if let userDeadline, userDeadline <= now { return finish(.timedOut) }
    if let retransmitAt, retransmitAt <= now { retransmissionExpired() }
    if let probeAt, probeAt <= now { probeExpired() }
    if let keepAliveAt, keepAliveAt <= now { keepAliveExpired() }
  }

  /// The time at which unacknowledged data exhausts the user timeout (RFC 5482).
  var userDeadline: Instant? {
    guard let stalledSince, let limit = configuration.userTimeout else { return nil }
    return stalledSince + limit
  }

  private mutating func retransmissionExpired() {
    retransmitAt = nil
    retries += 1
    let isHandshake = state == .synSent || state == .synReceived
    guard isHandshake ? retries < configuration.connectAttempts : retries <= configuration.maximumRetransmissions
    else { return finish(.timedOut) }
    timeout.backOff()
    if isHandshake {
      synPending = true
      return
    }
    congestion.timedOut(inFlight: top - una)
    nxt = una
    retransmitPending = true
  }

  /// Starts or stops probing a closed window (RFC 9293 section 3.8.6.1).
  mutating func updateProbe() {
    let isShut = peerWindow == 0 && nxt == una && sendQueue.end > una && retransmitAt == nil
    let isOpen = state != .synSent && state != .synReceived && state != .timeWait && state != .closed
    guard isShut, isOpen else {
      probeAt = nil
      return
    }
    if probeAt == nil { probeAt = now + timeout.current }
  }

  private mutating func probeExpired() {
    retries += 1
    guard retries <= configuration.maximumRetransmissions else { return finish(.timedOut) }
    if stalledSince == nil { stalledSince = now }
    timeout.backOff()
    probePending = true
    probeAt = now + timeout.current
  }

  /// The time of the next keep-alive probe, while the connection is open and otherwise idle.
  var keepAliveAt: Instant? {
    guard let keepAlive = configuration.keepAlive, retransmitAt == nil else { return nil }
    switch state {
    case .established, .closeWait, .finWait2:
      return lastHeard + keepAlive.idle + keepAlive.interval * Int64(keepAliveProbes)
    default: return nil
    }
  }

  private mutating func keepAliveExpired() {
    guard let keepAlive = configuration.keepAlive else { return }
    guard keepAliveProbes < keepAlive.count else { return finish(.timedOut) }
    keepAliveProbes += 1
    keepAlivePending = true
  }
}
