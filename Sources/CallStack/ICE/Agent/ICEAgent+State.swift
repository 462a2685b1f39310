package import CallCore

extension ICEAgent {
  /// `failed` once there were pairs and none is active; `disconnected` once one worked and none does; back from both
  /// when one works again. `connected` needs a pair that both sides agreed on.
  mutating func updateState() {
    let live = generations.lazy.flatMap(\.checklist.pairs)
    if !hasConnected, selectedPair?.isWritable == true { hasConnected = true }
    guard hasActivePair else { return updateStateWithoutPairs() }
    let works = live.contains(where: \.isWritable)
    if works { pathsWithdrawnAt = nil }
    guard hasConnected else { return setState(.checking) }
    setState(!works ? .disconnected : isComplete ? .completed : .connected)
  }

  private mutating func updateStateWithoutPairs() {
    if Defect.endOfCandidatesAwaited.isPlanted, current.remoteCandidatesEndedAt == nil { return }
    // Who has lost its relay has lost its paths, not its call: it gets as long as a silent path.
    if let deadline = withdrawalDeadline, now < deadline, connectionState != .failed {
      return setState(hasConnected ? .disconnected : .checking)
    }
    pathsWithdrawnAt = nil
    // The pairs of before a restart that never worked say nothing of those to come.
    let hasHadPairs = current.hasHadPairs || connectionState != .checking && generations.contains(where: \.hasHadPairs)
    if hasHadPairs || noPairsDeadline.map({ $0 <= now }) ?? false { setState(.failed) }
  }

  /// Both sides have said all, and a pair is agreed on.
  private var isComplete: Bool {
    current.localCandidatesEndedAt != nil && current.remoteCandidatesEndedAt != nil
      && selectedPair?.generation == current.number
  }

  mutating func setState(_ state: ICEConnectionState) {
    guard state != connectionState else { return }
    events.append(.connectionStateChanged(from: connectionState, to: state))
    connectionState = state
  }

  // MARK: Restart (RFC 8445 section 9)

  /// What the next generation is to be told apart by: for an offer that brings a restart once it is set.
  package mutating func makeCredentials() -> ICECredentials { ICECredentials(from: &random) }

  /// Begins a new generation; add its local candidates and set the peer's new credentials next.
  ///
  /// Until one of the new pairs works the old ones go on as before, and media moves among them if need be. The role stays
  /// as it is.
  ///
  /// - Parameter credentials: from ``makeCredentials()``, when they have been told already.
  package mutating func restart(with credentials: ICECredentials? = nil, at now: Instant) throws(ICEError) {
    guard enter(at: now) else { throw .closed }
    var fresh = ICEGeneration(number: current.number + 1, local: credentials ?? makeCredentials())
    // Candidates may overtake the description that announces the peer's own restart.
    swap(&fresh.bufferedCandidates, &current.bufferedCandidates)
    if let ufrag = current.remote?.ufrag { retiredUfrags = retiredUfrags.suffix(7) + [ufrag] }
    // A second restart before the first is done replaces the unfinished one: media is on the oldest.
    let isUnfinished = generations.count > 1 && !current.hasBeenUsed
    if generations.count > 1 { removePairs(in: isUnfinished ? 0 : 1) { _ in true } }
    generations = [fresh, isUnfinished ? generations[1] : current]
    if Defect.restartEndsOldPairs.isPlanted { generations.removeLast() }
    if connectionState != .connected, connectionState != .completed { hasConnected = false }
    settle()
  }

  /// Takes back a restart that the peer has not answered: the offer was rolled back.
  package mutating func cancelRestart(at now: Instant) throws(ICEError) {
    guard enter(at: now) else { throw .closed }
    guard generations.count > 1, current.remote == nil else { throw .notRestarting }
    let cancelled = generations.removeFirst()
    let inUse = current.remote?.ufrag
    retiredUfrags.removeAll { $0 == inUse }
    for candidate in cancelled.bufferedCandidates { accept(candidate) }
    settle()
  }
}
