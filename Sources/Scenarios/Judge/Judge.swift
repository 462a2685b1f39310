package import CallCore
internal import ScenarioFormat

/// Judges one run from the trace as it is written: every expectation of the cell, and the invariants.
///
/// Create it before the world, because it needs the first values. The world must not run past the alarms of its
/// context, which are the times at which the clock alone decides. When ``isSettled`` is true, only the end of the run
/// is missing. The verdicts of ``recoveries`` are final after runs without their faults have been played.
package final class Judge {
  let scenario: Scenario
  private let context: MonitorContext
  private var monitors: [(expectation: Expectation, monitor: any Monitor)] = []
  package private(set) var recoveries: [RecoversMonitor] = []
  private let explanation: Explanation
  package let invariants: InvariantJudge

  package init(_ context: MonitorContext) {
    self.context = context
    scenario = context.scenario
    explanation = Explanation(context)
    invariants = InvariantJudge(context, explanation)
    for expectation in scenario.expectations { add(expectation) }
  }

  private func add(_ expectation: Expectation) {
    let monitor: any Monitor =
      switch expectation.kind {
      case .sequence(let sequence): SequenceMonitor(sequence, context)
      case .set(let set): SetMonitor(set, context)
      case .eventually(let eventually): EventuallyMonitor(eventually, context)
      case .always(let always): InvariablyMonitor(always, isNever: false, context)
      case .never(let never): InvariablyMonitor(never, isNever: true, context)
      case .leadsTo(let leadsTo): LeadsToMonitor(leadsTo, context)
      case .ends(let ends): EndsMonitor(ends, context)
      case .count(let count): CountMonitor(count, context)
      case .recovers(let recovers): monitor(of: recovers)
      case .metric(let metric): MetricMonitor(metric, context)
      case .delta(let delta): MetricMonitor(delta, context)
      case .sometimes(let predicate): SometimesMonitor(predicate, context)
      }
    monitors.append((expectation, monitor))
    // An expectation with a share is not explained for a single run.
    guard expectation.share == nil else { return }
    monitor.ruling.explain = { [unowned self] verdict, time in
      verdict == .vacuous
        ? explanation.explain(untested: expectation, at: time) : explanation.explain(expectation, at: time)
    }
  }

  private func monitor(of recovers: Expectation.Recovers) -> RecoversMonitor {
    let monitor = RecoversMonitor(recovers, context)
    recoveries.append(monitor)
    return monitor
  }

  // MARK: While it runs

  /// Whether every verdict is known that does not depend on the end of the run.
  package var isSettled: Bool { !monitors.contains { $0.monitor.isPending } }

  /// Advances the judge after all events up to and including `time`.
  func advance(to time: Instant) { context.alarms.fire(through: time) }

  /// Explains, at this moment, an outcome that differs from the file.
  package func explain(at time: Instant) -> Explanation.Finding {
    explanation.explain(peers: scenario.peers.prefix(4).map(\.name), at: time)
  }

  /// Returns the window of an expectation: from its anchor, if that came, to the end of the window or the decision.
  private func window(of expectation: Expectation, until decision: Instant) -> ClosedRange<Instant>? {
    var start: Instant?
    switch expectation.kind {
    case .recovers(let recovers): start = context.anchors.firstFiring(of: recovers.fault.value)
    case .leadsTo(let leadsTo): start = decision - leadsTo.within
    default:
      guard let anchor = expectation.windows.first?.from ?? expectation.origin else { break }
      start = context.anchors.first(anchor)
      // An anchor that never came opens no window.
      if start == nil { return nil }
    }
    let end = expectation.windows.first?.to.flatMap(context.anchors.first) ?? decision
    let from = max(.zero, start ?? .zero)
    return from < end ? from...end : nil
  }

  // MARK: At the end

  /// Decides all open expectations at the end of the run.
  package func finish(at time: Instant) {
    advance(to: time)
    context.anchors.finish(at: time)
    for (_, monitor) in monitors {
      monitor.finish(at: time)
      monitor.ruling.decide(.vacuous, at: time, "it was not decided")
      monitor.ruling.end()
    }
  }

  /// The results of the expectations, in the order of the file, after ``finish(at:)``.
  package var results: [ExpectationResult] {
    monitors.compactMap { expectation, monitor in
      let ruling = monitor.ruling
      guard let decision = ruling.decision else { return nil }
      var result = ExpectationResult(
        expectation: expectation, verdict: decision.verdict, time: decision.time, expected: ruling.expected,
        actual: decision.actual, nearestMiss: ruling.nearestMiss, measured: ruling.measured,
        miss: ruling.miss)
      (result.measuredTime, result.opened, result.closed) = (ruling.measuredTime, ruling.opened, ruling.closed)
      (result.samples, result.course) = (ruling.samples, ruling.course?.points)
      if let share = expectation.share {
        result.verdict = .shared
        // A run that did not test it contributes nothing.
        result.measured = decision.verdict == .vacuous ? nil : decision.verdict == .pass ? 1 : 0
        result.expected = "\(ruling.expected), in \(Wording.bounds(share)) of the runs"
      }
      if let finding = ruling.explanation {
        result.trail = finding.trail
        result.faults = finding.faults
        result.explanation = finding.explanation
        result.courses = finding.courses
      }
      if result.verdict != .pass { result.window = window(of: expectation, until: decision.time) }
      return result
    }
  }
}
