internal import CallCore
internal import STUN

/// A pending check. Every check is a transaction of its own, so each response measures one round trip.
struct CheckTransaction {
  let id: STUNTransactionID
  let pair: ICECandidatePair.ID
  let sentAt: Instant
  let role: ICERole
  let useCandidate: Bool
}

// The client half: the results of our checks (RFC 8445 section 7.2.5).
extension ICEAgent {
  mutating func handleResponse(_ response: STUNMessage, on path: Path) {
    guard let position = transactions.firstIndex(where: { $0.id == response.transactionID }),
      let (g, index) = locate(transactions[position].pair), let key = generations[g].remoteKey
    else {
      counters.unexpectedResponses &+= 1
      return
    }
    let check = transactions[position]
    switch response.integrity(key: key) {
    case .valid: break
    case .invalid:
      counters.wrongIntegrity &+= 1
      return
    case .absent: return noteUnprotected(response, g, index)
    }
    guard response.unknownAttributes.isEmpty else {
      counters.malformed &+= 1
      return
    }
    transactions.remove(at: position)
    let pair = generations[g].checklist.pairs[index]
    guard path.local == pair.base, path.remote == pair.remoteEndpoint else { return fail(g, index, .nonSymmetric) }
    if response.messageClass == .errorResponse {
      handleError(response[.errorCode]?.code ?? 500, of: check, g, index)
    } else if let mapped = response[.xorMappedAddress] {
      handleSuccess(of: check, mapped: mapped, g, index)
    } else {
      counters.malformed &+= 1
    }
  }

  /// Reports a response without integrity. An attacker on the path can forge one, but a genuine 400 or 401 has no
  /// integrity either: the failure is reported, and the check stays pending (RFC 8489 section 9.1.4).
  private mutating func noteUnprotected(_ response: STUNMessage, _ g: Int, _ index: Int) {
    if response.messageClass == .errorResponse, let code = response[.errorCode]?.code, code == 400 || code == 401 {
      events.append(.checkFailed(generations[g].checklist.pairs[index], .error(code: code)))
    } else {
      counters.wrongIntegrity &+= 1
    }
  }

  private mutating func handleError(_ code: UInt16, of check: CheckTransaction, _ g: Int, _ index: Int) {
    guard code == 487 else {
      let pair = generations[g].checklist.pairs[index]
      // As in libwebrtc 401, 420 and 500 may be temporary: the peer may not have read the description yet, or has an
      // internal error. Other errors would repeat and end a pair that worked; one that never did waits for the peer's
      // check.
      if ![401, 420, 500].contains(code), pair.reachability == .unknown { return fail(g, index, .error(code: code)) }
      events.append(.checkFailed(pair, .error(code: code)))
      if ![401, 420, 500].contains(code) { removePairs(in: g) { $0.id == pair.id } }
      return
    }
    guard check.role == role || Defect.staleRoleConflictObeyed.isPlanted, !remoteIsLite else {
      counters.staleRoleConflicts &+= 1
      return
    }
    counters.roleConflicts &+= 1
    becomeRole(role.opposite)
    tieBreaker = random.next()
    generations[g].checklist.trigger(check.pair)
  }

  /// Records a failed check. The pair is not given up before its timeout: the peer's own check may still arrive.
  private mutating func fail(_ g: Int, _ index: Int, _ failure: ICECheckFailure) {
    let pair = generations[g].checklist.pairs[index]
    if pair.reachability == .unknown {
      generations[g].checklist.update(index) {
        $0.state = .failed
        if Defect.failedByOwnChecks.isPlanted { $0.reachability = .timedOut }
      }
      generations[g].checklist.cancelTriggered(pair.id)
    }
    events.append(.checkFailed(pair, failure))
  }

  private mutating func handleSuccess(of check: CheckTransaction, mapped: Endpoint, _ g: Int, _ index: Int) {
    let roundTrip = now - check.sentAt
    noteReceived(g, index)
    generations[g].checklist.update(index) { [now] pair in
      pair.counters.responsesReceived &+= 1
      pair.lastResponseAt = now
      pair.unanswered.clear()
      pair.roundTrip.add(roundTrip)
      pair.reachability = .writable
      pair.state = .succeeded
    }
    events.append(.checkSucceeded(check.pair, roundTripTime: roundTrip))
    generations[g].checklist.unfreeze(like: generations[g].checklist.pairs[index])
    learnLocal(mapped, g, index)
    if role == .controlling, check.useCandidate, check.role == .controlling { completeNomination(of: check.pair) }
  }

  /// Sets the valid pair's local candidate to the one with the address that the peer saw (RFC 8445 sections 7.2.5.3.1
  /// and 7.2.5.3.2).
  private mutating func learnLocal(_ mapped: Endpoint, _ g: Int, _ index: Int) {
    let pair = generations[g].checklist.pairs[index]
    guard pair.local.endpoint != mapped else { return }
    let known = generations[g].localCandidates.first { $0.base == pair.base && $0.candidate.endpoint == mapped }
    let candidate: ICECandidate
    if let known {
      candidate = known.candidate
    } else {
      guard generations[g].localCandidates.count < candidateLimit else { return }
      candidate = ICECandidate(
        .peerReflexive, at: mapped, priority: ICEPriority.peerReflexive(like: pair.local.priority),
        foundation: nextReflexiveFoundation(), related: pair.base)
      generations[g].localCandidates.append(
        ICEGeneration.LocalCandidate(candidate: candidate, base: pair.base, network: pair.network))
      events.append(.peerReflexiveDiscovered(candidate, isLocal: true))
    }
    generations[g].checklist.update(index) { $0.local = candidate }
    reprioritize(g)
    forgetUnusedReflexives(in: g)
  }
}
