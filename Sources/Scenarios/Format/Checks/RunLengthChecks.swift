package import CallCore

/// Checks that the run is long enough for all checks, and that its length is defined.
enum RunLengthChecks {
  static func check(_ scenario: Scenario, _ duration: Located<Interval>?, _ reading: inout Reading) {
    if let duration, duration.value > scenario.limits.virtual {
      let message = "a run of \(duration.value) is longer than limits allow: \(scenario.limits.virtual)"
      let hint = "write limits: { virtual: \(duration.value) }"
      reading.report(.beyondEnd, message, at: duration.span, hint: hint)
    }
    // Entries that could not be read may come later.
    let isWhole = !reading.diagnostics.contains { $0.code.severity == .error }
    for entry in scenario.timeline { checkEnds(entry, scenario, &reading) }
    for expectation in scenario.expectations {
      for (what, deadline) in deadlines(expectation, scenario) where deadline > scenario.latestEnd {
        reportBeyondEnd(what, deadline, expectation.span, scenario, &reading)
      }
      for window in expectation.windows where !reportsBeyondEnd(window, scenario, &reading) && isWhole {
        checkLength(window, expectation, scenario, &reading)
      }
    }
  }

  private static func reportBeyondEnd(
    _ what: String, _ time: Instant, _ span: SourceSpan, _ scenario: Scenario, _ reading: inout Reading
  ) {
    let end = "\(scenario.latestEnd - Instant.zero)"
    let hint = scenario.duration == nil ? "raise limits: { virtual: … }" : "raise run"
    reading.report(
      .beyondEnd, "\(what) is at \(time - Instant.zero) at the earliest, and the run ends at \(end)", at: span,
      hint: hint)
  }

  private static func checkEnds(_ entry: TimelineEntry, _ scenario: Scenario, _ reading: inout Reading) {
    // A fault at that time is reported as one that meets nothing.
    if scenario.duration != nil, entry.effect != .mark, entry.fault == nil,
      (TimelineChecks.firings(of: entry.id, scenario) ?? [TimelineChecks.earliest(entry, scenario)])
        .contains(scenario.latestEnd)
    {
      let message = "it fires when the run ends, so that nothing that comes of it is judged"
      reading.report(.beyondEnd, message, at: entry.span, hint: "raise run")
    }
    guard case .every(_, _, nil, nil) = entry.trigger, scenario.duration == nil else { return }
    reading.report(
      .needsRun, "nothing ends this 'every'", at: entry.span, hint: "add times, until, or run: 60s to the file")
  }

  // MARK: - Deadlines

  /// Returns the deadlines of an expectation, each with the earliest time at which it can end.
  private static func deadlines(
    _ expectation: Expectation, _ scenario: Scenario
  ) -> [(what: String, time: Instant)] {
    func after(_ anchor: Anchor?, _ intervals: Interval?...) -> Instant {
      let start = anchor.flatMap { TimelineChecks.earliest($0.kind, scenario) } ?? .zero
      return intervals.reduce(start) { $0 + ($1 ?? .zero) }
    }
    switch expectation.kind {
    case .eventually(let eventually):
      guard eventually.within != nil || eventually.hold != nil else { return [] }
      return [("its deadline", after(eventually.of, eventually.within, eventually.hold))]
    case .ends(let ends): return ends.within.map { [("its deadline", after(ends.of, $0))] } ?? []
    case .leadsTo(let leadsTo): return [("its deadline", after(nil, leadsTo.within))]
    case .sequence(let sequence):
      return sequence.steps.compactMap { step in
        step.by.map { ("the deadline of \(step.value.value)", after(sequence.of, $0)) }
      }
    case .recovers(let recovers):
      let fault = Anchor(kind: .entry(recovers.fault.value), span: recovers.fault.span, text: recovers.fault.value)
      return [("its deadline", after(fault, recovers.within, recovers.hold))]
    case .set, .always, .never, .count, .metric, .sometimes, .delta: return []
    }
  }

  // MARK: - Windows

  private static func reportsBeyondEnd(_ window: Window, _ scenario: Scenario, _ reading: inout Reading) -> Bool {
    for (what, anchor) in [("the start of its window", window.from), ("the end of its window", window.to)] {
      guard let anchor, let time = TimelineChecks.earliest(anchor.kind, scenario), time > scenario.latestEnd else {
        continue
      }
      reportBeyondEnd(what, time, anchor.span, scenario, &reading)
      return true
    }
    return false
  }

  private static func checkLength(
    _ window: Window, _ expectation: Expectation, _ scenario: Scenario, _ reading: inout Reading
  ) {
    let isOpen = window.to == nil || window.to?.kind == .end
    guard isOpen, expectation.lastsToTheEnd, scenario.duration == nil,
      let from = window.from.map({ TimelineChecks.certain($0.kind, scenario) }) ?? Instant.zero,
      scenario.timeline.allSatisfy({ TimelineChecks.certain(.entry($0.id), scenario).map { $0 <= from } ?? false })
    else { return }
    let message = "nothing on the timeline comes after this window opens, and nothing says how long the run lasts"
    reading.report(.needsRun, message, at: expectation.span, hint: "write run: 60s, or another time")
  }
}

extension Scenario {
  /// The earliest time at which every entry of the timeline has fired, and every fault has reached its length.
  package var earliestCompletion: Instant {
    timeline.map { entry in
      let start = TimelineChecks.earliest(entry, self)
      guard case .fault(let fault, let duration) = entry.effect else { return start }
      return start + (FaultChecks.length(of: fault, duration)?.length ?? .zero)
    }.max() ?? .zero
  }
}

extension Expectation {
  /// Whether the expectation can fail as long as its window is open.
  fileprivate var lastsToTheEnd: Bool {
    switch kind {
    case .always, .never, .metric: true
    case .sequence(let sequence): sequence.isStrict
    case .set(let set): set.isStrict
    case .count(let count): count.bounds.contains(where: \.isUpper)
    case .delta(let delta): !delta.isMeasure
    case .eventually, .leadsTo, .ends, .recovers, .sometimes: false
    }
  }
}
