internal import CallCore
internal import STUN

// The server half: checks received from the peer (RFC 8445 section 7.3).
extension ICEAgent {
  mutating func handleRequest(_ request: STUNMessage, on path: Path) {
    guard request.hasIntegrity, let names = request[.username].flatMap(UsernameParts.init) else {
      counters.malformed &+= 1
      return reject(request, .badRequest, on: path)
    }
    guard let g = generations.firstIndex(where: { $0.local.ufrag == names.receiver }) else {
      counters.unknownUfrag &+= 1
      return reject(request, .unauthenticated, on: path)
    }
    let key = generations[g].localKey
    guard request.integrity(key: key) == .valid else {
      counters.wrongIntegrity &+= 1
      return reject(request, .unauthenticated, on: path)
    }
    guard request.unknownAttributes.isEmpty else {
      counters.malformed &+= 1
      return reject(request, .unknownAttribute, on: path, key: key)
    }
    guard let priority = request[.priority] else {
      counters.malformed &+= 1
      return reject(request, .badRequest, on: path, key: key)
    }
    guard generations[g].isLocal(path.local) else {
      counters.unknownLocal &+= 1
      return
    }
    if let remote = generations[g].remote, remote.ufrag != names.sender {
      counters.wrongGeneration &+= 1
      return reject(request, .unauthenticated, on: path, key: key)
    }
    if Defect.earlyCheckUnanswered.isPlanted, generations[g].remote == nil { return }
    if hasLostRoleConflict(request, key: key, on: path) { return }
    answer(request, on: path, key: key)
    let check = ICEGeneration.EarlyCheck(
      path: path, remoteUfrag: names.sender, priority: priority, useCandidate: request.contains(.useCandidate),
      networkInfo: request[.networkInfo])
    if generations[g].remote != nil {
      act(on: check, in: g)
    } else if g == 0 {
      remember(check)
    }
  }

  /// Repairs a role conflict (RFC 8445 section 7.3.1.1): either this agent changes its role, or a 487 response makes
  /// the peer change its own.
  ///
  /// - Returns: whether the response was 487.
  private mutating func hasLostRoleConflict(_ request: STUNMessage, key: STUNKey, on path: Path) -> Bool {
    let theirs = role == .controlling ? request[.iceControlling] : request[.iceControlled]
    guard let theirs, !Defect.roleConflictIgnored.isPlanted else { return false }
    counters.roleConflicts &+= 1
    let isControllingForGood = role == .controlling && remoteIsLite
    let stays = settings.isLite || isControllingForGood || (tieBreaker >= theirs) == (role == .controlling)
    guard stays else {
      becomeRole(role.opposite)
      return false
    }
    reject(request, .roleConflict, on: path, key: key)
    return true
  }

  private mutating func remember(_ check: ICEGeneration.EarlyCheck) {
    let known = current.earlyChecks.firstIndex {
      $0.path.local == check.path.local && $0.path.remote == check.path.remote && $0.remoteUfrag == check.remoteUfrag
    }
    if let known {
      if check.useCandidate { current.earlyChecks[known] = check }
    } else if current.earlyChecks.count < settings.pairLimit {
      current.earlyChecks.append(check)
    }
  }

  /// Processes an authenticated check: the peer's address, a pair for a triggered check, a nomination.
  mutating func act(on check: ICEGeneration.EarlyCheck, in g: Int) {
    guard !generations[g].hasRevoked(check.path), let index = pairIndex(for: check, in: g) else { return }
    noteReceived(g, index)
    generations[g].checklist.update(index) { [now, role] pair in
      pair.counters.requestsReceived &+= 1
      pair.counters.responsesSent &+= 1
      if Defect.mappedNominationDropped.isPlanted, pair.local.endpoint != pair.base { return }
      if check.useCandidate { pair.nominationReceivedAt = now }
      if check.useCandidate, role == .controlled { pair.nominated = true }
    }
    if let info = check.networkInfo { noteCost(Int(UInt16(truncatingIfNeeded: info)), ofRemote: check.path.remote, g) }
    if settings.isLite { return acceptAsLite(g, index) }
    triggerCheck(g, index)
  }

  /// Updates the cost of the peer's network, which may change during use.
  private mutating func noteCost(_ cost: Int, ofRemote endpoint: Endpoint, _ g: Int) {
    guard let known = generations[g].remoteCandidates.firstIndex(where: { $0.endpoint == endpoint }),
      generations[g].remoteCandidates[known].networkCost ?? 0 != cost
    else { return }
    generations[g].remoteCandidates[known].networkCost = cost
    for index in generations[g].checklist.pairs.indices
    where generations[g].checklist.pairs[index].remoteEndpoint == endpoint {
      generations[g].checklist.update(index) { $0.remote.networkCost = cost }
    }
  }

