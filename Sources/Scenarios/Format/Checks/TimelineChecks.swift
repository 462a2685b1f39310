import CallCore

/// What must be true of a timeline for its entries ever to fire, and of windows for expectations to be tested.
enum TimelineChecks {
  static func check(_ scenario: Scenario, _ reading: inout Reading) {
    let cyclic = checkCycles(scenario, &reading)
    for entry in scenario.timeline where !cyclic.contains(entry.id) {
      checkFires(entry, scenario, &reading)
    }
    for expectation in scenario.expectations {
      for window in expectation.windows { checkWindow(window, expectation, scenario, cyclic, &reading) }
    }
  }

  /// The entry an entry waits for.
  private static func awaited(_ entry: TimelineEntry) -> Anchor? {
    switch entry.trigger {
    case .after(_, let of): of
    case .every(_, let from, _, _): from
    case .at, .when: nil
    }
  }

  private static func checkCycles(_ scenario: Scenario, _ reading: inout Reading) -> Set<String> {
    var cyclic: Set<String> = []
    for entry in scenario.timeline where !cyclic.contains(entry.id) {
      var path = [entry]
      while let anchor = path.last.flatMap(awaited), case .entry(let id) = anchor.kind, let next = scenario.entry(id) {
        if let start = path.firstIndex(where: { $0.id == next.id }) {
          let cycle = path[start...].map(\.id)
          if cyclic.isDisjoint(with: cycle) {
            let names = (cycle + [next.id]).joined(separator: " -> ")
            let message =
              cycle.count == 1 ? "'\(next.id)' waits for itself" : "these entries wait for each other: \(names)"
            reading.report(.triggerCycle, message, at: anchor.span)
          }
          cyclic.formUnion(path.map(\.id))
          break
        }
        path.append(next)
      }
    }
    return cyclic
  }

  private static func checkFires(_ entry: TimelineEntry, _ scenario: Scenario, _ reading: inout Reading) {
    if let earliest = earliest(entry, scenario), earliest > scenario.latestEnd {
      let end = scenario.latestEnd - Instant.zero
      let message = "this fires at \(earliest) at the earliest, and the run ends at \(end)"
      reading.report(.neverFires, message, at: entry.span, hint: scenario.duration == nil ? "see limits" : "see run")
    }
    if case .when(let predicate, _, _) = entry.trigger, predicate.constantValue == false {
      reading.report(.neverFires, "this is never true", at: predicate.span)
    }
    if let anchor = awaited(entry), anchor.kind == .end {
      reading.report(.neverFires, "nothing comes after the end of the run", at: anchor.span)
    }
    if case .every(_, _, let until?, _) = entry.trigger, case .time(let end) = until.kind,
      let start = earliest(entry, scenario), start > end
    {
      reading.report(.neverFires, "'until' comes before the first time", at: until.span)
    }
  }

  /// A point in a run as an offset from something: points with the same origin are ordered for certain.
  private struct Moment {
    var origin: String
    var offset: Interval
  }

  private static func moment(_ kind: Anchor.Kind, _ scenario: Scenario, depth: Int = 0) -> Moment? {
    switch kind {
    case .time(let time): return Moment(origin: "start", offset: time - .zero)
    case .end: return nil
    case .entry(let id):
      guard depth < scenario.timeline.count + 1, let entry = scenario.entry(id) else { return nil }
      switch entry.trigger {
      case .at(let time): return Moment(origin: "start", offset: time - .zero)
      case .after(let delay, let of):
        return moment(of.kind, scenario, depth: depth + 1).map { Moment(origin: $0.origin, offset: $0.offset + delay) }
      case .when, .every: return Moment(origin: "entry \(id)", offset: .zero)
      }
    case .definition, .entersState, .becomesTrue, .event: return Moment(origin: "\(kind)", offset: .zero)
    }
  }

  /// When an anchor comes at the earliest; nil when nothing is known of it.
  static func earliest(_ kind: Anchor.Kind, _ scenario: Scenario) -> Instant? {
    guard case .entry(let id) = kind, let entry = scenario.entry(id) else { return certain(kind, scenario) }
    return earliest(entry, scenario)
  }

  /// When an anchor comes for certain; nil when that depends on the run.
  static func certain(_ kind: Anchor.Kind, _ scenario: Scenario) -> Instant? {
    guard let moment = moment(kind, scenario), moment.origin == "start" else { return nil }
    return .zero + moment.offset
  }

  private static func earliest(_ entry: TimelineEntry, _ scenario: Scenario) -> Instant? {
    switch entry.trigger {
    case .at(let time): time
    case .when(_, let delay, _): .zero + delay
    case .after(let delay, let of): moment(of.kind, scenario).map { .zero + ($0.offset + delay) }
    case .every(let period, let from, _, _):
      (from.map { moment($0.kind, scenario) } ?? Moment(origin: "start", offset: .zero)).map {
        .zero + ($0.offset + period)
      }
    }
  }

  private static func checkWindow(
    _ window: Window, _ expectation: Expectation, _ scenario: Scenario, _ cyclic: Set<String>, _ reading: inout Reading
  ) {
    guard let from = window.from, let to = window.to else { return }
    let name = "window [\(from.text), \(to.text)]"
    if from.kind == .end {
      reading.report(.emptyWindow, "\(name) is always empty: nothing comes after the end", at: from.span)
      return
    }
    for case .entry(let id) in [from.kind, to.kind] where cyclic.contains(id) { return }
    guard let start = moment(from.kind, scenario), let end = moment(to.kind, scenario) else { return }
    let isBeforeStart = end.origin == "start" && end.offset <= .zero
    guard start.origin == end.origin ? end.offset <= start.offset : isBeforeStart else { return }
    let reason =
      from.text == to.text || (start.origin == end.origin && start.offset == end.offset)
      ? "it has no length"
      : "'\(to.text)'\(place(of: to, scenario)) precedes '\(from.text)'\(place(of: from, scenario))"
    reading.report(.emptyWindow, "\(name) is always empty: \(reason)", at: from.span)
  }

  private static func place(of anchor: Anchor, _ scenario: Scenario) -> String {
    guard case .entry(let id) = anchor.kind, let entry = scenario.entry(id) else { return "" }
    return " (\(entry.span.line):\(entry.span.column))"
  }
}
