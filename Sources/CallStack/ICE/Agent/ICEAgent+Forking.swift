package import CallCore

extension ICEAgent {
  /// Forgets the peer of the current generation because another one answered the same offer (serial forking, RFC 9429
  /// section 3.6): its candidates, its pairs and their results. Our credentials and candidates remain, and
  /// ``setRemoteCredentials(_:at:)`` introduces the new peer.
  package mutating func forgetRemote(at now: Instant) {
    guard enter(at: now), let replaced = current.remote else { return }
    let selected = selectedPair
    removePairs(in: 0) { _ in true }
    var fresh = ICEGeneration(number: current.number, local: current.local)
    fresh.localCandidates = current.localCandidates.filter { $0.candidate.type != .peerReflexive }
    fresh.localCandidatesEndedAt = current.localCandidatesEndedAt
    fresh.bufferedCandidates = current.bufferedCandidates
    current = fresh
    retiredUfrags.append(replaced.ufrag)
    if let selected, locate(selected.id) == nil { events.append(.selectedPairChanged(selectedPair)) }
    settle()
  }
}
