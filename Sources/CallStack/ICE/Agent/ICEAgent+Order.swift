internal import CallCore

/// The result of comparing two pairs.
enum PairOrder {
  case better, equal, worse

  init<Value: Comparable>(_ a: Value, _ b: Value) { self = a > b ? .better : a < b ? .worse : .equal }
  init(_ a: Bool, _ b: Bool) { self = a == b ? .equal : a ? .better : .worse }

  /// Returns the next criterion's result if this one is equal.
  func or(_ next: @autoclosure () -> PairOrder) -> PairOrder { self == .equal ? next() : self }
}

// The order of pairs is libwebrtc's: writability first, then receiving, then the controlling side's apparent choice,
// generations, networks and priorities.
extension ICEAgent {
  func order(_ a: ICECandidatePair, _ b: ICECandidatePair, _ newest: Instant?) -> PairOrder {
    PairOrder(a.writability, b.writability)
      .or(followsNomination ? compareNominations(a, b, newest) : .equal)
      .or(PairOrder(isReceiving(a), isReceiving(b)))
      .or(compareClaims(a, b, newest))
      .or(PairOrder(roundTrip(b), roundTrip(a)))
  }

  /// Returns libwebrtc's estimate of the round trip; an unmeasured one counts as long.
  func roundTrip(_ pair: ICECandidatePair) -> Interval { pair.roundTrip.smoothed ?? .seconds(3) }

  /// Whether the controlling side's choice has precedence over receiving.
  var followsNomination: Bool { role == .controlled && settings.nomination == .regular }

  /// Compares two pairs that work equally well.
  ///
  /// - Parameter margin: the time by which data on one must be newer to count.
  func compareClaims(
    _ a: ICECandidatePair, _ b: ICECandidatePair, _ newest: Instant?, overtaking margin: Interval = .zero
  ) -> PairOrder {
    guard role == .controlled else { return compareCandidates(a, b) }
    return PairOrder(a.nominationReceivedAt != nil, b.nominationReceivedAt != nil)
      .or(PairOrder(a.generation, b.generation))
      .or(compareData(a, b, margin))
      .or(compareNominations(a, b, newest))
      .or(compareCandidates(a, b))
  }

  /// Compares generations first, because a restart asks for the new one, then networks, then priorities, and last
  /// whether a candidate is lost.
  func compareCandidates(_ a: ICECandidatePair, _ b: ICECandidatePair) -> PairOrder {
    PairOrder(a.generation, b.generation)
      .or(compareNetworks(a, b))
      .or(PairOrder(a.priority, b.priority))
      .or(PairOrder(!hasLostCandidate(a), !hasLostCandidate(b)))
  }

  private func hasLostCandidate(_ pair: ICECandidatePair) -> Bool {
    guard let generation = generations.first(where: { $0.number == pair.generation }) else { return true }
    return !generation.localCandidates.contains { $0.base == pair.base && !$0.isWithdrawn }
      || !generation.remoteCandidates.contains { $0.endpoint == pair.remoteEndpoint }
  }

  func compareNetworks(_ a: ICECandidatePair, _ b: ICECandidatePair) -> PairOrder {
    var order = PairOrder.equal
    if let preference = settings.networkPreference {
      order = PairOrder(a.network?.type == preference, b.network?.type == preference)
    }
    return order.or(PairOrder(b.networkCost, a.networkCost))
  }

  private func compareData(_ a: ICECandidatePair, _ b: ICECandidatePair, _ margin: Interval) -> PairOrder {
    guard let there = a.lastDataAt, let here = b.lastDataAt else {
      return PairOrder(a.lastDataAt != nil, b.lastDataAt != nil)
    }
    if there > here { return there - here > margin ? .better : .equal }
    return PairOrder(there, here)
  }

  // MARK: Nominations

  /// The time of the peer's last nomination.
  var newestNomination: Instant? {
    generations.lazy.flatMap(\.checklist.pairs).compactMap(\.nominationReceivedAt).max()
  }

  /// Compares nominations. An aggressive peer nominates several pairs at once, and stops nominating a pair when it
  /// changes its choice, so a nomination much older than the newest is obsolete.
  func compareNominations(_ a: ICECandidatePair, _ b: ICECandidatePair, _ newest: Instant?) -> PairOrder {
    func rank(_ pair: ICECandidatePair) -> Int {
      guard let nominatedAt = pair.nominationReceivedAt, let newest else { return 0 }
      return newest - nominatedAt <= settings.switchDelay ? 2 : 1
    }
    return PairOrder(rank(a), rank(b))
  }

  // MARK: Receiving

  func isReceiving(_ pair: ICECandidatePair) -> Bool { receivingEnd(pair).map { now < $0 } ?? true }

  /// Returns the time at which a pair counts as not receiving, or nil while its last check was answered: a backup pair
  /// receives nothing between its checks.
  func receivingEnd(_ pair: ICECandidatePair) -> Instant? {
    guard let received = pair.lastReceivedAt else { return .zero }
    let end = received + settings.receivingTimeout
    if Defect.answersCountForNothing.isPlanted, pair.id == selected {
      return (pair.lastDataAt ?? pair.createdAt) + settings.receivingTimeout
    }
    if let first = pair.unanswered.firstSentAt { return max(end, first + settings.receivingCheckInterval) }
    guard let sent = pair.lastCheckSentAt, let answered = pair.lastResponseAt, sent <= answered else { return end }
    return nil
  }
}

extension ICECandidatePair {
  /// The rank of the reachability: higher is better.
  var writability: Int {
    switch reachability {
    case .writable: 3
    case .unreliable: 2
    case .unknown: 1
    case .timedOut: 0
    }
  }
}
