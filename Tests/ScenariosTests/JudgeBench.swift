import CallCore
import PeerSession
import Profiles
import SimNet
import Statistics
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge

/// A judge with one expectation and a trace that the test writes by hand. Times are milliseconds.
final class JudgeBench {
  let trace = Trace()
  let watch: Watch
  let anchors: Anchors
  let judge: Judge
  /// What crosses it the test says.
  let wire = WireTap()
  /// What peers' statistics are the test says, if anybody does.
  let statistics = StatsReader()
  private var states: [String: String] = [:]

  init(_ kinds: [Expectation.Kind], _ change: (inout Scenario) -> Void = { _ in }) {
    var scenario = Scenario()
    for name in ["alice", "bob"] {
      var peer = Scenario.Peer()
      peer.name = name
      peer.profile = Located("knotos")
      scenario.peers.append(peer)
    }
    scenario.expectations = kinds.map { kind in
      Expectation(kind: kind)
    }
    // The test says when the run ends.
    scenario.duration = .minutes(10)
    change(&scenario)
    let story = StoryCollector(scenario, trace: trace)
    watch = Watch(trace: trace)
    anchors = Anchors(scenario, watch: watch)
    judge = Judge(
      MonitorContext(
        scenario: scenario, watch: watch, anchors: anchors, profiles: ProfileRegistry(checked: [KnotosApp.vocabulary]),
        wire: wire, statistics: statistics, story: story))
    for peer in ["alice", "bob"] { write(peer, "call.state", state: "idle") }
  }

  convenience init(_ kind: Expectation.Kind, _ change: (inout Scenario) -> Void = { _ in }) {
    self.init([kind], change)
  }

  deinit {
    watch.close()
    wire.close()
  }

  /// All that `body` writes is one event of the world.
  func asOneEvent(_ body: () -> Void) {
    var work: [() -> Void] = []
    watch.afterWorldEvent = { work.append($0) }
    body()
    watch.afterWorldEvent = { $0() }
    for item in work { item() }
  }

  func at(_ milliseconds: Int64) { trace.now = Instant.zero + .milliseconds(milliseconds) }

  /// Moves a peer's call state.
  func move(_ peer: String, to state: String, at milliseconds: Int64) {
    at(milliseconds)
    write(peer, "call.state", state: state)
  }

  private func write(_ peer: String, _ machine: String, state: String) {
    let from = states[peer] ?? state
    states[peer] = state
    trace.write(PeerEvents.state(machine), trace.subject(peer), state, from, "test")
  }

