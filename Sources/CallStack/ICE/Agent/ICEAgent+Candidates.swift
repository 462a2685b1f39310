package import CallCore

// Candidates and credentials from the driver and from signalling, and their pairs.
extension ICEAgent {
  // MARK: Local candidates

  /// Adds a candidate, at any time: candidates of a network that appears during a call are paired like the first ones.
  ///
  /// - Parameters:
  ///   - base: the socket that sends the checks: the candidate itself for host and relay, the host candidate for srflx.
  ///   - network: the network of that socket, or of the socket to the relay's server. If it is unknown, candidates with
  ///     the same base address count as one network without cost.
  package mutating func addLocalCandidate(
    _ candidate: ICECandidate, base: Endpoint, network: ICENetwork? = nil, at now: Instant
  ) throws(ICEError) {
    guard enter(at: now) else { throw .closed }
    guard candidate.transport == .udp, candidate.component == 1, candidate.endpoint != nil else {
      throw .unusableLocalCandidate
    }
    if !Defect.withdrawnCandidateNotReadded.isPlanted {
      current.localCandidates.removeAll { $0.base == base && $0.isWithdrawn }
    }
    let ofSocket = current.localCandidates.filter { $0.base == base }
    // A candidate with the same address and base is redundant (RFC 8445 section 5.1.3).
    if !ofSocket.contains(where: { $0.candidate.endpoint == candidate.endpoint }) {
      let local = ICEGeneration.LocalCandidate(candidate: candidate, base: base, network: network)
      current.localCandidates.append(local)
      // Every candidate has been paired with a known socket already: do not form its removed pairs again.
      for remote in current.remoteCandidates
      where ofSocket.isEmpty ? remote.type != .peerReflexive : pairIndex(from: base, to: remote) != nil {
        form(local, remote, in: 0)
      }
    }
    settle()
  }

  /// Adds a host or relayed candidate, which is its own base.
  package mutating func addLocalCandidate(
    _ candidate: ICECandidate, network: ICENetwork? = nil, at now: Instant
  ) throws(ICEError) {
    guard let base = candidate.endpoint else { throw .unusableLocalCandidate }
    try addLocalCandidate(candidate, base: base, network: network, at: now)
  }

  /// Ends gathering for the current generation.
  package mutating func endOfLocalCandidates(at now: Instant) {
    guard enter(at: now) else { return }
    current.localCandidatesEndedAt = self.now
    settle()
  }

  /// Withdraws every candidate of a socket, or of a relay reached from it, when the interface is gone. As in libwebrtc
  /// the candidates form no more pairs, and existing pairs end when their checks fail, unless the interface comes back.
  /// A call on such a pair switches after nothing was received for ``ICESettings/receivingTimeout`` and
  /// ``ICESettings/switchDelay``.
  package mutating func withdrawLocalCandidates(base: Endpoint, at now: Instant) {
    guard enter(at: now) else { return }
    for g in generations.indices {
      for index in generations[g].localCandidates.indices where generations[g].localCandidates[index].base == base {
        generations[g].localCandidates[index].isWithdrawn = true
      }
    }
    settle()
  }

  /// Removes every candidate of an ended relay allocation, and immediately the pairs that used it.
  package mutating func removeLocalCandidates(base: Endpoint, at now: Instant) {
    guard enter(at: now) else { return }
    for g in generations.indices {
      generations[g].localCandidates.removeAll { $0.base == base }
      if generations[g].checklist.pairs.contains(where: { $0.base == base && $0.isActive }) {
        pathsWithdrawnAt = self.now
      }
      removePairs(in: g) { $0.base == base }
    }
    settle()
  }

