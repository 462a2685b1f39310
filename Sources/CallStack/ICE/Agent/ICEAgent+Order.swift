internal import CallCore

/// How one pair compares with another.
enum PairOrder {
  case better, equal, worse

  init<Value: Comparable>(_ a: Value, _ b: Value) { self = a > b ? .better : a < b ? .worse : .equal }
  init(_ a: Bool, _ b: Bool) { self = a == b ? .equal : a ? .better : .worse }

  /// What decides where this does not.
  func or(_ next: @autoclosure () -> PairOrder) -> PairOrder { self == .equal ? next() : self }
}

// The order of pairs, which is libwebrtc's: whether what is sent arrives, whether anything comes, and then, what the
// controlling side has shown that it wants, generations, networks and priorities.
extension ICEAgent {
  func order(_ a: ICECandidatePair, _ b: ICECandidatePair, _ newest: Instant?) -> PairOrder {
    PairOrder(a.writability, b.writability)
      .or(followsNomination ? compareNominations(a, b, newest) : .equal)
      .or(PairOrder(isReceiving(a), isReceiving(b)))
      .or(compareClaims(a, b, newest))
      .or(PairOrder(roundTrip(b), roundTrip(a)))
  }

  /// libwebrtc's estimate; one that was never measured is long.
  func roundTrip(_ pair: ICECandidatePair) -> Interval { pair.roundTrip.smoothed ?? .seconds(3) }

  /// Whether the controlling side's choice counts for more than whether anything comes on it.
  var followsNomination: Bool { role == .controlled && settings.nomination == .regular }

  /// What speaks for one of two pairs that work alike.
  ///
  /// - Parameter margin: how much later data must have come on one to count as newer.
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

  /// A younger generation is why there was a restart. Networks come before priorities, and what is gone after what took
  /// its place.
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

  /// When the peer last nominated anything.
  var newestNomination: Instant? {
    generations.lazy.flatMap(\.checklist.pairs).compactMap(\.nominationReceivedAt).max()
  }

  /// An aggressive peer nominates several pairs at once. One that changes its mind stops nominating the old pair, so what
  /// was nominated long before the newest nomination is not meant any more.
  func compareNominations(_ a: ICECandidatePair, _ b: ICECandidatePair, _ newest: Instant?) -> PairOrder {
    func rank(_ pair: ICECandidatePair) -> Int {
      guard let nominatedAt = pair.nominationReceivedAt, let newest else { return 0 }
      return newest - nominatedAt <= settings.switchDelay ? 2 : 1
    }
    return PairOrder(rank(a), rank(b))
  }

  // MARK: Receiving

  func isReceiving(_ pair: ICECandidatePair) -> Bool { receivingEnd(pair).map { now < $0 } ?? true }

  /// When a pair counts as not receiving, or nil while its last check was answered: between the checks of a backup nothing
  /// comes on it.
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
  /// Whether what is sent arrives: the more the likelier.
  var writability: Int {
    switch reachability {
    case .writable: 3
    case .unreliable: 2
    case .unknown: 1
    case .timedOut: 0
    }
  }
}
