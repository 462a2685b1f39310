internal import CallCore
internal import STUN

// The schedule of checks (RFC 8445 sections 6.1.4.2 and 7.2.2), at libwebrtc's intervals once a pair is selected.
extension ICEAgent {
  /// Sends one check if one is due and pacing allows it.
  mutating func sendDueCheck() {
    guard !settings.isLite, nextCheckAt <= now, let (g, id) = nextCheck(),
      let index = generations[g].checklist.index(of: id)
    else { return }
    sendCheck(g, index)
    let allowed = Defect.overdueChecksSentAtOnce.isPlanted ? nextCheckAt : now
    nextCheckAt = allowed + settings.weakPingInterval
    nextUnhurriedCheckAt = hasSelected ? allowed + settings.strongPingInterval : nextCheckAt
  }

  private mutating func nextCheck() -> (g: Int, id: ICECandidatePair.ID)? {
    for g in generations.indices where generations[g].remote != nil {
      if let id = generations[g].checklist.popTriggered() { return (g, id) }
    }
    let pace = checkPace
    if let preferred = preferredCheck(pace) { return preferred }
    for g in generations.indices where generations[g].remote != nil {
      // Freezing only defers a pair: this agent has one checklist, so nothing else could unfreeze the pair before its
      // turn.
      if let fresh = bestPair(in: g, .waiting) ?? bestPair(in: g, .frozen) { return (g, fresh.id) }
    }
    return longestUnchecked(pace)
  }

  /// Returns the first pair to check of those in a state: network cost has precedence over priority.
  private func bestPair(in g: Int, _ state: ICECandidatePair.State) -> ICECandidatePair? {
    let newest = newestNomination
    var best: ICECandidatePair?
    for pair in generations[g].checklist.pairs where pair.state == state && pair.isActive {
      if pair.checksSent == 0, look(notBefore: pair.createdAt) > now { continue }
      if let known = best, order(pair, known, newest) != .better { continue }
      best = pair
    }
    return best
  }

  /// Returns the pair whose check has precedence: the pair in use, at its usual interval. In trouble it goes no faster
  /// than that, so that possible replacements get their turns, the best of each network first.
  private func preferredCheck(_ pace: CheckPace) -> (g: Int, id: ICECandidatePair.ID)? {
    let isWeak = isWeak
    for id in [nominating, selected] {
      guard let id, let (g, index) = locate(id) else { continue }
      let pair = generations[g].checklist.pairs[index]
      if isWeak ? isBehind(pair) : isDue(pair, in: g, pace) { return (g, id) }
    }
    guard isWeak else { return nil }
    var oldest: ICECandidatePair?
    for pair in bestPairs(beside: selectedPair) where pair.id != selected && isBehind(pair) {
      if let known = oldest, (known.lastCheckSentAt ?? .zero) <= (pair.lastCheckSentAt ?? .zero) { continue }
      oldest = pair
    }
    guard let oldest, let (g, _) = locate(oldest.id) else { return nil }
    return (g, oldest.id)
  }

  private func isBehind(_ pair: ICECandidatePair) -> Bool {
    guard pair.isWritable, let last = pair.lastCheckSentAt else { return false }
    return last + settings.stabilizingPingInterval <= now
  }

  private func longestUnchecked(_ pace: CheckPace) -> (g: Int, id: ICECandidatePair.ID)? {
    var oldest: (g: Int, id: ICECandidatePair.ID, checkedAt: Instant)?
    for g in generations.indices {
      for pair in generations[g].checklist.pairs where isDue(pair, in: g, pace) {
        let checkedAt = pair.lastCheckSentAt ?? .zero
        if oldest.map({ checkedAt < $0.checkedAt }) ?? true { oldest = (g, pair.id, checkedAt) }
      }
    }
    return oldest.map { ($0.g, $0.id) }
  }

  private func isDue(_ pair: ICECandidatePair, in g: Int, _ pace: CheckPace) -> Bool {
    pacedCheckDue(pair, in: g, pace).map { $0 <= now } ?? false
  }

  /// Returns the earliest time of a pair's next check. While the selected pair works, all pairs share one slow pace,
  /// and only the first checks of a pair and a nomination go faster.
  func pacedCheckDue(_ pair: ICECandidatePair, in g: Int, _ pace: CheckPace) -> Instant? {
    guard let due = checkDue(pair, in: g, pace) else { return nil }
    let isHurried = pair.checksSent < settings.minimumWeakPings || pair.id == nominating
    if isHurried { return pair.checksSent == 0 ? look(notBefore: due) : max(due, nextCheckAt) }
    let weak = pace.weakFrom.map { max(nextCheckAt, $0) }
    return max(due, min(nextUnhurriedCheckAt, weak ?? nextUnhurriedCheckAt))
  }

  /// Returns the time at which never-checked pairs are considered: at every turn before the first selection or while
  /// the selected pair is in trouble, and otherwise at long intervals from the last check.
  private func look(notBefore time: Instant) -> Instant {
    guard hasSelected, time > nextCheckAt else { return max(time, nextCheckAt) }
    let last = nextCheckAt - settings.weakPingInterval
    let looks = (time - last).nanoseconds / settings.strongLookInterval.nanoseconds + 1
    let next = last + settings.strongLookInterval * looks
    return weakFrom.map { min(next, max($0, time)) } ?? next
  }

  /// Whether the selected pair is in trouble, or gone.
  var isWeak: Bool { weakFrom.map { $0 <= now } ?? false }

