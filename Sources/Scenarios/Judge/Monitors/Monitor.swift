package import CallCore
package import ScenarioFormat
package import Vocabulary

/// A running expectation. It receives events through its conditions and anchors, and time through alarms.
///
/// Within an event it only takes notes; it decides after the event, when the values are consistent.
protocol Monitor: AnyObject {
  var ruling: Ruling { get }
  /// Whether it waits for anything except the end of the run.
  var isPending: Bool { get }
  /// Decides at the end of the run.
  func finish(at time: Instant)
}

/// The verdict on one expectation: the first decision stands, unless a later run overrules it.
final class Ruling {
  struct Decision {
    var verdict: ExpectationResult.Verdict
    var time: Instant
    var actual: String
    var nearestMiss: String?
  }

  let expected: String
  private(set) var decision: Decision?
  var measured: Double?
  /// For how long of its window the number of an arm could be measured.
  var measuredTime: Interval?
  /// When the window of the number of an arm opened and closed.
  var opened: Instant?
  var closed: Instant?
  /// The samples of the number of an arm that are compared one by one.
  var samples: [Measurement.Sample] = []
  /// The course of the number of an arm, over the whole run; nil for any other.
  var course: NumberCourse?
  /// The distance of a failure from the expectation; see ``Finding/miss``.
  private(set) var miss: Double?
  /// Explains a failure, or why something was not tested, at the moment of the decision, because the state may change
  /// before the end.
  var explain: ((ExpectationResult.Verdict, Instant) -> Explanation.Finding?)? { didSet { explainDecision() } }
  private(set) var explanation: Explanation.Finding?

  init(expected: String) { self.expected = expected }

  var isOpen: Bool { decision == nil }

  /// Whether the run is over: later changes are caused by the harness.
  private var isOver = false

  func end() { isOver = true }

  /// A note about the time after a failure: the condition became true, but too late.
  private var afterwards: String?

  /// The near miss before a failure, and the note about the time after it.
  var nearestMiss: String? {
    let parts = [decision?.nearestMiss, afterwards].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// Notes that the condition that failed became true at `time`; only the first call counts.
  func cameTrue(at time: Instant, _ what: String) {
    guard !isOver, let decision, decision.verdict == .fail, afterwards == nil, time > decision.time else { return }
    let lateness = time - decision.time
    let rounded = Interval.microseconds(lateness.nanoseconds / 1_000)
    afterwards = "\(what) at \(Wording.time(time)), \(rounded > .zero ? rounded : lateness) too late"
    if miss != nil { miss = lateness.seconds }
  }

  /// Decides the expectation, unless it is decided.
  ///
  /// - Parameter miss: for a failure, its distance from the expectation; for a missed deadline infinite until
  ///   ``cameTrue(at:_:)``.
  func decide(
    _ verdict: ExpectationResult.Verdict, at time: Instant, _ actual: String, nearestMiss: String? = nil,
    miss: Double? = nil
  ) {
    guard isOpen else { return }
    if verdict == .fail { self.miss = miss }
    let decision = Decision(verdict: verdict, time: time, actual: actual, nearestMiss: nearestMiss)
    self.decision = decision
    explainDecision()
  }

  private func explainDecision() {
    guard let decision, decision.verdict != .pass else { return }
    explanation = explain?(decision.verdict, decision.time)
  }

  /// Replaces the verdict and keeps its time.
  func overrule(_ verdict: ExpectationResult.Verdict, _ actual: String) {
    guard let old = decision else { return }
    (miss, afterwards, explanation) = (nil, nil, nil)
    decision = Decision(verdict: verdict, time: old.time, actual: actual)
  }
}

/// The context that every monitor is created with.
package struct MonitorContext {
  package let scenario: Scenario
  package let watch: Watch
  package let anchors: Anchors
  let profiles: ProfileRegistry
  package let wire: WireTap
  package let statistics: StatsReader
  /// The events so far, in the form for display.
  package let story: StoryCollector

  package init(
    scenario: Scenario, watch: Watch, anchors: Anchors, profiles: ProfileRegistry, wire: WireTap,
    statistics: StatsReader, story: StoryCollector
  ) {
    self.scenario = scenario
    self.watch = watch
    self.anchors = anchors
    self.profiles = profiles
    self.wire = wire
    self.statistics = statistics
    self.story = story
  }

  package var trace: Trace { watch.trace }
  package var alarms: Alarms { watch.alarms }

  /// Returns whether a value is the initial one of what has no other yet, and so nothing that it took: what is there when
  /// the run begins, or the first state of a machine.
  func isInitial(_ value: String, of slot: Watch.Slot<TraceDatum>, named name: String, at now: Instant) -> Bool {
    guard watch.eventCount(slot) == 1 else { return false }
    if now == .zero { return true }
    let machines = scenario.peers.flatMap { vocabulary(of: $0.name)?.machines ?? [] } + CommonVocabulary.machines
    return machines.contains { $0.name == name && $0.states.first?.name == value }
  }

  /// Returns the peer's main state machine; nil for a puppet.
  func mainMachine(of peer: String) -> StateMachine? { vocabulary(of: peer)?.machines.first }

  package func vocabulary(of peer: String) -> ProfileVocabulary? {
    scenario.peer(peer)?.profile.flatMap { profiles.vocabulary($0.value) }
  }

  func condition(_ predicate: Predicate) -> Condition { Condition(predicate, watch: watch) }
  /// Calls `look` after the current event.
  func later(_ look: @escaping (Instant) -> Void) {
    watch.afterEvent { [trace] in look(trace.now) }
  }

  /// Calls `start` at the first time of an anchor, or at the start of the run without one. A point in time precedes all
  /// events at it.
  func begin(at anchor: Anchor?, _ start: @escaping (Instant) -> Void) {
    switch anchor?.kind {
    case nil: start(.zero)
    case .time(let time) where time <= .zero: start(.zero)
    case .time(let time): alarms.schedule(at: time - .nanoseconds(1)) { start(time) }
    case .end: break
    default:
      guard let anchor else { break }
      var hasCome = false
      anchors.listen(anchor) { time in
        guard !hasCome else { return }
        hasCome = true
        start(time)
      }
    }
  }

  /// Returns the values of the predicate that were never set, or nil.
  ///
  /// `and` and `or` are known without such a value if other parts decide. But a breach by that value was not tested, so
  /// expectations that something holds throughout query this.
  func unset(in predicate: Predicate) -> String? { PredicateAccount(watch: watch).unset(in: predicate) }

  /// Returns the last change of any value that an expectation reads.
  func lastChange(in expectation: Expectation) -> Instant? {
    expectation.values.compactMap { watch.changedAt(watch.slot($0.subject, $0.name)) }.max()
  }

  func account(_ predicate: Predicate) -> String { PredicateAccount(watch: watch).account(of: predicate) }
}