  func set(_ peer: String, _ name: String, _ value: Bool, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.value(name, Bool.self), trace.subject(peer), value)
  }

  func set(_ peer: String, _ name: String, _ value: Int, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.value(name, Int.self), trace.subject(peer), value)
  }

  func end(_ peer: String, _ code: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.callEnded, trace.subject(peer), code)
  }

  func act(_ peer: String, _ action: String, to callee: String = "", at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.action, trace.subject(peer), action, callee)
  }

  func refuse(_ peer: String, _ action: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.actionRefused, trace.subject(peer), action, "busy")
  }

  /// The app says which call it is in.
  func begin(_ peer: String, _ id: String, with other: String, beside calls: String? = nil, at milliseconds: Int64) {
    at(milliseconds)
    if let calls { trace.write(PeerEvents.callsBeside, trace.subject(peer), calls) }
    for (name, value) in [("call.id", id), ("call.peer", other)] {
      trace.write(PeerEvents.value(name, String.self), trace.subject(peer), value)
    }
  }

  func activateAudioSession(_ peer: String, _ category: String, isActive: Bool = true, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(
      PeerEvents.audioSession, trace.subject(peer), isActive ? "active" : "inactive", category,
      "voiceChat")
  }

  func restartICE(_ peer: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerConnectionEvents.restart, trace.subject(peer), "self")
  }

  /// A media packet at a peer's interface.
  func onWire(
    _ peer: String, _ direction: LinkDirection, at milliseconds: Int64, sequence: UInt16 = 0, prefix: UInt64? = 2,
    bytes: Int = 116, transport: TransportProtocol = .udp, timestamp: UInt32 = 0
  ) {
    at(milliseconds)
    wire.tell(
      WireMedia(
        peer: peer, direction: direction, transport: transport, ssrc: 7, sequence: sequence, timestamp: timestamp,
        byteCount: bytes, prefix: prefix, identity: UInt64(sequence), time: trace.now))
  }

  /// The session says so.
  func mediaSent(_ peer: String, at milliseconds: Int64, prefix: UInt64 = 1, bytes: Int = 100) {
    at(milliseconds)
    trace.write(PeerConnectionEvents.mediaSent, trace.subject(peer), 7, bytes, prefix)
  }

  func mediaReceived(_ peer: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerConnectionEvents.mediaReceived, trace.subject(peer), 7, 100)
  }

  /// Fires a timeline entry.
  func fire(_ entry: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(RunEvents.fired, trace.subject("scenario"), entry)
    anchors.entryFired(entry, at: trace.now)
  }

  /// A timeline entry fires, and its fault begins.
  func apply(_ entry: String, at milliseconds: Int64) {
    fire(entry, at: milliseconds)
    fault(RunEvents.faultApplied, entry, at: milliseconds)
  }

  /// The fault that the entry began first ends, by itself or because it was cleared.
  func clear(_ entry: String, at milliseconds: Int64) { fault(RunEvents.faultCleared, entry, at: milliseconds) }

  private func fault(_ what: TraceEvent<String, String>, _ entry: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(what, trace.subject("scenario"), entry, "some")
  }

  /// From now on Bob's statistics say so.
  func report(packetsReceived number: Int64?) {
    let members = number.map { [("packetsReceived", StatsReport.Value.integer($0))] } ?? []
    let entry = StatsReport.Entry(id: "IA", type: "inbound-rtp", kind: "audio", members: members)
    statistics.report = { _ in StatsReport(entries: [entry]) }
  }

  /// Ends the run and gives the result of the only expectation.
  func finish(at milliseconds: Int64) -> ExpectationResult { finishAll(at: milliseconds)[0] }

  func finishAll(at milliseconds: Int64) -> [ExpectationResult] {
    at(milliseconds)
    judge.finish(at: trace.now)
    return judge.results
  }

  var findings: [String] { judge.invariants.violations.map { "\($0.title): \($0.actual)" } }
}

// MARK: - Short forms of the document

extension ValuePath {
  static func of(_ peer: String, _ name: String, _ type: ValueType = .count, unit: String? = nil) -> ValuePath {
    ValuePath(
      subject: peer, name: name, type: type, unit: unit, counting: CommonVocabulary.value(name)?.counting,
      span: .builtIn)
  }
}

extension Predicate {
  static func state(_ peer: String, _ state: String) -> Predicate {
    Predicate(.compare(.value(.of(peer, "call.state", .text)), .equal, .literal(.text(state))))
  }
  static func both(_ a: Predicate, _ b: Predicate) -> Predicate { Predicate(.and([a, b])) }
  static func flag(_ peer: String, _ name: String) -> Predicate { Predicate(.holds(.value(.of(peer, name, .flag)))) }
  static func less(_ path: ValuePath, _ count: Int) -> Predicate {
    Predicate(.compare(.value(path), .less, .literal(.count(count))))
  }
}

extension Anchor {
  static func entry(_ id: String) -> Anchor { Anchor(kind: .entry(id), span: .builtIn, text: id) }
  static func time(_ milliseconds: Int64) -> Anchor {
    Anchor(kind: .time(.zero + .milliseconds(milliseconds)), span: .builtIn, text: "\(milliseconds)ms")
  }
  static func state(_ peer: String, _ state: String) -> Anchor {
    Anchor(
      kind: .entersState(subject: peer, machine: "call.state", state: state), span: .builtIn, text: "\(peer).\(state)")
  }
  static func becomes(_ peer: String, _ name: String) -> Anchor {
    Anchor(kind: .becomesTrue(subject: peer, value: name), span: .builtIn, text: "\(peer).\(name)")
  }
  static func event(_ peer: String, _ name: String) -> Anchor {
    Anchor(kind: .event(subject: peer, name: name), span: .builtIn, text: "\(peer).\(name)")
  }
}

extension Expectation.Bound {
  static func less(_ value: Value) -> Self { Self(comparison: .less, value: value, span: .builtIn) }
  static func atLeast(_ value: Value) -> Self { Self(comparison: .greaterOrEqual, value: value, span: .builtIn) }
  static func exactly(_ value: Value) -> Self { Self(comparison: .equal, value: value, span: .builtIn) }
}