  /// Gives up the pairs from a relayed address to a peer address that the TURN server does not relay to: to all its
  /// ports when `port` is nil. As in libwebrtc they are not checked any more, even if the peer sends on them, and the
  /// selected pair is deselected immediately.
  package mutating func failPairs(
    base: Endpoint, to address: IPAddress, port: UInt16?, _ failure: ICECheckFailure, at now: Instant
  ) {
    guard enter(at: now) else { return }
    for g in generations.indices {
      for index in generations[g].checklist.pairs.indices {
        let pair = generations[g].checklist.pairs[index]
        guard pair.base == base, pair.remoteEndpoint.address == address, !pair.isRefused,
          port.map({ $0 == pair.remoteEndpoint.port }) ?? true
        else { continue }
        generations[g].checklist.update(index) {
          $0.isRefused = true
          $0.state = .failed
        }
        giveUp(g, index)
        events.append(.checkFailed(pair, failure))
        if pair.id == selected { deselect() }
      }
    }
    settle()
  }

  // MARK: The peer

  /// Sets the role before the peer is known: the offerer controls.
  package mutating func setRole(_ role: ICERole, at now: Instant) {
    guard enter(at: now), !settings.isLite else { return }
    if role != self.role, !remoteIsLite { becomeRole(role) }
    settle()
  }

  /// Records that the peer is ICE-lite (`a=ice-lite`): it sends no checks, so this agent controls.
  package mutating func setRemoteIsLite(at now: Instant) {
    guard enter(at: now), !settings.isLite else { return }
    remoteIsLite = true
    if role == .controlled { becomeRole(.controlling) }
    settle()
  }

  /// Sets the peer's credentials, and processes the candidates and checks that arrived before them.
  package mutating func setRemoteCredentials(_ credentials: ICECredentials, at now: Instant) throws(ICEError) {
    guard enter(at: now) else { throw .closed }
    guard credentials.isValid else { throw .invalidCredentials }
    if let known = current.remote {
      guard known == credentials else { throw .remoteRestarted }
      return
    }
    let replaced = generations.last?.remote
    current.setRemote(Defect.restartKeepsOldCredentials.isPlanted ? replaced ?? credentials : credentials)
    current.remoteKnownAt = self.now
    let buffered = current.bufferedCandidates
    current.bufferedCandidates = []
    for candidate in buffered { accept(candidate) }
    let early = current.earlyChecks
    current.earlyChecks = []
    for check in early {
      if check.remoteUfrag == credentials.ufrag { act(on: check, in: 0) } else { counters.wrongGeneration &+= 1 }
    }
    settle()
  }

  /// Adds a signalled candidate; one that arrives before its credentials waits for them.
  ///
  /// A candidate of an earlier generation's `ufrag`, or one that cannot be paired, is counted and ignored, with the
  /// reason in the events (``ICECandidateRefusal``). The driver adds a candidate with a name again once the name is
  /// resolved (``ICECandidate/resolved(to:)``).
  package mutating func addRemoteCandidate(_ candidate: ICECandidate, at now: Instant) {
    guard enter(at: now) else { return }
    if Defect.lateNameDropped.isPlanted, current.remoteCandidatesEndedAt != nil { return }
    accept(candidate)
    settle()
  }

  /// Removes a candidate that the peer has lost: it forms no new pairs. Existing pairs end when their checks fail.
  package mutating func removeRemoteCandidate(_ candidate: ICECandidate, at now: Instant) {
    guard enter(at: now) else { return }
    current.bufferedCandidates.removeAll { $0.endpoint == candidate.endpoint && $0.ufrag == candidate.ufrag }
    guard candidate.ufrag == nil || candidate.ufrag == current.remote?.ufrag else { return }
    current.remoteCandidates.removeAll { $0.endpoint == candidate.endpoint && $0.type == candidate.type }
    settle()
  }

  /// Ends the peer's candidates.
  ///
  /// - Parameter ufrag: the generation that ended, if signalling gives it.
  package mutating func endOfRemoteCandidates(ufrag: String? = nil, at now: Instant) {
    guard enter(at: now) else { return }
    if let ufrag, let remote = current.remote, remote.ufrag != ufrag { return }
    current.remoteCandidatesEndedAt = self.now
    settle()
  }

