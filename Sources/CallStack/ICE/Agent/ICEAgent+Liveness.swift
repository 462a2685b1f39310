internal import CallCore

// The expiry of reachability, consent, pairs and pending checks. Each deadline is one function, used both by the step
// that acts on it and by the wake that announces it.
extension ICEAgent {
  mutating func expire() {
    for g in generations.indices {
      for index in generations[g].checklist.pairs.indices { expireReachability(g, index) }
      expireConsent(g)
      removeDead(g)
    }
    // Pairs formed since then have timers of their own.
    if let deadline = withdrawalDeadline, deadline <= now { pathsWithdrawnAt = nil }
    let oldest = now - settings.responseTimeout
    let kept = transactions.firstIndex { $0.sentAt > oldest } ?? transactions.count
    if kept > 0 { transactions.removeFirst(kept) }
  }

  private mutating func expireReachability(_ g: Int, _ index: Int) {
    while true {
      let pair = generations[g].checklist.pairs[index]
      guard let deadline = reachabilityDeadline(pair), deadline <= now else { return }
      if pair.isWritable {
        generations[g].checklist.update(index) { $0.reachability = .unreliable }
      } else {
        generations[g].checklist.update(index) {
          $0.reachability = .timedOut
          $0.state = .failed
        }
        generations[g].checklist.cancelTriggered(pair.id)
        events.append(.checkFailed(pair, .timedOut))
      }
    }
  }

  /// Ends the checks of a pair, including pending ones.
  mutating func giveUp(_ g: Int, _ index: Int) {
    let id = generations[g].checklist.pairs[index].id
    generations[g].checklist.update(index) { $0.reachability = .timedOut }
    generations[g].checklist.cancelTriggered(id)
    transactions.removeAll { $0.pair == id }
    if nominating == id { nominating = nil }
  }

  func reachabilityDeadline(_ pair: ICECandidatePair) -> Instant? {
    if settings.isLite {
      // A lite agent sends no checks, so the peer's checks decide.
      let heard = pair.lastReceivedAt ?? pair.createdAt
      return pair.isWritable
        ? heard + (Defect.idleLitePairsPurged.isPlanted ? settings.receivingTimeout : settings.inactiveTimeout)
        : pair.isActive ? heard + settings.deadTimeout : nil
    }
    switch pair.reachability {
    case .writable:
      guard let first = pair.unanswered.firstSentAt, let enough = pair.unanswered.limitReachedAt else { return nil }
      let wait = (pair.roundTrip.smoothed ?? .zero) * 2
      let timeout = min(max(wait, settings.minimumResponseWait), settings.maximumResponseWait)
      return max(first + settings.unwritableTimeout, enough + timeout)
    case .unknown, .unreliable: return pair.unanswered.firstSentAt.map { $0 + settings.inactiveTimeout }
    case .timedOut: return nil
    }
  }

  // MARK: Consent (RFC 7675)

  mutating func expireConsent(_ g: Int) {
    guard let pair = generations[g].checklist[selected], let deadline = consentDeadline(pair), deadline <= now else {
      return
    }
    generations[g].revoked.append(pair.path)
    events.append(.consentExpired(pair))
    events.append(.checkFailed(pair, .consentExpired))
    removePairs(in: g) { $0.id == pair.id }
  }

  func consentDeadline(_ pair: ICECandidatePair) -> Instant? {
    let since = Defect.consentRunsFromRequest.isPlanted ? pair.lastCheckSentAt : pair.lastResponseAt
    return settings.isLite ? nil : since.map { $0 + settings.consentTimeout }
  }

  // MARK: Dead pairs

  private mutating func removeDead(_ g: Int) {
    var dead: [ICECandidatePair.ID] = []
    for pair in generations[g].checklist.pairs {
      if let deadline = deathDeadline(pair), deadline <= now { dead.append(pair.id) }
    }
    if !dead.isEmpty { removePairs(in: g) { dead.contains($0.id) } }
  }

  /// Returns the time at which a pair is forgotten. One that never received anything is forgotten once it is given up.
  func deathDeadline(_ pair: ICECandidatePair) -> Instant? {
    if let received = pair.lastReceivedAt {
      return max(received, pair.unanswered.firstSentAt ?? received) + settings.deadTimeout
    }
    return pair.isActive ? nil : pair.createdAt + settings.minimumPairLifetime
  }

  /// The time at which an agent without any pair gives up. After both candidate lists have ended, a check from an
  /// unknown address may still arrive (RFC 8863); without a local candidate none can, even if the peer signals more.
  var noPairsDeadline: Instant? {
    guard !current.hasHadPairs, let local = current.localCandidatesEndedAt else { return nil }
    if Defect.failedBeforeCandidatesCame.isPlanted { return current.remoteKnownAt }
    let remote = current.localCandidates.isEmpty ? current.remoteKnownAt : current.remoteCandidatesEndedAt
    return remote.map { max(local, $0) + settings.inactiveTimeout }
  }

  /// The time at which an agent whose working paths were withdrawn gives up.
  var withdrawalDeadline: Instant? { pathsWithdrawnAt.map { $0 + settings.inactiveTimeout } }

  // MARK: Wake

  func nextWake() -> Wake {
    var wake = Wake.never
    func consider(_ deadline: Instant?, _ reason: ICEWakeReason) {
      if let deadline { wake = .earliest(wake, .at(deadline, reason: reason.rawValue)) }
    }
    let pace = checkPace
    for g in generations.indices {
      for pair in generations[g].checklist.pairs {
        if !settings.isLite { consider(pacedCheckDue(pair, in: g, pace), .check) }
        consider(reachabilityDeadline(pair), .liveness)
        consider(deathDeadline(pair), .liveness)
      }
      if !generations[g].checklist.triggered.isEmpty, generations[g].remote != nil { consider(nextCheckAt, .check) }
    }
    if let pair = selectedPair { consider(consentDeadline(pair), .consent) }
    // A due switch that was not made must not set a timer: it would wake the agent without end.
    if let (_, due) = nextSelection(), due > now { consider(due, .nomination) }
    consider(keepaliveDue, .keepalive)
    switch connectionState {
    case .disconnected, .checking: consider(withdrawalDeadline, .liveness)
    case .new, .connected, .completed, .failed, .closed: break
    }
    // After this deadline, the end of the last pair ends the connection.
    if connectionState == .new || connectionState == .checking, let deadline = noPairsDeadline, deadline > now {
      consider(deadline, .liveness)
    }
    return wake
  }
}