  /// The time from which checks go at the weak interval: the past when the selected pair is in trouble, and otherwise
  /// the time at which it will count as not receiving. Nil when nothing in the current state causes that, and before
  /// the first selection.
  var weakFrom: Instant? {
    guard hasSelected else { return nil }
    guard let pair = selectedPair, pair.isWritable else { return Instant(nanoseconds: .min) }
    return receivingEnd(pair)
  }

  /// The inputs to the check times of all pairs.
  struct CheckPace {
    let weakFrom: Instant?
    let hasActivePair: Bool
    /// Whether each network has one pair left, so that all but the selected one are backups.
    let isSettled: Bool
  }

  var checkPace: CheckPace {
    CheckPace(
      weakFrom: weakFrom, hasActivePair: hasActivePair, isSettled: !settings.prunesPairs || hasOnePairForEachNetwork)
  }

  private var hasOnePairForEachNetwork: Bool {
    var seen: [ICECandidatePair] = []
    for generation in generations {
      for pair in generation.checklist.pairs where pair.isActive {
        if seen.contains(where: { $0.sharesNetwork(with: pair) }) { return false }
        seen.append(pair)
      }
    }
    return true
  }

  /// Returns the time at which a pair needs its next check, or nil if it needs none.
  func checkDue(_ pair: ICECandidatePair, in g: Int, _ pace: CheckPace) -> Instant? {
    guard generations[g].remote != nil, !pair.isRefused else { return nil }
    if !pair.isActive {
      // A pair that was given up is checked while other pairs are active and none works well.
      guard pace.hasActivePair, let weakFrom = hasSelected ? pace.weakFrom : .zero else { return nil }
      return max(weakFrom, (pair.lastCheckSentAt ?? pair.createdAt) + settings.weakPingInterval)
    }
    if pair.reachability == .unknown, pair.state == .failed { return nil }
    guard let last = pair.lastCheckSentAt else { return pair.createdAt }
    if Defect.consentStopsAtLostReply.isPlanted, pair.isWritable, pair.unanswered.count > 0 { return nil }
    if pair.checksSent < settings.minimumWeakPings { return last + settings.weakPingInterval }
    let (isSelected, isNominating) = (pair.id == selected, pair.id == nominating)
    switch pair.reachability {
    case .timedOut: return nil
    case .unknown: return last + settings.weakPingInterval
    case .unreliable:
      return last + (isSelected || isNominating ? settings.weakPingInterval : settings.strongPingInterval)
    case .writable:
      let usual = usualDue(pair, last, pace, isSelected: isSelected, isNominating: isNominating)
      return pace.weakFrom.map { min(usual, max($0, last + settings.weakPingInterval)) } ?? usual
    }
  }

  private func usualDue(
    _ pair: ICECandidatePair, _ last: Instant, _ pace: CheckPace, isSelected: Bool, isNominating: Bool
  ) -> Instant {
    if isNominating { return last + max(settings.weakPingInterval, (pair.roundTrip.smoothed ?? .zero) * 3 / 2) }
    if isSelected { return min(steadyDue(pair, last), last + pair.consentInterval) }
    guard hasSelected else { return last + settings.strongPingInterval }
    guard pace.isSettled else { return steadyDue(pair, last) }
    return max((pair.lastResponseAt ?? last) + settings.backupPingInterval, last + settings.strongPingInterval)
  }

  /// Returns the time of the next check of a working pair that is not a backup.
  private func steadyDue(_ pair: ICECandidatePair, _ last: Instant) -> Instant {
    let stabilizing = last + settings.stabilizingPingInterval
    guard pair.roundTrip.isSettled, let roundTrip = pair.roundTrip.smoothed else { return stabilizing }
    let stable = last + settings.stablePingInterval
    // A response counts as missing after twice the usual round trip.
    return pair.unanswered.firstSentAt.map { min(stable, max(stabilizing, $0 + roundTrip * 2)) } ?? stable
  }

  // MARK: Sending

  private mutating func sendCheck(_ g: Int, _ index: Int) {
    let pair = generations[g].checklist.pairs[index]
    guard let remote = generations[g].remote, let key = generations[g].remoteKey else { return }
    let useCandidate = carriesUseCandidate(pair)
    let id = STUNTransactionID(from: &random)
    var request = STUNMessageBuilder(.request, .binding, id)
    request.append(.username, "\(remote.ufrag):\(generations[g].local.ufrag)")
    request.append(role == .controlling ? .iceControlling : .iceControlled, tieBreaker)
    if useCandidate { request.append(.useCandidate) }
    request.append(.priority, ICEPriority.peerReflexive(like: pair.local.priority))
    if let network = pair.network { request.append(.networkInfo, network.info) }
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

  /// Returns whether a check nominates its pair. The selected pair's checks repeat the nomination, as in Chromium: a
  /// peer that missed it, or that had two nominated pairs to choose from, will select the same pair.
  private func carriesUseCandidate(_ pair: ICECandidatePair) -> Bool {
    guard role == .controlling else { return false }
    if let nominating { return pair.id == nominating }
    if settings.nomination == .regular { return pair.id == selected }
    // A lite peer follows every nomination at once (RFC 8445 section 8.1.1).
    if remoteIsLite, !Defect.liteNominatedAggressively.isPlanted { return pair.id == selected && pair.isWritable }
    guard let selected = selectedPair, selected.isWritable else { return true }
    return pair.id == selected.id || compareCandidates(pair, selected) == .better
  }

  /// Sends a keepalive (RFC 8445 section 11), so that NAT bindings stay open without media and checks.
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
