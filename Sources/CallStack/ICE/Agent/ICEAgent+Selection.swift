internal import CallCore

// Which pair carries media: nomination from both sides (RFC 8445 section 8), and fail-over later.
extension ICEAgent {
  mutating func chooseSelection() {
    if role == .controlling, !settings.isLite { nominateBest() } else { followNominations() }
  }

  // MARK: Controlling

  private mutating func nominateBest() {
    if let pair = current.checklist[current.nominating], !pair.isWritable { current.nominating = nil }
    guard current.nominating == nil, let best = bestValidPair, let due = nominationDue(of: best), due <= now else {
      return
    }
    current.nominating = best.id
    current.checklist.trigger(best.id)
  }

  /// When the best valid pair is to be nominated, or nil when it is not, as things stand: like libwebrtc, at once, and
  /// again when a better one works.
  func nominationDue(of best: ICECandidatePair) -> Instant? {
    guard let selected = current.selectedPair else { return now }
    guard best.id != selected.id else { return nil }
    guard selected.isWritable else { return now }
    if !isReceiving(selected), isReceiving(best) {
      return (selected.lastReceivedAt ?? selected.createdAt) + settings.receivingTimeout + settings.switchDelay
    }
    return best.priority > selected.priority && !Self.areEqualRelays(best, selected) ? now : nil
  }

  /// The best pair that works: one that receives first, then by priority, and among equal relays by round trip.
  var bestValidPair: ICECandidatePair? {
    var best: ICECandidatePair?
    for pair in current.checklist.pairs where pair.isWritable && pair.state == .succeeded {
      if Defect.onlySignalledPairsNominated.isPlanted, [pair.local.type, pair.remote.type].contains(.peerReflexive) {
        continue
      }
      guard let known = best else {
        best = pair
        continue
      }
      if isReceiving(pair) != isReceiving(known) {
        if isReceiving(pair) { best = pair }
      } else if Self.areEqualRelays(known, pair), let a = pair.roundTrip.smoothed, let b = known.roundTrip.smoothed,
        a < b
      {
        best = pair
      }
    }
    return best
  }

  private func isReceiving(_ pair: ICECandidatePair) -> Bool {
    (pair.lastReceivedAt ?? pair.createdAt) + settings.receivingTimeout > now
  }

  private static func areEqualRelays(_ a: ICECandidatePair, _ b: ICECandidatePair) -> Bool {
    a.local.type == .relay && b.local.type == .relay && a.local.priority >> 24 == b.local.priority >> 24
      && a.remote.type == b.remote.type
  }

  /// The peer answered a check with USE-CANDIDATE: both sides use the pair now.
  mutating func completeNomination(of index: Int) {
    let pair = current.checklist.pairs[index]
    current.checklist.update(index) { $0.nominated = true }
    if current.nominating == pair.id {
      current.nominating = nil
      select(pair.id)
    } else if let selected = current.selectedPair, selected.isWritable, selected.priority >= pair.priority {
      return
    } else if current.nominating == nil {
      select(pair.id)
    }
  }

  // MARK: Controlled

  /// Weighs a nomination of a pair that may not have been checked from this side yet.
  ///
  /// An aggressive peer nominates several pairs at once, and the best counts. A peer that changes its mind later,
  /// perhaps to a worse pair, stops nominating the old one, so the newer nomination counts.
  mutating func considerNomination(of index: Int) {
    let pair = current.checklist.pairs[index]
    guard let nominatedAt = pair.nominationReceivedAt, pair.isWritable, pair.state == .succeeded else { return }
    if Defect.nominationIgnoredOnceConnected.isPlanted, current.selected != nil { return }
    if Defect.firstNominationKept.isPlanted, current.selectedPair?.isWritable == true { return }
    current.checklist.update(index) { $0.nominated = true }
    if let selected = current.selectedPair, selected.isWritable, selected.id != pair.id,
      pair.priority <= selected.priority, let previous = selected.nominationReceivedAt,
      nominatedAt - previous <= settings.switchDelay
    {
      return
    }
    select(pair.id)
  }

  /// Falls back on an older nomination when the selected pair is gone. One that merely stopped working stays until the
  /// controlling side nominates another: it decides, and may well still hear this side there.
  private mutating func followNominations() {
    guard current.selected == nil else { return }
    var best: ICECandidatePair?
    for pair in current.checklist.pairs where pair.isWritable && pair.nominationReceivedAt != nil {
      if let known = best, (known.nominationReceivedAt ?? .zero) >= (pair.nominationReceivedAt ?? .zero) { continue }
      best = pair
    }
    if let best { select(best.id) }
  }

  // MARK: Both

  private mutating func select(_ id: ICECandidatePair.ID) {
    guard current.selected != id, let index = current.checklist.index(of: id) else { return }
    current.selected = id
    current.checklist.update(index) { $0.nominated = true }
    hasSelected = true
    if Defect.backupPairsPruned.isPlanted { removePairs(in: 0) { $0.id != id } }
    // The restart is complete: nothing of the old generation is needed any more.
    if generations.count > 1 { generations.removeLast() }
    events.append(.selectedPairChanged(current.selectedPair))
  }
}