extension Expectation.Kind {
  static func always(_ predicate: Predicate, from: Anchor? = nil, to: Anchor? = nil) -> Self {
    var invariably = Expectation.Invariably()
    (invariably.predicate, invariably.window) = (predicate, Window(from: from, to: to))
    return .always(invariably)
  }

  static func never(_ predicate: Predicate, from: Anchor? = nil, to: Anchor? = nil) -> Self {
    guard case .always(let invariably) = Self.always(predicate, from: from, to: to) else { preconditionFailure() }
    return .never(invariably)
  }

  static func eventually(
    _ predicate: Predicate, within: Int64? = nil, of: Anchor? = nil, hold: Int64? = nil
  ) -> Self {
    var eventually = Expectation.Eventually()
    eventually.predicate = predicate
    eventually.within = within.map(Interval.milliseconds)
    eventually.of = of
    eventually.hold = hold.map(Interval.milliseconds)
    return .eventually(eventually)
  }

  static func ends(_ peer: String, _ codes: String..., within: Int64? = nil, of: Anchor? = nil) -> Self {
    var ends = Expectation.Ends()
    (ends.peer, ends.codes, ends.of) = (Located(peer), codes.map { Located($0) }, of)
    ends.within = within.map(Interval.milliseconds)
    return .ends(ends)
  }

  static func leads(_ condition: Predicate, to consequence: Predicate, within: Int64) -> Self {
    var leads = Expectation.LeadsTo()
    (leads.condition, leads.consequence, leads.within) = (condition, consequence, .milliseconds(within))
    return .leadsTo(leads)
  }

  static func sequence(
    _ peer: String, _ steps: [(String, by: Int64?)], strict: Bool = false, of: Anchor? = nil,
    between: Window = Window()
  ) -> Self {
    var sequence = Expectation.Sequence()
    sequence.value = .of(peer, "call.state", .text)
    sequence.steps = steps.map { state, by in
      var step = Expectation.Sequence.Step()
      (step.value, step.by) = (Located(state), by.map(Interval.milliseconds))
      return step
    }
    (sequence.isStrict, sequence.of, sequence.between) = (strict, of, between)
    return .sequence(sequence)
  }

  static func set(
    _ peer: String, _ states: [String], strict: Bool = false, between: Window = Window()
  ) -> Self {
    var set = Expectation.SetOf()
    set.value = .of(peer, "call.state", .text)
    (set.contains, set.isStrict, set.between) = (states.map { Located($0) }, strict, between)
    return .set(set)
  }

  static func count(_ anchor: Anchor, _ bound: Expectation.Bound, from: Anchor? = nil, to: Anchor? = nil) -> Self {
    var count = Expectation.Count()
    (count.subject, count.bounds, count.between) = (.anchor(anchor), [bound], Window(from: from, to: to))
    return .count(count)
  }

  static func count(_ predicate: Predicate, _ bound: Expectation.Bound) -> Self {
    var count = Expectation.Count()
    (count.subject, count.bounds) = (.predicate(predicate), [bound])
    return .count(count)
  }

  static func recovers(
    _ fault: String, to target: Expectation.Recovers.Target = .mediaBothWays, within: Int64, hold: Int64? = nil
  ) -> Self {
    var recovers = Expectation.Recovers()
    (recovers.fault, recovers.to, recovers.within) = (Located(fault), target, .milliseconds(within))
    recovers.hold = hold.map(Interval.milliseconds)
    return .recovers(recovers)
  }

  static func metric(
    _ path: ValuePath, _ statistic: Expectation.Statistic, _ bound: Expectation.Bound, from: Anchor? = nil,
    to: Anchor? = nil, across: Expectation.Across = .run
  ) -> Self {
    var metric = Expectation.Metric()
    (metric.value, metric.statistic, metric.bounds, metric.across) = (path, statistic, [bound], across)
    metric.window = Window(from: from, to: to)
    return .metric(metric)
  }
}

/// The testing library has an `Expectation` as well.
typealias Wanted = ScenarioFormat.Expectation

extension Scenario.Peer {
  /// A peer with one connection at a time, and all else as it is without keys.
  static func named(_ name: String) -> Scenario.Peer {
    var peer = Scenario.Peer()
    peer.name = name
    return peer
  }
}