  /// Returns the pair of a received check, and forms it if it is missing.
  private mutating func pairIndex(for check: ICEGeneration.EarlyCheck, in g: Int) -> Int? {
    let path = check.path
    if let index = generations[g].checklist.index(base: path.local, remote: path.remote) { return index }
    if Defect.mappedPortNotFollowed.isPlanted,
      let index = generations[g].checklist.pairs.firstIndex(where: { $0.remoteEndpoint.address == path.remote.address })
    {
      return index
    }
    guard let local = generations[g].localCandidates.first(where: { $0.base == path.local }) else { return nil }
    if !generations[g].remoteCandidates.contains(where: { $0.endpoint == path.remote }) {
      let candidate = ICECandidate(
        .peerReflexive, at: path.remote, priority: check.priority, foundation: nextReflexiveFoundation())
      // Signalling has not announced this address (RFC 8445 section 7.3.1.3), so it is paired only with the receiving
      // socket.
      guard keep(candidate, in: g) else { return nil }
      events.append(.peerReflexiveDiscovered(candidate, isLocal: false))
    }
    guard let remote = generations[g].remoteCandidates.first(where: { $0.endpoint == path.remote }) else { return nil }
    if generations[g].checklist.index(base: path.local, remote: path.remote) == nil {
      _ = insertPair(local, remote, at: path.remote, in: g)
    }
    return generations[g].checklist.index(base: path.local, remote: path.remote)
  }

  /// Triggers a check (RFC 8445 section 7.3.1.4). As in libwebrtc a pruned pair is not checked, even if the peer
  /// nominates it, until the selected one is in trouble.
  private mutating func triggerCheck(_ g: Int, _ index: Int) {
    revive(g, index)
    let pair = generations[g].checklist.pairs[index]
    guard !pair.isWritable, !pair.isRefused, pair.isActive || isWeak && hasActivePair else { return }
    // A pending check gives the same information.
    if let last = pair.lastCheckSentAt, now < last + settings.weakPingInterval { return }
    generations[g].checklist.trigger(pair.id)
  }

  /// Revives a pair that had been given up for its silence, or had failed, when the peer sends on it. A pruned pair is
  /// revived only when no pair is active.
  mutating func revive(_ g: Int, _ index: Int) {
    let pair = generations[g].checklist.pairs[index]
    guard !pair.isWritable, !pair.isRefused, pair.state == .failed || !pair.isActive else { return }
    if !pair.isActive, pair.isPruned, hasActivePair { return }
    generations[g].checklist.update(index) {
      $0.state = .waiting
      $0.isPruned = false
      if !$0.isActive { $0.reachability = .unknown }
      $0.unanswered.clear()
    }
  }

  /// Accepts a pair on the peer's check: a lite agent sends no checks (RFC 8445 section 7.3.2).
  private mutating func acceptAsLite(_ g: Int, _ index: Int) {
    generations[g].checklist.update(index) {
      $0.state = .succeeded
      $0.reachability = .writable
    }
  }

  mutating func nextReflexiveFoundation() -> String {
    defer { nextReflexiveNumber += 1 }
    return "prflx\(nextReflexiveNumber)"
  }

  // MARK: Responses

  private mutating func answer(_ request: STUNMessage, on path: Path, key: STUNKey) {
    var response = STUNMessageBuilder(.successResponse, to: request)
    response.append(.xorMappedAddress, path.remote)
    response.appendIntegrity(key: key, answering: request)
    response.appendFingerprint()
    outgoing.append((response.bytes, Path(local: path.local, remote: path.remote)))
  }

  /// Sends an error response.
  ///
  /// - Parameter key: nil if the requester is unknown, so that the response cannot be protected.
  private mutating func reject(_ request: STUNMessage, _ error: STUNError, on path: Path, key: STUNKey? = nil) {
    var response = STUNMessageBuilder(.errorResponse, to: request)
    response.append(.errorCode, error)
    if error == .unknownAttribute { response.append(.unknownAttributes, STUNAttributeTypes(request.unknownAttributes)) }
    if let key { response.appendIntegrity(key: key, answering: request) }
    response.appendFingerprint()
    outgoing.append((response.bytes, Path(local: path.local, remote: path.remote)))
  }
}

/// The parts of a check's user name: `receiver:sender` (RFC 8445 section 7.2.2).
private struct UsernameParts {
  let receiver: String
  let sender: String

  init?(_ username: String) {
    guard let colon = username.firstIndex(of: ":") else { return nil }
    receiver = String(username[..<colon])
    sender = String(username[username.index(after: colon)...])
  }
}
