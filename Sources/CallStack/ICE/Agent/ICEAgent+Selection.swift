internal import CallCore

// The selection of the pair that carries media.
extension ICEAgent {
  mutating func chooseSelection() {
    if let pair = pair(nominating), !pair.isWritable { nominating = nil }
    guard let (best, due) = nextSelection(), due <= now else { return }
    if Defect.nominationIgnoredOnceConnected.isPlanted, role == .controlled, selected != nil { return }
    if Defect.firstNominationKept.isPlanted, role == .controlled, selectedPair?.isWritable == true { return }
    guard nominatesFirst else { return select(best.id) }
    guard let (g, _) = locate(best.id) else { return }
    nominating = best.id
    generations[g].checklist.trigger(best.id)
  }

  /// Whether a pair is used only after the peer has agreed to it.
  private var nominatesFirst: Bool { role == .controlling && settings.nomination == .regular }

  private mutating func select(_ id: ICECandidatePair.ID) {
    guard selected != id, let (g, _) = locate(id) else { return }
    selected = id
    hasSelected = true
    generations[g].hasBeenUsed = true
    if Defect.backupPairsPruned.isPlanted { removePairs(in: 0) { $0.id != id } }
    events.append(.selectedPairChanged(selectedPair))
  }

  /// Selects a pair whose check with USE-CANDIDATE succeeded: now both sides use it.
  mutating func completeNomination(of id: ICECandidatePair.ID) {
    guard let (g, index) = locate(id) else { return }
    generations[g].checklist.update(index) { $0.nominated = true }
    guard nominating == id else { return }
    nominating = nil
    select(id)
  }

  // MARK: The next pair

  /// Returns the pair to use next and the time of the switch, judged by the current state; nil while the selected one
  /// is the best.
  func nextSelection() -> (pair: ICECandidatePair, due: Instant)? {
    guard nominating == nil else { return nil }
    let newest = newestNomination
    var best: ICECandidatePair?
    for generation in generations {
      for pair in generation.checklist.pairs where isSelectable(pair) {
        if let known = best, order(pair, known, newest) != .better { continue }
        best = pair
      }
    }
    guard let best, best.id != selected, let due = switchDue(to: best, newest) else { return nil }
    return (best, due)
  }

  /// Returns whether a pair works and may be used for sending (RFC 8445 section 12.1.1, RFC 7675). A pair that became
  /// unreliable is better than no pair or one that was given up, but it is not nominated while another is in use.
  private func isSelectable(_ pair: ICECandidatePair) -> Bool {
    let isUsable = pair.isWritable || pair.reachability == .unreliable && (selected == nil || !nominatesFirst)
    guard isUsable else { return false }
    if let end = consentDeadline(pair), end <= now { return false }
    if settings.isLite { return pair.nominationReceivedAt != nil }
    switch role {
    case .controlling:
      return !Defect.onlySignalledPairsNominated.isPlanted
        || ![pair.local.type, pair.remote.type].contains(.peerReflexive)
    case .controlled: return settings.nomination == .aggressive || hasSelected || pair.nominationReceivedAt != nil
    }
  }

  /// Returns the time at which a better pair replaces the selected one; nil when nothing in the current state causes
  /// that.
  private func switchDue(to pair: ICECandidatePair, _ newest: Instant?) -> Instant? {
    guard let selected = selectedPair, selected.isActive else { return now }
    var order = PairOrder(pair.writability, selected.writability)
    if followsNomination { order = order.or(compareNominations(pair, selected, newest)) }
    if order != .equal { return order == .better ? now : nil }
    let (isReceivingThere, isReceivingHere) = (isReceiving(pair), isReceiving(selected))
    // A pair that does not receive replaces the selected one only if that does not receive either, and not at a higher
    // cost.
    if !isReceivingThere, isReceivingHere || compareNetworks(pair, selected) == .worse { return nil }
    let claims = compareClaims(pair, selected, newest, overtaking: settings.overtakingTime)
    let saved = roundTrip(selected) - roundTrip(pair)
    if claims == .better || claims == .equal && saved >= settings.minimumImprovement { return now }
    guard isReceivingThere, !isReceivingHere else { return nil }
    return max(receivingEnd(selected) ?? now, pair.receivingSince ?? now) + settings.switchDelay
  }

  // MARK: Pruning

  /// Gives up the pairs that a better one of the same network makes redundant. Until the controlling side has nominated
  /// the selected pair, it may still choose one of them.
  mutating func prunePairs() {
    guard settings.prunesPairs, !settings.isLite, let selected = selectedPair,
      role == .controlling || selected.nominated
    else { return }
    let active = generations.flatMap { $0.checklist.pairs.filter(\.isActive) }
    guard active.count > 1 else { return }
    let bests = bestPairs(beside: selected)
    for pair in active where pair.id != nominating {
      guard let best = bests.first(where: { $0.sharesNetwork(with: pair) }), best.id != pair.id, best.isWritable,
        isReceiving(best), compareCandidates(best, pair) != .worse
      else { continue }
      prune(pair.id)
    }
  }

  /// Returns the best active pair of each network.
  ///
  /// - Parameter selected: the selected pair, which counts as the best of its network.
  func bestPairs(beside selected: ICECandidatePair?) -> [ICECandidatePair] {
    let newest = newestNomination
    var bests: [ICECandidatePair] = []
    if let selected { bests.append(selected) }
    for generation in generations {
      for pair in generation.checklist.pairs where pair.isActive {
        if let index = bests.firstIndex(where: { $0.sharesNetwork(with: pair) }) {
          if bests[index].id != selected?.id, order(pair, bests[index], newest) == .better { bests[index] = pair }
        } else {
          bests.append(pair)
        }
      }
    }
    return bests
  }

  /// Stops checking the pairs of the old generation once a pair of the new one is in use and works. They respond to
  /// checks until none arrive, because the peer may learn of the restart much later.
  mutating func retireGeneration() {
    guard generations.count > 1, let selected = selectedPair, selected.generation == current.number else { return }
    if selected.isWritable, isReceiving(selected) {
      for pair in generations[1].checklist.pairs where pair.isActive { prune(pair.id) }
    }
    if generations[1].checklist.pairs.isEmpty { generations.removeLast() }
  }

  private mutating func prune(_ id: ICECandidatePair.ID) {
    guard let (g, index) = locate(id) else { return }
    generations[g].checklist.update(index) { $0.isPruned = true }
    giveUp(g, index)
  }
}
