package import CallCore

extension ICEAgent {
  /// Updates the connection state: `failed` once there were pairs and none is active; `disconnected` once one worked
  /// and none does. The agent leaves both states when a pair works again. `connected` requires a pair that both sides
  /// agreed on.
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
    // The loss of a relay ends pairs at once. Before the agent fails it waits as long as for a silent path.
    if let deadline = withdrawalDeadline, now < deadline, connectionState != .failed {
      return setState(hasConnected ? .disconnected : .checking)
    }
    pathsWithdrawnAt = nil
    // Pairs from before a restart that never worked do not show that the new ones will fail.
    let hasHadPairs = current.hasHadPairs || connectionState != .checking && generations.contains(where: \.hasHadPairs)
    if hasHadPairs || noPairsDeadline.map({ $0 <= now }) ?? false { setState(.failed) }
  }

  /// Whether both candidate lists have ended, and a pair of the current generation is selected.
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

  /// Makes the credentials of the next generation, for an offer that restarts ICE once it is set.
  package mutating func makeCredentials() -> ICECredentials { ICECredentials(from: &random) }

  /// Begins a new generation; add its local candidates and set the peer's new credentials next.
  ///
  /// Until a new pair works the old ones stay in use, and media may switch between them. The role does not change.
  ///
  /// - Parameter credentials: those of ``makeCredentials()``, if they were signalled already.
  package mutating func restart(with credentials: ICECredentials? = nil, at now: Instant) throws(ICEError) {
    guard enter(at: now) else { throw .closed }
    var fresh = ICEGeneration(number: current.number + 1, local: credentials ?? makeCredentials())
    // Candidates may arrive before the description that announces the peer's own restart.
    swap(&fresh.bufferedCandidates, &current.bufferedCandidates)
    if let ufrag = current.remote?.ufrag { retiredUfrags = retiredUfrags.suffix(7) + [ufrag] }
    // A second restart replaces an unfinished first one: media is on the oldest generation.
    let isUnfinished = generations.count > 1 && !current.hasBeenUsed
    if generations.count > 1 { removePairs(in: isUnfinished ? 0 : 1) { _ in true } }
    generations = [fresh, isUnfinished ? generations[1] : current]
    if Defect.restartEndsOldPairs.isPlanted { generations.removeLast() }
    if connectionState != .connected, connectionState != .completed { hasConnected = false }
    settle()
  }

  /// Cancels a restart that the peer has not answered, because the offer was rolled back.
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
