import CallCore

/// Checks that the entries of a timeline can fire, and that windows are not empty.
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

  /// Returns the anchor for which an entry waits.
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
    let earliest = Self.earliest(entry, scenario)
    if earliest > scenario.latestEnd {
      let end = scenario.latestEnd - Instant.zero
      let message = "this fires at \(earliest) at the earliest, and the run ends at \(end)"
      reading.report(.neverFires, message, at: entry.span, hint: scenario.duration == nil ? "see limits" : "see run")
    }
    if case .when(let predicate, _, _) = entry.trigger, let table = TruthTable([predicate]), !table.canBe({ $0[0] }) {
      reading.report(.neverFires, "this is never true", at: predicate.span)
    }
    if let anchor = awaited(entry), anchor.kind == .end {
      reading.report(.neverFires, "nothing comes after the end of the run", at: anchor.span)
    }
    if case .every(_, _, let until?, _) = entry.trigger, case .time(let end) = until.kind,
      earliest > end
    {
      reading.report(.neverFires, "'until' comes before the first time", at: until.span)
    }
  }

  /// Returns all times at which an entry fires, or nil when they depend on the run.
  static func firings(of id: String, _ scenario: Scenario, depth: Int = 0) -> [Instant]? {
    guard depth <= scenario.timeline.count, let entry = scenario.entry(id) else { return nil }
    func firings(of anchor: Anchor) -> [Instant]? {
      switch anchor.kind {
      case .time(let time): [time]
      case .entry(let id): self.firings(of: id, scenario, depth: depth + 1)
      case .end, .definition, .entersState, .becomesTrue, .event: nil
      }
    }
    switch entry.trigger {
    case .at(let time): return [time]
    case .after(let delay, let of): return firings(of: of)?.map { $0 + delay }
    case .every(let period, let from, nil, let times?):
      guard let start = (from.map(firings) ?? [.zero])?.min(), times <= 1_000 else { return nil }
      return (1...times).map { start + period * Int64($0) }
    case .every, .when: return nil
    }
  }

  /// A point in a run as an offset from an origin; points of the same origin have a certain order.
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

  /// Returns the earliest time of an anchor; nil when it is unknown.
  static func earliest(_ kind: Anchor.Kind, _ scenario: Scenario) -> Instant? { earliest(kind, scenario, depth: 0) }

  private static func earliest(_ kind: Anchor.Kind, _ scenario: Scenario, depth: Int) -> Instant? {
    guard case .entry(let id) = kind, let entry = scenario.entry(id) else { return certain(kind, scenario) }
    return depth > scenario.timeline.count ? nil : earliest(entry, scenario, depth: depth)
  }

  /// Returns the certain time of an anchor; nil when it depends on the run.
  static func certain(_ kind: Anchor.Kind, _ scenario: Scenario) -> Instant? {
    guard let moment = moment(kind, scenario), moment.origin == "start" else { return nil }
    return .zero + moment.offset
  }

  static func earliest(_ entry: TimelineEntry, _ scenario: Scenario, depth: Int = 0) -> Instant {
    func after(_ delay: Interval, _ anchor: Anchor?) -> Instant {
      (anchor.flatMap { earliest($0.kind, scenario, depth: depth + 1) } ?? .zero) + delay
    }
    return switch entry.trigger {
    case .at(let time): time
    case .when(_, let delay, _): .zero + delay
    case .after(let delay, let of): after(delay, of)
    case .every(let period, let from, _, _): after(period, from)
    }
  }

  private static func checkWindow(
    _ window: Window, _ expectation: Expectation, _ scenario: Scenario, _ cyclic: Set<String>, _ reading: inout Reading
  ) {
    guard let span = window.from?.span ?? window.to?.span else { return }
    let (first, last) = (window.from?.text ?? "start", window.to?.text ?? "end")
    let name = "window [\(first), \(last)]"
    for case .entry(let id)? in [window.from?.kind, window.to?.kind] where cyclic.contains(id) { return }
    if let reason = certainEmptiness(window, scenario) {
      reading.report(.untestedWindow, "\(name) is empty: \(reason)", at: span)
    } else if let from = window.from, let to = window.to, let start = moment(from.kind, scenario),
      let end = moment(to.kind, scenario), start.origin == end.origin, end.offset <= start.offset
    {
      let order = "'\(last)'\(place(of: to, scenario)) precedes '\(first)'\(place(of: from, scenario))"
      let reason = start.offset == end.offset ? "it has no length" : order
      reading.report(.emptyWindow, "\(name) is empty the first time: \(reason)", at: span)
    }
  }

  /// Returns the reason for which a window is always empty; nil when that depends on the run.
  private static func certainEmptiness(_ window: Window, _ scenario: Scenario) -> String? {
    let from = window.from?.kind ?? .time(.zero)
    if from == .end { return "nothing comes after the end" }
    if from == window.to?.kind { return "it has no length" }
    let start = certain(from, scenario)
    if let start, scenario.duration != nil, start == scenario.latestEnd {
      return "the run ends when it opens"
    }
    guard let to = window.to, let end = certain(to.kind, scenario) else { return nil }
    if end <= .zero { return "'\(to.text)'\(place(of: to, scenario)) is the start of the run" }
    // An entry that fires once does not fire again after the window has opened.
    if case .entry(let id) = to.kind, firings(of: id, scenario)?.count != 1 { return nil }
    guard let start, end <= start else { return nil }
    guard end < start, let from = window.from else { return "it has no length" }
    return "'\(to.text)'\(place(of: to, scenario)) precedes '\(from.text)'\(place(of: from, scenario))"
  }

  private static func place(of anchor: Anchor, _ scenario: Scenario) -> String {
    guard case .entry(let id) = anchor.kind, let entry = scenario.entry(id) else { return "" }
    return " (\(entry.span.line):\(entry.span.column))"
  }
}
