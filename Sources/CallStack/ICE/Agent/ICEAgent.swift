package import CallCore
internal import STUN

/// A full ICE agent for one component of one stream (RFC 8445), with trickle (RFC 8838), consent freshness (RFC 7675),
/// and libwebrtc's way of keeping pairs alive and failing over between them.
///
/// Gathering is outside: the driver adds local candidates, each with the socket it sends from. A relayed candidate's
/// base is its relayed address; the driver routes what is sent from there through TURN, and the agent never knows.
/// Give ``receive(_:on:at:)`` STUN datagrams only.
package struct ICEAgent: ~Copyable, SansIO {
  package typealias Event = ICEEvent

  package let settings: ICESettings
  package internal(set) var role: ICERole
  package internal(set) var connectionState = ICEConnectionState.new
  package internal(set) var counters = ICECounters()
  package internal(set) var wake = Wake.never
  /// The path for media, or nil when none may be sent: no pair is selected, or the selected one was given up.
  package internal(set) var sendingPath: Path?
  /// When the peer's consent to send there runs out.
  var consentEndsAt: Instant?

  /// The current generation, then the one it replaces, until nothing is left of that one.
  var generations: [ICEGeneration]
  /// The pair that carries media, of either generation.
  var selected: ICECandidatePair.ID?
  /// The pair that a regularly nominating agent asks the peer for.
  var nominating: ICECandidatePair.ID?
  /// The peer's earlier user name fragments: what belongs to them is late, anything else unknown is early.
  var retiredUfrags: [String] = []
  var remoteIsLite = false
  var tieBreaker: UInt64
  var random: RandomStream
  var now: Instant
  /// When pacing allows the next check, and the next one that nothing hurries.
  var nextCheckAt: Instant
  var nextUnhurriedCheckAt: Instant
  /// Whether a selected pair has ever worked, or has since a restart from a broken state.
  var hasConnected = false
  var hasSelected = false
  /// When a working pair went with its relay, and not by silence.
  var pathsWithdrawnAt: Instant?
  var nextPairNumber: UInt32 = 1
  var nextReflexiveNumber = 1
  var transactions: [CheckTransaction] = []
  var outgoing = FIFO<(bytes: [UInt8], path: Path)>()
  var events = FIFO<ICEEvent>()

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

  /// What to signal to the peer; new after ``restart(at:)``.
  package var localCredentials: ICECredentials { current.local }
  package var remoteCredentials: ICECredentials? { current.remote }
  /// How many restarts there were.
  package var generation: Int { current.number }
  /// Whether a pair of the current generation has ever carried media.
  package var hasUsedCurrentGeneration: Bool { current.hasBeenUsed }
  /// Whether a generation's pairs carry media, may be returned to, or answer checks.
  package func holds(generation: Int) -> Bool { generations.contains { $0.number == generation } }
  /// Local candidates of the current generation, discovered ones included, and those that are gone not.
  package var localCandidates: [ICECandidate] { current.localCandidates.filter { !$0.isWithdrawn }.map(\.candidate) }
  package var remoteCandidates: [ICECandidate] { current.remoteCandidates }
  /// The pairs of the current generation, best first.
  package var pairs: [ICECandidatePair] { current.checklist.pairs }

  /// The pair that carries media: during a restart one of the old generation, until one of the new works.
  package var selectedPair: ICECandidatePair? { pair(selected) }

  /// Whether media may be sent now.
  package var canSend: Bool { sendingPath != nil }

  /// The path for media at a time for which no timer has run yet: a device that slept may have something to send before
  /// it learns that consent has run out (RFC 7675 section 5.1).
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
    // A response that waited while the device slept is too late to renew anything.
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
    if enter(at: now) { settle() }
  }

  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    guard let (bytes, path) = outgoing.popFirst() else { return nil }
    buffer.append(contentsOf: bytes.span.bytes)
    return path
  }

  package mutating func nextEvent() -> ICEEvent? { events.popFirst() }

  // MARK: Media on the selected pair

  /// Tells that something other than STUN arrived on `path`: it proves that the pair receives, never consent.
  ///
  /// - Returns: whether the path is that of a pair.
  @discardableResult
  package mutating func markReceived(on path: Path, at now: Instant) -> Bool {
    guard enter(at: now), let id = markReceived(on: path, isData: true) else { return false }
    // The controlling side may have moved there, or what was given up may be worth another check.
    if id != selected { settle() }
    return true
  }

  /// Tells that something other than STUN was sent on the selected pair, so that no keepalive is needed.
  package mutating func markSent(at now: Instant) {
    guard enter(at: now), let (g, index) = locateSelected() else { return }
    generations[g].checklist.update(index) { [now = self.now] in $0.lastSentAt = now }
  }

  /// Of two generations' pairs on one path the newer one is believed to be meant.
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

  /// Ends everything: no datagram and no timer follows.
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

  /// Moves time forward; false when the agent is closed.
  mutating func enter(at now: Instant) -> Bool {
    self.now = max(self.now, now)
    return connectionState != .closed
  }

  /// What follows every change, in this order: what is overdue, what to agree on, what to send, what to tell.
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

  /// Whether any pair is not given up.
  var hasActivePair: Bool { generations.contains { $0.checklist.pairs.contains(where: \.isActive) } }

  func locateSelected() -> (g: Int, index: Int)? { selected.flatMap { locate($0) } }

  func pair(_ id: ICECandidatePair.ID?) -> ICECandidatePair? {
    guard let id, let (g, index) = locate(id) else { return nil }
    return generations[g].checklist.pairs[index]
  }
}
