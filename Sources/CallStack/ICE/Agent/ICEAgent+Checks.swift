internal import CallCore
internal import STUN

// When and what to check (RFC 8445 sections 6.1.4.2 and 7.2.2), at libwebrtc's cadence once a pair is selected.
extension ICEAgent {
  /// Sends the one check that pacing allows now, if any is due.
  mutating func sendDueCheck() {
    guard !settings.isLite, nextCheckAt <= now, let (g, id) = nextCheck(),
      let index = generations[g].checklist.index(of: id)
    else { return }
    sendCheck(g, index)
    let allowed = Defect.overdueChecksSentAtOnce.isPlanted ? nextCheckAt : now
    nextCheckAt = allowed + (hasSelected ? settings.weakPingInterval : settings.checkPacing)
    nextUnhurriedCheckAt = hasSelected ? allowed + settings.strongPingInterval : nextCheckAt
  }

  private mutating func nextCheck() -> (g: Int, id: ICECandidatePair.ID)? {
    if current.remote != nil, let id = current.checklist.popTriggered() { return (0, id) }
    let weakFrom = weakFrom
    // The pair in use goes before exploration at its usual cadence. In trouble it takes turns with the others, which
    // may have to replace it.
    let isWeak = weakFrom.map { $0 <= now } ?? false
    for g in generations.indices where !isWeak {
      for id in [generations[g].nominating, generations[g].selected] {
        if let pair = generations[g].checklist[id], isDue(pair, in: g, weakFrom) { return (g, pair.id) }
      }
    }
    let pairs = current.checklist.pairs
    // A frozen pair is only deferred: nothing else of this one checklist could unfreeze it sooner than its turn.
    let fresh = pairs.first { $0.state == .waiting } ?? pairs.first { $0.state == .frozen }
    if let fresh { return (0, fresh.id) }
    return longestUnchecked(weakFrom)
  }

  private func longestUnchecked(_ weakFrom: Instant?) -> (g: Int, id: ICECandidatePair.ID)? {
    var oldest: (g: Int, id: ICECandidatePair.ID, checkedAt: Instant)?
    for g in generations.indices {
      for pair in generations[g].checklist.pairs where isDue(pair, in: g, weakFrom) {
        let checkedAt = pair.lastCheckSentAt ?? .zero
        if oldest.map({ checkedAt < $0.checkedAt }) ?? true { oldest = (g, pair.id, checkedAt) }
      }
    }
    return oldest.map { ($0.g, $0.id) }
  }

  private func isDue(_ pair: ICECandidatePair, in g: Int, _ weakFrom: Instant?) -> Bool {
    pacedCheckDue(pair, in: g, weakFrom).map { $0 <= now } ?? false
  }

  /// When a pair may have its next check: while the selected pair does well, all pairs share one slow pace, and only
  /// the first checks of a pair and a nomination go faster.
  func pacedCheckDue(_ pair: ICECandidatePair, in g: Int, _ weakFrom: Instant?) -> Instant? {
    guard let due = checkDue(pair, in: g, weakFrom) else { return nil }
    let isHurried = pair.checksSent < settings.minimumWeakPings || pair.id == generations[g].nominating
    let unhurried = isHurried ? nextCheckAt : min(nextUnhurriedCheckAt, max(nextCheckAt, weakFrom ?? nextCheckAt))
    return max(due, unhurried)
  }

  /// From when on checks go at the weak interval: nil before the first selection, the past when the selected pair is in
  /// trouble, and otherwise when it will count as not receiving.
  var weakFrom: Instant? {
    guard hasSelected else { return nil }
    guard let pair = selectedPair, pair.isWritable else { return Instant(nanoseconds: .min) }
    return (pair.lastReceivedAt ?? pair.createdAt) + settings.receivingTimeout
  }

  /// When a pair wants its next check, or nil when it wants none.
  func checkDue(_ pair: ICECandidatePair, in g: Int, _ weakFrom: Instant?) -> Instant? {
    let isSelected = pair.id == generations[g].selected
    // Of the generation being replaced only the pair that carries media matters.
    guard pair.isActive, generations[g].remote != nil, g == 0 || isSelected else { return nil }
    if pair.reachability == .unknown, pair.state == .failed { return nil }
    guard let last = pair.lastCheckSentAt else { return pair.createdAt }
    if Defect.consentStopsAtLostReply.isPlanted, pair.isWritable, pair.unanswered.count > 0 { return nil }
    if pair.checksSent < settings.minimumWeakPings { return last + settings.weakPingInterval }
    let isNominating = pair.id == generations[g].nominating
    switch pair.reachability {
    case .timedOut: return nil
    case .unknown: return last + settings.weakPingInterval
    case .unreliable:
      return last + (isSelected || isNominating ? settings.weakPingInterval : settings.strongPingInterval)
    case .writable:
      let usual = usualDue(pair, last: last, isSelected: isSelected, isNominating: isNominating)
      return weakFrom.map { min(usual, max($0, last + settings.weakPingInterval)) } ?? usual
    }
  }

