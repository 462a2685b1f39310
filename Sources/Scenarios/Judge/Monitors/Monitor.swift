package import CallCore
package import ScenarioFormat
internal import Vocabulary

/// One expectation at work: told of events through its conditions and anchors, and of time through alarms.
///
/// Whatever it hears within an event it only notes; it looks when the event is over, at values that belong together.
protocol Monitor: AnyObject {
  var ruling: Ruling { get }
  /// Whether it waits for anything but the end of the run.
  var isPending: Bool { get }
  /// The run is over.
  func finish(at time: Instant)
}

/// The verdict on one expectation: the first decision stands, unless what comes after the run overrules it.
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
  /// How far a failure is from what was expected; see ``Finding/miss``.
  private(set) var miss: Double?
  /// Explains a failure, or what was not put to the test, at the moment when it is decided: what was so then, not what is
  /// left at the end.
  var explain: ((ExpectationResult.Verdict, Instant) -> Explanation.Finding?)? { didSet { explainDecision() } }
  private(set) var explanation: Explanation.Finding?

  init(expected: String) { self.expected = expected }

  var isOpen: Bool { decision == nil }

  /// Whether the run is over: what comes true after it is the harness's doing.
  private var isOver = false

  func end() { isOver = true }

  /// What came after a failure: that the thing expected came true all the same, only too late.
  private var afterwards: String?

  /// How close a failure came, and what came after it.
  var nearestMiss: String? {
    let parts = [decision?.nearestMiss, afterwards].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// Notes that what was expected by the time of the failure came true at `time`; only the first counts.
  func cameTrue(at time: Instant, _ what: String) {
    guard !isOver, let decision, decision.verdict == .fail, afterwards == nil, time > decision.time else { return }
    let lateness = time - decision.time
    let rounded = Interval.microseconds(lateness.nanoseconds / 1_000)
    afterwards = "\(what) at \(Wording.time(time)), \(rounded > .zero ? rounded : lateness) too late"
    if miss != nil { miss = lateness.seconds }
  }

  /// - Parameter miss: of a failure, how far it is from what was expected; of a deadline that is over it is infinite
  ///   until ``cameTrue(at:_:)``.
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

  /// Another verdict takes the place of the decision, of the same time.
  func overrule(_ verdict: ExpectationResult.Verdict, _ actual: String) {
    guard let old = decision else { return }
    (miss, afterwards, explanation) = (nil, nil, nil)
    decision = Decision(verdict: verdict, time: old.time, actual: actual)
  }
}

/// What every monitor is made with.
package struct MonitorContext {
  package let scenario: Scenario
  package let watch: Watch
  package let anchors: Anchors
  let profiles: ProfileRegistry
  package let wire: WireTap
  package let statistics: StatsReader
  /// What has happened so far, as people are told it.
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

  /// The peer's main state machine; nil for a puppet.
  func mainMachine(of peer: String) -> StateMachine? { vocabulary(of: peer)?.machines.first }

  func vocabulary(of peer: String) -> ProfileVocabulary? {
    scenario.peer(peer)?.profile.flatMap { profiles.vocabulary($0.value) }
  }

  func condition(_ predicate: Predicate) -> Condition { Condition(predicate, watch: watch) }
  /// Looks, once whatever is happening now is over.
  func later(_ look: @escaping (Instant) -> Void) {
    watch.afterEvent { [trace] in look(trace.now) }
  }

  /// Begins what counts from an anchor: at its first coming, or from the start of the run without one. A point in time
  /// comes before everything that happens at it.
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

  /// What the predicate reads of what nobody has set yet, or nil.
  ///
  /// `and` and `or` are known without it where other parts decide. But what a value that was never set might have
  /// broken was not put to the test, so that whoever says that something holds throughout asks for it.
  func unset(in predicate: Predicate) -> String? { PredicateAccount(watch: watch).unset(in: predicate) }

  /// When any of what an expectation reads changed last.
  func lastChange(in expectation: Expectation) -> Instant? {
    expectation.values.compactMap { watch.changedAt(watch.slot($0.subject, $0.name)) }.max()
  }

  func account(_ predicate: Predicate) -> String { PredicateAccount(watch: watch).account(of: predicate) }
}
