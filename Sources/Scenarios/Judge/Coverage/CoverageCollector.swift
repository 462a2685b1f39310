package import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Collects the coverage of a run from its trace.
///
/// Create it before the world, because it needs the first states. It listens to the kinds of event that it counts and
/// to no other, and writes nothing to the trace.
package final class CoverageCollector {
  /// A peer with an app.
  private struct Peer {
    /// An index of ``CoverageCollector/tallies``.
    let profile: Int
    let mainMachine: String?
    var state: String?
    /// Whether the device has reported the network that it begins with.
    var hasNetwork = false
    /// The newest event, to which a transition of the same instant belongs.
    var newest: (event: RunCoverage.StateEvent, record: TraceRecord)?
  }

  /// The counts of one profile.
  private struct ProfileTally {
    let name: String
    /// The indices of the profile's peers, in the order of the file.
    var peers: [Int] = []
    var transitions = CoverageTally<RunCoverage.Transition>()
    var illegal = CoverageTally<RunCoverage.Transition>()
    var events = CoverageTally<RunCoverage.StateEvent>()
    var joint = CoverageTally<RunCoverage.JointState>()
    var endCodes = CoverageTally<String>()
    var errorCodes = CoverageTally<String>()
    var sent = CoverageTally<String>()
    var received = CoverageTally<String>()
  }

  /// The machines of a peer connection that are counted.
  package static let connectionMachines = [
    PeerConnectionEvents.signalingState, PeerConnectionEvents.iceState, PeerConnectionEvents.dtlsState,
    PeerConnectionEvents.connectionState,
  ]

  private let trace: Trace
  private var peers: [Peer] = []
  private var tallies: [ProfileTally] = []
  private var peerIndex: [String: Int] = [:]
  /// The peers with an interface at a link, by the link's subject.
  private var linkOwners: [String: [Int]] = [:]
  /// The peer of each subject by the subject's id; nil until its first event.
  private var owners: [Int??] = []
  private var isOver = false

  package init(_ context: MonitorContext) {
    trace = context.trace
    var machines: [String] = []
    for peer in context.scenario.peers where peer.stack == .real {
      guard let vocabulary = context.vocabulary(of: peer.name) else { continue }
      add(peer, vocabulary)
      machines += vocabulary.machines.map(\.name)
    }
    guard !peers.isEmpty else { return }
    for machine in machines.inOrderOfAppearance { listenToMachine(machine) }
    for machine in Self.connectionMachines { listenToConnections(machine) }
    listenToEvents()
    listenToNetworks()
    listenToCodes()
  }

  private func add(_ peer: Scenario.Peer, _ vocabulary: ProfileVocabulary) {
    let index = peers.count
    let known = tallies.firstIndex { $0.name == vocabulary.profile }
    if known == nil { tallies.append(ProfileTally(name: vocabulary.profile)) }
    let profile = known ?? tallies.count - 1
    tallies[profile].peers.append(index)
    peers.append(Peer(profile: profile, mainMachine: vocabulary.mainMachine?.name))
    peerIndex[peer.name] = index
    for interface in peer.interfaces { linkOwners["link/" + interface.link, default: []].append(index) }
  }

  /// Ends the collection: all further events are caused by the end of the run.
  package func end() { isOver = true }

  // MARK: Events

  private func listenToMachine(_ machine: String) {
    trace.listen(to: PeerEvents.state(machine)) { [unowned self] record, state, old, event in
      guard let peer = peer(of: record) else { return }
      // A peer writes its initial states as transitions to themselves.
      let isInitial = event == "start" && state == old
      if !isInitial { tallies[peers[peer].profile].transitions.add(.init(machine, old, state, on: event)) }
      if machine == peers[peer].mainMachine { change(peer, record, from: isInitial ? nil : old, to: state, on: event) }
    }
  }

  private func change(_ peer: Int, _ record: TraceRecord, from old: String?, to state: String, on event: String) {
    let profile = peers[peer].profile
    peers[peer].state = state
    if let old {
      tallies[profile].events.add(.init(old, .cause, event, isFollowed: true))
      // The event was counted without a transition.
      if let (newest, cause) = peers[peer].newest, newest.state == old, record.followed(from: cause) {
        tallies[profile].events.remove(newest)
        var followed = newest
        followed.isFollowed = true
        tallies[profile].events.add(followed)
      }
      peers[peer].newest = nil
    }
    let states = tallies[profile].peers.compactMap { peers[$0].state }
    // Peers report their first states one after another.
    if states.count == tallies[profile].peers.count { tallies[profile].joint.add(.init(states)) }
  }

  private func listenToConnections(_ machine: TraceEvent<String, String>) {
    trace.listen(to: machine) { [unowned self] record, state, old in
      guard state != old, let peer = peer(of: record) else { return }
      tallies[peers[peer].profile].transitions.add(.init(machine.name, old, state, on: ""))
    }
  }

  private func listenToEvents() {
    trace.listen(to: PeerEvents.action) { [unowned self] record, action, _ in
      if let peer = peer(of: record) { note(.action, action, at: peer, record) }
    }
    trace.listen(to: ServerEvents.messageReceived) { [unowned self] record, type, _ in
      guard let peer = peer(of: record) else { return }
      tallies[peers[peer].profile].received.add(type)
      note(.message, type, at: peer, record)
    }
    trace.listen(to: ServerEvents.messageSent) { [unowned self] record, type, _, isLost in
      if !isLost, let peer = peer(of: record) { tallies[peers[peer].profile].sent.add(type) }
    }
  }

  private func listenToNetworks() {
    trace.listen(to: NetworkEvents.linkState) { [unowned self] record, state in
      guard !isOver else { return }
      for peer in linkOwners[trace.name(of: record.subject)] ?? [] { note(.network, "link \(state)", at: peer, record) }
    }
    trace.listen(to: NetworkEvents.interfaceState) { [unowned self] record, state, _ in
      if let peer = peer(of: record) { note(.network, "interface \(state)", at: peer, record) }
    }
    trace.listen(to: PeerEvents.network) { [unowned self] record, _ in
      guard let peer = peer(of: record) else { return }
      if peers[peer].hasNetwork { note(.network, "network change", at: peer, record) }
      peers[peer].hasNetwork = true
    }
  }

  private func listenToCodes() {
    trace.listen(to: PeerEvents.callEnded) { [unowned self] record, code in
      if let peer = peer(of: record) { tallies[peers[peer].profile].endCodes.add(code) }
    }
    trace.listen(to: PeerEvents.code) { [unowned self] record, code in
      if let peer = peer(of: record) { tallies[peers[peer].profile].errorCodes.add(code) }
    }
    trace.listen(to: PeerEvents.illegalTransition) { [unowned self] record, machine, old, new, event in
      guard let peer = peer(of: record) else { return }
      tallies[peers[peer].profile].illegal.add(.init(machine, old, new, on: event))
    }
  }

  private func note(_ kind: RunCoverage.EventKind, _ name: String, at peer: Int, _ record: TraceRecord) {
    guard let state = peers[peer].state else { return }
    let event = RunCoverage.StateEvent(state, kind, name, isFollowed: false)
    tallies[peers[peer].profile].events.add(event)
    peers[peer].newest = (event, record)
  }

  /// Returns the peer that an event is about, directly or through one of its connections.
  private func peer(of record: TraceRecord) -> Int? {
    if isOver { return nil }
    let id = Int(record.subject.id)
    while owners.count <= id { owners.append(nil) }
    if let known = owners[id] { return known }
    let owner = peerIndex[ConnectionSubject.owner(of: trace.name(of: record.subject))]
    owners[id] = .some(owner)
    return owner
  }

  // MARK: Reading

  /// The coverage so far.
  package var coverage: RunCoverage {
    var coverage = RunCoverage()
    coverage.profiles = tallies.sorted { $0.name < $1.name }.map { tally in
      var profile = RunCoverage.Profile(tally.name)
      profile.transitions = tally.transitions.sorted
      profile.illegal = tally.illegal.sorted
      profile.events = tally.events.sorted
      profile.joint = tally.joint.sorted
      profile.endCodes = tally.endCodes.sorted
      profile.errorCodes = tally.errorCodes.sorted
      profile.sent = tally.sent.sorted
      profile.received = tally.received.sorted
      return profile
    }
    return coverage
  }
}

/// Counts equal things.
private struct CoverageTally<Element: Hashable & Sendable & Comparable> {
  private var counts: [Element: Int] = [:]

  mutating func add(_ element: Element) { counts[element, default: 0] += 1 }

  mutating func remove(_ element: Element) {
    guard let count = counts[element] else { return }
    counts[element] = count == 1 ? nil : count - 1
  }

  var sorted: [RunCoverage.Counted<Element>] {
    counts.sorted { $0.key < $1.key }.map { RunCoverage.Counted($0.key, $0.value) }
  }
}

extension TraceRecord {
  /// Returns whether this event happened in the same instant as another and by its cause, or because of it.
  fileprivate func followed(from other: TraceRecord) -> Bool {
    time == other.time && (cause == other.cause || cause == other.number)
  }
}