  /// The maximum number of candidates of each side: checks and responses of the peer can create candidates on both.
  var candidateLimit: Int { 4 * settings.pairLimit }

  mutating func accept(_ candidate: ICECandidate) {
    let ufrag = Defect.retiredCandidateAccepted.isPlanted ? nil : candidate.ufrag
    if let ufrag, retiredUfrags.contains(ufrag) {
      counters.wrongGeneration &+= 1
      return
    }
    guard let remote = current.remote, ufrag == nil || ufrag == remote.ufrag else {
      buffer(candidate)
      return
    }
    if let refusal = candidate.refusal { return refuse(candidate, refusal) }
    guard let endpoint = candidate.endpoint else { return }
    if let index = current.remoteCandidates.firstIndex(where: { $0.endpoint == endpoint }) {
      let known = current.remoteCandidates[index]
      // A signalled candidate replaces a peer-reflexive one; a repeated address is redundant.
      guard known.type == .peerReflexive || known.priority < candidate.priority,
        !Defect.reflexiveHidesSignalled.isPlanted
      else { return }
      current.remoteCandidates[index] = candidate
      for index in current.checklist.pairs.indices where current.checklist.pairs[index].remoteEndpoint == endpoint {
        current.checklist.update(index) { $0.remote = candidate }
      }
      reprioritize(0)
      if known.type == .peerReflexive { pair(candidate, in: 0) }
      return
    }
    if keep(candidate, in: 0) { pair(candidate, in: 0) }
  }

  private mutating func refuse(_ candidate: ICECandidate, _ refusal: ICECandidateRefusal) {
    counters.unusableCandidates &+= 1
    events.append(.remoteCandidateRefused(candidate, refusal))
  }

  /// Stores a candidate until its credentials are known: those of this generation, or of the peer's next one.
  private mutating func buffer(_ candidate: ICECandidate) {
    if Defect.earlyCandidateDropped.isPlanted { return }
    if current.bufferedCandidates.count < candidateLimit {
      current.bufferedCandidates.append(candidate)
    } else {
      refuse(candidate, .tooMany)
    }
  }

  /// Stores a new remote candidate; returns false when there are too many.
  mutating func keep(_ candidate: ICECandidate, in g: Int) -> Bool {
    guard generations[g].remoteCandidates.count < candidateLimit else {
      refuse(candidate, .tooMany)
      return false
    }
    generations[g].remoteCandidates.append(candidate)
    return true
  }

  /// Pairs a signalled candidate with every local one. A lite agent sends no checks, so only received checks form
  /// pairs.
  private mutating func pair(_ candidate: ICECandidate, in g: Int) {
    guard !settings.isLite else { return }
    for local in generations[g].localCandidates where !local.isWithdrawn { form(local, candidate, in: g) }
  }

  // MARK: Pairs

  /// Forms a pair unless it is redundant, mixes address families, or was revoked (RFC 8445 sections 6.1.2.2 to
  /// 6.1.2.5).
  @discardableResult
  mutating func form(
    _ local: ICEGeneration.LocalCandidate, _ remote: ICECandidate, in g: Int
  ) -> ICECandidatePair.ID? {
    guard !settings.isLite, let endpoint = remote.endpoint, Self.areCompatible(local.base.address, endpoint.address)
    else {
      return nil
    }
    // A relayed check would reveal to the TURN server an address that the peer has hidden.
    if remote.isConcealed, local.candidate.type == .relay { return nil }
    if let index = generations[g].checklist.index(base: local.base, remote: endpoint) {
      // Both would send identical checks, so the pair keeps the better candidate.
      let pair = generations[g].checklist.pairs[index]
      if pair.reachability == .unknown, pair.local.priority < local.candidate.priority {
        generations[g].checklist.update(index) { $0.local = local.candidate }
        reprioritize(g)
      }
      return pair.id
    }
    return insertPair(local, remote, at: endpoint, in: g)
  }

