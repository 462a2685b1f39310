package import CallCore
internal import STUN

/// A full ICE agent for one component of one stream (RFC 8445), with trickle (RFC 8838), consent freshness (RFC 7675),
/// and libwebrtc's rules for keeping pairs alive and for failover between them.
///
/// The driver gathers: it adds local candidates, each with the socket that it sends from. The base of a relayed
/// candidate is its relayed address; the driver sends packets from there through TURN, which the agent does not see.
/// Pass only STUN datagrams to ``receive(_:on:at:)``.
package struct ICEAgent: ~Copyable, SansIO {
  package typealias Event = ICEEvent

  package let settings: ICESettings
  package internal(set) var role: ICERole
  package internal(set) var connectionState = ICEConnectionState.new
  package internal(set) var counters = ICECounters()
  package internal(set) var wake = Wake.never
  /// The path for media, or nil when none may be sent: no pair is selected, or the selected one was given up.
  package internal(set) var sendingPath: Path?
  /// The time at which the peer's consent for the sending path ends.
  var consentEndsAt: Instant?

  /// The current generation, followed by the one that it replaces as long as that has pairs.
  var generations: [ICEGeneration]
  /// The pair that carries media, of either generation.
  var selected: ICECandidatePair.ID?
  /// The pair that an agent with regular nomination is nominating.
  var nominating: ICECandidatePair.ID?
  /// The peer's earlier user name fragments: messages for them are late; other unknown fragments are early.
  var retiredUfrags: [String] = []
  var remoteIsLite = false
  var tieBreaker: UInt64
  var random: RandomStream
  var now: Instant
  /// The earliest time of the next check, and of the next check that is not urgent.
  var nextCheckAt: Instant
  var nextUnhurriedCheckAt: Instant
  /// Whether a selected pair has worked, at any time or since a restart from a broken state.
  var hasConnected = false
  var hasSelected = false
  /// The time at which an active pair was removed with its relay.
  var pathsWithdrawnAt: Instant?
  var nextPairNumber: UInt32 = 1
  var nextReflexiveNumber = 1
  var transactions: [CheckTransaction] = []
  var outgoing = FIFO<(bytes: [UInt8], path: Path)>()
  var events = FIFO<ICEEvent>()

  /// Creates an agent.
  ///
  /// - Parameter role: controlling for the side that makes the first offer (RFC 8445 section 6.1.1); a lite agent is
  ///   always controlled.
  package init(role: ICERole, settings: ICESettings = ICESettings(), random: consuming RandomStream, at now: Instant) {
    self.settings = settings
    self.role = settings.isLite ? .controlled : role
    var random = random
    tieBreaker = random.next()
    generations = [ICEGeneration(number: 0, local: ICECredentials(from: &random))]
    self.random = random
    self.now = now
    nextCheckAt = now
    nextUnhurriedCheckAt = now
  }

  // MARK: Reading

  /// The credentials to signal to the peer; ``restart(at:)`` changes them.
  package var localCredentials: ICECredentials { current.local }
  package var remoteCredentials: ICECredentials? { current.remote }
  /// The number of restarts so far.
  package var generation: Int { current.number }
  /// Whether a pair of the current generation has ever carried media.
  package var hasUsedCurrentGeneration: Bool { current.hasBeenUsed }
  /// Returns whether the agent still holds a generation: its pairs carry media, may be used again, or respond to
  /// checks.
  package func holds(generation: Int) -> Bool { generations.contains { $0.number == generation } }
  /// The local candidates of the current generation, including discovered ones, without withdrawn ones.
  package var localCandidates: [ICECandidate] { current.localCandidates.filter { !$0.isWithdrawn }.map(\.candidate) }
  package var remoteCandidates: [ICECandidate] { current.remoteCandidates }
  /// The pairs of the current generation, best first.
  package var pairs: [ICECandidatePair] { current.checklist.pairs }

  /// The pair that carries media. During a restart it belongs to the old generation, until a new pair works.
  package var selectedPair: ICECandidatePair? { pair(selected) }

  /// Whether media may be sent now.
  package var canSend: Bool { sendingPath != nil }

  /// Returns the path for media at a time for which no timer has run yet: a device that wakes from sleep may send
  /// before it has processed the end of consent (RFC 7675 section 5.1).
  package func sendingPath(at now: Instant) -> Path? {
    if let consentEndsAt, consentEndsAt <= now, !Defect.consentOutlivesSuspension.isPlanted { return nil }
    return sendingPath
  }

  var current: ICEGeneration {
    _read { yield generations[0] }
    _modify { yield &generations[0] }
  }

  // MARK: SansIO

  package mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    guard enter(at: now) else { return }
    // A response that was queued while the device slept must not renew consent that has ended.
    for g in generations.indices where !Defect.consentOutlivesSuspension.isPlanted { expireConsent(g) }
    defer { settle() }
    guard let message = try? STUNMessage(parsing: datagram), message.method == .binding else {
      counters.malformed &+= 1
      return
    }
    switch message.messageClass {
    case .request: handleRequest(message, on: path)
    case .indication: markReceived(on: path, isData: false)
    case .successResponse, .errorResponse: handleResponse(message, on: path)
    }
  }

  package mutating func advance(to now: Instant) {
    // Whoever advances the whole session does so at the deadline of any of its machines.
    guard enter(at: now), let deadline = wake.deadline, deadline <= self.now else { return }
    settle()
  }

  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    guard let (bytes, path) = outgoing.popFirst() else { return nil }
    buffer.append(contentsOf: bytes.span.bytes)
    return path
  }

  package mutating func nextEvent() -> ICEEvent? { events.popFirst() }

  // MARK: Media on the selected pair

  /// Records that a packet other than STUN arrived on `path`. It shows that the pair receives, but does not renew
  /// consent.
  ///
  /// - Returns: whether the path belongs to a pair.
  @discardableResult
  package mutating func markReceived(on path: Path, at now: Instant) -> Bool {
    guard enter(at: now) else { return false }
    let wasActive = locateSelected().map { generations[$0.g].checklist.pairs[$0.index].isActive } ?? false
    guard let id = markReceived(on: path, isData: true) else { return false }
    // The controlling side may have switched to this pair, or a pair that was given up, the selected one too, may need
    // another check.
    if id != selected || !wasActive { settle() }
    return true
  }

  /// Records that a packet other than STUN was sent on the selected pair, so that no keepalive is needed.
  package mutating func markSent(at now: Instant) {
    guard enter(at: now), let (g, index) = locateSelected() else { return }
    generations[g].checklist.update(index) { [now = self.now] in $0.lastSentAt = now }
  }

  /// Records a received packet. If both generations have a pair on the path, it counts for the newer one.
  @discardableResult
  private mutating func markReceived(on path: Path, isData: Bool) -> ICECandidatePair.ID? {
    for g in generations.indices {
      guard let index = generations[g].checklist.index(base: path.local, remote: path.remote) else { continue }
      noteReceived(g, index)
      if isData {
        generations[g].checklist.update(index) { [now] in $0.lastDataAt = now }
        if !generations[g].checklist.pairs[index].isActive { revive(g, index) }
      }
      return generations[g].checklist.pairs[index].id
    }
    return nil
  }

  mutating func noteReceived(_ g: Int, _ index: Int) {
    let wasReceiving = isReceiving(generations[g].checklist.pairs[index])
    generations[g].checklist.update(index) { [now] in
      if !wasReceiving { $0.receivingSince = now }
      $0.lastReceivedAt = now
    }
  }

  /// Closes the agent: it sends nothing more and sets no timer.
  package mutating func close(at now: Instant) {
    guard enter(at: now) else { return }
    generations = [ICEGeneration(number: current.number, local: current.local)]
    selected = nil
    nominating = nil
    transactions = []
    outgoing.removeAll()
    setState(.closed)
    sendingPath = nil
    consentEndsAt = nil
    wake = .never
  }

  // MARK: Steps

  /// Advances the time; returns false when the agent is closed.
  mutating func enter(at now: Instant) -> Bool {
    self.now = max(self.now, now)
    return connectionState != .closed
  }

  /// Processes the consequences of a change, in this order: expiry, selection, packets to send, state and events.
  mutating func settle() {
    expire()
    chooseSelection()
    prunePairs()
    retireGeneration()
    sendDueCheck()
    sendKeepalive()
    updateState()
    let carrying = selectedPair.flatMap { $0.isActive ? $0 : nil }
    sendingPath = carrying?.path
    consentEndsAt = carrying.flatMap { consentDeadline($0) }
    wake = nextWake()
  }

  func locate(_ id: ICECandidatePair.ID) -> (g: Int, index: Int)? {
    for g in generations.indices {
      if let index = generations[g].checklist.index(of: id) { return (g, index) }
    }
    return nil
  }

  /// Whether any pair is active.
  var hasActivePair: Bool { generations.contains { $0.checklist.pairs.contains(where: \.isActive) } }

  func locateSelected() -> (g: Int, index: Int)? { selected.flatMap { locate($0) } }

  func pair(_ id: ICECandidatePair.ID?) -> ICECandidatePair? {
    guard let id, let (g, index) = locate(id) else { return nil }
    return generations[g].checklist.pairs[index]
  }
}
