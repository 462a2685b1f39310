internal import CallCore

/// The pairs of one generation, best first, and the triggered-check queue (RFC 8445 sections 6.1.2 and 6.1.4.1).
struct Checklist {
  private(set) var pairs: [ICECandidatePair] = []
  private(set) var triggered: [ICECandidatePair.ID] = []

  // MARK: Finding

  func index(of id: ICECandidatePair.ID) -> Int? { pairs.firstIndex { $0.id == id } }

  func index(base: Endpoint, remote: Endpoint) -> Int? {
    pairs.firstIndex { $0.base == base && $0.remoteEndpoint == remote }
  }

  subscript(_ id: ICECandidatePair.ID?) -> ICECandidatePair? {
    guard let id else { return nil }
    return pairs.first { $0.id == id }
  }

  // MARK: Changing

  /// Changes one pair in place. Only ``reprioritize(_:)`` may change its priority.
  mutating func update(_ index: Int, _ change: (inout ICECandidatePair) -> Void) { change(&pairs[index]) }

  /// Inserts a pair at its rank. A pair learnt from a check ranks like any other (RFC 8445 section 7.3.1.4).
  mutating func insert(_ pair: ICECandidatePair) {
    let rank = pairs.firstIndex { $0.priority < pair.priority } ?? pairs.count
    let index = Defect.latePairAppended.isPlanted ? pairs.count : rank
    pairs.insert(pair, at: index)
  }

  /// Recomputes every priority and sorts; pairs of equal priority are sorted by age.
  mutating func reprioritize(_ priority: (ICECandidatePair) -> UInt64) {
    for index in pairs.indices { pairs[index].priority = priority(pairs[index]) }
    pairs.sort { ($1.priority, $0.id) < ($0.priority, $1.id) }
  }

  /// Removes pairs and their triggered checks.
  mutating func remove(where isGone: (ICECandidatePair) -> Bool) {
    let gone = pairs.filter(isGone).map(\.id)
    pairs.removeAll { gone.contains($0.id) }
    triggered.removeAll { gone.contains($0) }
  }

  /// Returns the pairs beyond the limit: the worst that neither are being checked nor work, or else the newest.
  ///
  /// - Parameter kept: a pair that is kept in any state.
  func surplus(beyond limit: Int, newest: ICECandidatePair.ID, keeping kept: ICECandidatePair.ID?)
    -> [ICECandidatePair.ID]
  {
    guard pairs.count > limit else { return [] }
    let spare = pairs.filter { [.frozen, .waiting, .failed].contains($0.state) && $0.id != kept }.map(\.id)
    let surplus = pairs.count - limit
    let gone = Defect.pairLimitDropsBest.isPlanted ? spare.prefix(surplus) : spare.suffix(surplus)
    return gone.count == surplus ? Array(gone) : [newest]
  }

  // MARK: Triggered checks

  mutating func trigger(_ id: ICECandidatePair.ID) {
    if !triggered.contains(id) { triggered.append(id) }
  }

  mutating func popTriggered() -> ICECandidatePair.ID? { triggered.isEmpty ? nil : triggered.removeFirst() }

  mutating func cancelTriggered(_ id: ICECandidatePair.ID) { triggered.removeAll { $0 == id } }

  // MARK: Freezing

  /// Returns the state of a new pair: frozen while another pair of the same foundation is waiting or in progress
  /// (RFC 8445 section 6.1.2.6).
  func initialState(of pair: ICECandidatePair) -> ICECandidatePair.State {
    let undecided = pairs.contains {
      ($0.state == .waiting || $0.state == .inProgress) && $0.hasSameFoundation(as: pair)
    }
    return undecided ? .frozen : .waiting
  }

  /// Unfreezes the other pairs of a successful pair's foundation: they will likely work too (RFC 8445
  /// section 7.2.5.3.3).
  mutating func unfreeze(like pair: ICECandidatePair) {
    for index in pairs.indices where pairs[index].state == .frozen && pairs[index].hasSameFoundation(as: pair) {
      pairs[index].state = .waiting
    }
  }
}