  private func usualDue(_ pair: ICECandidatePair, last: Instant, isSelected: Bool, isNominating: Bool) -> Instant {
    if isNominating { return last + max(settings.weakPingInterval, (pair.roundTrip.smoothed ?? .zero) * 3 / 2) }
    if isSelected {
      let isStable = pair.roundTrip.isSettled && pair.unanswered.count == 0
      let cadence = isStable ? settings.stablePingInterval : settings.stabilizingPingInterval
      return last + min(cadence, pair.consentInterval)
    }
    guard hasSelected else { return last + settings.strongPingInterval }
    return max((pair.lastResponseAt ?? last) + settings.backupPingInterval, last + settings.strongPingInterval)
  }

  // MARK: Sending

  private mutating func sendCheck(_ g: Int, _ index: Int) {
    let pair = generations[g].checklist.pairs[index]
    guard let remote = generations[g].remote, let key = generations[g].remoteKey else { return }
    let useCandidate = g == 0 && carriesUseCandidate(pair)
    let id = STUNTransactionID(from: &random)
    var request = STUNMessageBuilder(.request, .binding, id)
    request.append(.username, "\(remote.ufrag):\(generations[g].local.ufrag)")
    request.append(role == .controlling ? .iceControlling : .iceControlled, tieBreaker)
    if useCandidate { request.append(.useCandidate) }
    request.append(.priority, ICEPriority.peerReflexive(like: pair.local.priority))
    request.appendIntegrity(key: key)
    request.appendFingerprint()
    outgoing.append((request.bytes, pair.path))
    transactions.append(
      CheckTransaction(id: id, pair: pair.id, sentAt: now, role: role, useCandidate: useCandidate))
    let consentInterval = drawConsentInterval()
    generations[g].checklist.update(index) { [now, settings] pair in
      pair.checksSent += 1
      pair.lastCheckSentAt = now
      pair.lastSentAt = now
      pair.consentInterval = consentInterval
      pair.unanswered.add(at: now, limit: settings.unwritableMinimumChecks)
      if pair.state == .succeeded {
        pair.counters.consentRequestsSent &+= 1
      } else {
        pair.counters.requestsSent &+= 1
        pair.state = .inProgress
      }
    }
    events.append(.checkSent(pair.id, nominating: useCandidate))
  }

  /// The selected pair's checks repeat its nomination, as Chromium's do: a peer that missed it, or that had two
  /// nominated pairs to choose from, ends up on the same pair.
  private func carriesUseCandidate(_ pair: ICECandidatePair) -> Bool {
    guard role == .controlling else { return false }
    let isAggressive =
      settings.nomination == .aggressive && (!remoteIsLite || Defect.liteNominatedAggressively.isPlanted)
    if let nominating = current.nominating { return pair.id == nominating }
    guard let selected = current.selectedPair else { return isAggressive }
    if pair.id == selected.id { return true }
    return isAggressive && pair.priority > selected.priority
  }

  /// RFC 8445 section 11: keeps NAT bindings open when neither media nor checks do.
  mutating func sendKeepalive() {
    guard let (g, index) = locateSelected(), let due = keepaliveDue, due <= now else { return }
    var indication = STUNMessageBuilder(.indication, .binding, STUNTransactionID(from: &random))
    indication.appendFingerprint()
    outgoing.append((indication.bytes, generations[g].checklist.pairs[index].path))
    generations[g].checklist.update(index) { [now] in $0.lastSentAt = now }
  }

  var keepaliveDue: Instant? {
    guard let pair = selectedPair, pair.isActive else { return nil }
    return (pair.lastSentAt ?? pair.createdAt) + settings.keepaliveInterval
  }

  mutating func drawConsentInterval() -> Interval {
    settings.consentInterval.scaled(by: 0.8 + 0.4 * random.unit())
  }
}
