internal import CallCore

// Which pair carries media.
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

  /// Whether a pair is used only when the peer has agreed to it.
  private var nominatesFirst: Bool { role == .controlling && settings.nomination == .regular }

  private mutating func select(_ id: ICECandidatePair.ID) {
    guard selected != id, let (g, _) = locate(id) else { return }
    selected = id
    hasSelected = true
    generations[g].hasBeenUsed = true
    if Defect.backupPairsPruned.isPlanted { removePairs(in: 0) { $0.id != id } }
    events.append(.selectedPairChanged(selectedPair))
  }

  /// The peer answered a check with USE-CANDIDATE: both sides use the pair now.
  mutating func completeNomination(of id: ICECandidatePair.ID) {
    guard let (g, index) = locate(id) else { return }
    generations[g].checklist.update(index) { $0.nominated = true }
    guard nominating == id else { return }
    nominating = nil
    select(id)
  }

  // MARK: The next one

  /// The pair to be used next, and from when on, as things stand; nil while the selected one is the best.
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

  /// Whether a pair works and may be sent on (RFC 8445 section 12.1.1, RFC 7675). One that worked until some moments ago
  /// is better than none, and than one that was given up; nobody is asked to agree to it while another is in use.
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

  /// When the selected pair gives way to another that is better; nil when it does not, as things stand.
  private func switchDue(to pair: ICECandidatePair, _ newest: Instant?) -> Instant? {
    guard let selected = selectedPair, selected.isActive else { return now }
    var order = PairOrder(pair.writability, selected.writability)
    if followsNomination { order = order.or(compareNominations(pair, selected, newest)) }
    if order != .equal { return order == .better ? now : nil }
    let (isReceivingThere, isReceivingHere) = (isReceiving(pair), isReceiving(selected))
    // What only seems better, on a network that costs more, is no reason to go there.
    if !isReceivingThere, isReceivingHere || compareNetworks(pair, selected) == .worse { return nil }
    let claims = compareClaims(pair, selected, newest, overtaking: settings.overtakingTime)
    let saved = roundTrip(selected) - roundTrip(pair)
    if claims == .better || claims == .equal && saved >= settings.minimumImprovement { return now }
    guard isReceivingThere, !isReceivingHere else { return nil }
    return max(receivingEnd(selected) ?? now, pair.receivingSince ?? now) + settings.switchDelay
  }

  // MARK: Pruning

  /// Gives up the pairs that a better one of the same network makes needless. Until the controlling side has nominated
  /// the selected pair, its choice might be among them.
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

  /// The best active pair of each network.
  ///
  /// - Parameter selected: the best of its network, whatever the others are.
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

  /// Once a pair of the new generation is in use and does well, those of the old one are there to answer checks until
  /// no more come: the peer may learn of the restart much later.
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