  mutating func insertPair(
    _ local: ICEGeneration.LocalCandidate, _ remote: ICECandidate, at endpoint: Endpoint, in g: Int
  ) -> ICECandidatePair.ID? {
    guard !generations[g].hasRevoked(Path(local: local.base, remote: endpoint)) else { return nil }
    let id = ICECandidatePair.ID(nextPairNumber)
    nextPairNumber &+= 1
    var pair = ICECandidatePair(
      id: id, local: local.candidate, remote: remote, base: local.base, remoteEndpoint: endpoint,
      generation: generations[g].number, network: local.network, priority: priority(of: local.candidate, remote),
      state: .waiting, consentInterval: drawConsentInterval(), createdAt: now)
    pair.state = generations[g].checklist.initialState(of: pair)
    generations[g].checklist.insert(pair)
    generations[g].hasHadPairs = true
    let surplus = generations[g].checklist.surplus(beyond: settings.pairLimit, newest: id, keeping: selected)
    if !surplus.isEmpty { removePairs(in: g) { surplus.contains($0.id) } }
    guard !surplus.contains(id) else { return nil }
    events.append(.pairFormed(pair))
    return id
  }

  mutating func removePairs(in g: Int, where isGone: (ICECandidatePair) -> Bool) {
    let gone = generations[g].checklist.pairs.filter(isGone).map(\.id)
    guard !gone.isEmpty else { return }
    for id in gone { events.append(.pairRemoved(id)) }
    generations[g].checklist.remove { gone.contains($0.id) }
    forgetUnusedReflexives(in: g)
    if let id = nominating, gone.contains(id) { nominating = nil }
    if let id = selected, gone.contains(id) { deselect() }
  }

  private mutating func deselect() {
    selected = nil
    events.append(.selectedPairChanged(nil))
  }

  private func pairIndex(from base: Endpoint, to remote: ICECandidate) -> Int? {
    remote.endpoint.flatMap { current.checklist.index(base: base, remote: $0) }
  }

  /// Removes peer-reflexive candidates that no pair uses: checks can create new ones without limit.
  mutating func forgetUnusedReflexives(in g: Int) {
    let pairs = generations[g].checklist.pairs
    generations[g].localCandidates.removeAll { local in
      local.candidate.type == .peerReflexive
        && !pairs.contains { $0.base == local.base && $0.local.endpoint == local.candidate.endpoint }
    }
    generations[g].remoteCandidates.removeAll { remote in
      remote.type == .peerReflexive && !pairs.contains { $0.remoteEndpoint == remote.endpoint }
    }
  }

  func priority(of local: ICECandidate, _ remote: ICECandidate) -> UInt64 {
    role == .controlling
      ? ICEPriority.pair(controlling: local.priority, controlled: remote.priority)
      : ICEPriority.pair(controlling: remote.priority, controlled: local.priority)
  }

  mutating func reprioritize(_ g: Int) {
    let isControlling = role == .controlling
    generations[g].checklist.reprioritize { pair in
      isControlling
        ? ICEPriority.pair(controlling: pair.local.priority, controlled: pair.remote.priority)
        : ICEPriority.pair(controlling: pair.remote.priority, controlled: pair.local.priority)
    }
  }

  mutating func becomeRole(_ role: ICERole) {
    self.role = role
    nominating = nil
    for g in generations.indices { reprioritize(g) }
    events.append(.roleChanged(role))
  }

  /// Returns whether two addresses may be paired: both of one family, and both link-local IPv6 or neither, because only
  /// link-local addresses are known to be on one link. A loopback address pairs only with another one: it is this
  /// machine's own.
  private static func areCompatible(_ a: IPAddress, _ b: IPAddress) -> Bool {
    a.isIPv6 == b.isIPv6 && (!a.isIPv6 || a.isLinkLocal == b.isLinkLocal) && a.isLoopback == b.isLoopback
  }
}
