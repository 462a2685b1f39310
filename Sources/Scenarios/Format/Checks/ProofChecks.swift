import CallCore
import Vocabulary

/// Static proofs that an expectation cannot fail, cannot hold, or is never tested.
struct ProofChecks {
  private let scenario: Scenario
  private let scope: Scope

  static func check(_ scenario: Scenario, _ reading: inout Reading) {
    let checks = ProofChecks(scenario: scenario, scope: reading.scope)
    for expectation in scenario.expectations {
      guard let proof = checks.proof(of: expectation) else { continue }
      switch proof.outcome {
      case .holds:
        reading.report(.cannotFail, "nothing could break this: \(proof.reason)", at: expectation.span, hint: proof.hint)
      case .breaks: reading.report(.cannotHold, "nothing could meet this: \(proof.reason)", at: expectation.span)
      case .untested:
        reading.report(.neverTested, "this is never tested: \(proof.reason)", at: expectation.span, hint: proof.hint)
      }
    }
  }

  private struct Proof {
    enum Outcome { case holds, breaks, untested }
    var outcome: Outcome
    var reason: String
    var hint: String?

    init(_ outcome: Outcome, _ reason: String, hint: String? = nil) {
      (self.outcome, self.reason, self.hint) = (outcome, reason, hint)
    }
  }

  private func proof(of expectation: Expectation) -> Proof? {
    if expectation.origin?.kind == .end { return Proof(.untested, "nothing comes after the end of the run") }
    return switch expectation.kind {
    case .always(let invariably): proof(throughout: invariably.predicate, isNever: false)
    case .never(let invariably): proof(throughout: invariably.predicate, isNever: true)
    case .eventually(let eventually):
      proof(reaching: eventually.predicate)
        ?? (eventually.hold == nil ? proof(of: eventually.predicate, alreadyAt: eventually.of) : nil)
    case .sometimes(let predicate): proof(reaching: predicate) ?? proof(of: predicate, alreadyAt: nil)
    case .leadsTo(let leadsTo): proof(of: leadsTo)
    case .count(let count): proof(of: count)
    case .recovers(let recovers): proof(of: recovers)
    case .sequence(let sequence): proof(of: sequence)
    case .set(let set): proof(of: set)
    case .metric(let metric): proof(of: metric)
    case .ends, .delta: nil
    }
  }

  // MARK: - Predicates

  /// Returns the only truth value that a predicate can have, or nil when it can have both.
  private func certainTruth(_ predicate: Predicate) -> Bool? {
    guard let table = TruthTable([predicate]) else { return nil }
    switch (table.canBe { $0[0] }, table.canBe { !$0[0] }) {
    case (true, false): return true
    case (false, true): return false
    default: return nil
    }
  }

  private func proof(throughout predicate: Predicate, isNever: Bool) -> Proof? {
    guard let truth = certainTruth(predicate) else { return nil }
    let reason = "it is \(truth) whatever the values are"
    return truth != isNever ? Proof(.holds, reason) : Proof(.breaks, reason)
  }

  private func proof(reaching predicate: Predicate) -> Proof? {
    certainTruth(predicate).map { Proof($0 ? .holds : .breaks, "it is \($0) whatever the values are") }
  }

  /// Proves that a predicate is true at the anchor already.
  private func proof(of predicate: Predicate, alreadyAt anchor: Anchor?) -> Proof? {
    let place = anchor.map { Wording.quoted($0) } ?? "the start"
    if case .definition(let name)? = anchor?.kind {
      guard let definition = scenario.definitions.first(where: { $0.name == name }),
        let table = TruthTable([definition.predicate, predicate]), !table.canBe({ $0[0] && !$0[1] })
      else { return nil }
    } else {
      let known = knownValues(at: anchor)
      guard !known.isEmpty, let table = TruthTable([predicate], known: known), !table.canBe({ !$0[0] }) else {
        return nil
      }
    }
    return Proof(.holds, "it is so at \(place) already", hint: "count from something that comes before, or add hold")
  }

  private func proof(of leadsTo: Expectation.LeadsTo) -> Proof? {
    if certainTruth(leadsTo.condition) == false { return Proof(.untested, "the condition is never true") }
    if certainTruth(leadsTo.consequence) == false { return Proof(.breaks, "what is to follow is never true") }
    guard let table = TruthTable([leadsTo.condition, leadsTo.consequence]), !table.canBe({ $0[0] && !$0[1] }) else {
      return nil
    }
    return Proof(.holds, "what is to follow is true whenever the condition is")
  }

  private func proof(of recovers: Expectation.Recovers) -> Proof? {
    guard case .predicate(let predicate) = recovers.to, let truth = certainTruth(predicate) else { return nil }
    return Proof(.untested, truth ? "it is always true, so that it is never lost" : "it is never true")
  }

  // MARK: - Known values

  /// Returns the values that are certain at an anchor, by their paths.
  private func knownValues(at anchor: Anchor?) -> [String: Value] {
    switch anchor?.kind {
    case nil: return initialValues
    case .time(let time)? where time <= .zero: return initialValues
    case .entersState(let subject, let machine, let state)?:
      return [ValuePath.text(machine, of: subject): .text(state)]
    case .becomesTrue(let subject, let value)?: return [ValuePath.text(value, of: subject): .flag(true)]
    case .time, .end, .entry, .definition, .event: return [:]
    }
  }

  /// The values at the start: the initial states of apps' machines, and zero for wire quantities.
  private var initialValues: [String: Value] {
    var values: [String: Value] = [:]
    for peer in scope.peers {
      for machine in peer.vocabulary.profile?.machines ?? [] where machine.scope == .peer {
        values["\(peer.name).\(machine.name)"] = machine.states.first.map { .text($0.name) }
      }
    }
    for quantity in scenario.watchedWire { values[Operand.wire(quantity).description] = .count(0) }
    return values
  }

  /// Returns the certain value at the opening of a window, or nil.
  private func known(_ path: ValuePath, at window: Window) -> String? {
    guard case .text(let text)? = knownValues(at: window.from)[path.description] else { return nil }
    return text
  }

  private func proof(of sequence: Expectation.Sequence) -> Proof? {
    let steps = sequence.steps.map(\.value.value)
    if sequence.isStrict, let twice = zip(steps, steps.dropFirst()).first(where: { $0.0 == $0.1 }) {
      return Proof(.breaks, "\(twice.0) cannot follow \(twice.0) with nothing between")
    }
    guard !sequence.isStrict, steps.count == 1, sequence.of == nil || sequence.steps[0].by == nil,
      known(sequence.value, at: sequence.between) == steps[0]
    else {
      return nil
    }
    return Proof(.holds, "it is \(steps[0]) when its window opens")
  }

  private func proof(of set: Expectation.SetOf) -> Proof? {
    guard !set.isStrict, let value = known(set.value, at: set.between),
      set.contains.allSatisfy({ $0.value == value })
    else { return nil }
    return Proof(.holds, "it is \(value) when its window opens")
  }

  /// Uses that wire quantities are 0 when the run begins, which is their minimum.
  private func proof(of metric: Expectation.Metric) -> Proof? {
    guard metric.value.wire != nil, [.first, .minimum].contains(metric.statistic), opensAtStart(metric.window) else {
      return nil
    }
    let holds = metric.bounds.allSatisfy { $0.admits(0) }
    return Proof(holds ? .holds : .breaks, "it is 0 when its window opens, and only grows")
  }

  private func opensAtStart(_ window: Window) -> Bool { window.from.map { $0.kind == .time(.zero) } ?? true }

  // MARK: - Counts

  private func proof(of count: Expectation.Count) -> Proof? {
    if case .predicate(let predicate)? = count.subject, let truth = certainTruth(predicate) {
      return Proof(.untested, "it is \(truth) whatever the values are, so that there is nothing to count")
    }
    if case .anchor(let anchor)? = count.subject, let times = timesFired(anchor, within: count.between) {
      let holds = count.bounds.allSatisfy { $0.admits(Double(times)) }
      return Proof(holds ? .holds : .breaks, "by the timeline it comes \(Wording.times(times))")
    }
    guard isTrueAtOpening(count), !count.bounds.contains(where: \.isUpper),
      count.bounds.allSatisfy({ $0.admits(1) })
    else { return nil }
    return Proof(.holds, "it is so from the start, which is the first time")
  }

  private func isTrueAtOpening(_ count: Expectation.Count) -> Bool {
    guard opensAtStart(count.between) else { return false }
    switch count.subject {
    case .predicate(let predicate)?:
      guard let table = TruthTable([predicate], known: initialValues) else { return false }
      return !table.canBe { !$0[0] }
    case .anchor(let anchor)?:
      guard case .entersState(let subject, let machine, let state) = anchor.kind else { return false }
      return initialValues[ValuePath.text(machine, of: subject)] == .text(state)
    case nil: return false
    }
  }

  /// Returns the number of firings of an entry within a window; nil when it depends on the run.
  private func timesFired(_ anchor: Anchor, within window: Window) -> Int? {
    guard case .entry(let id) = anchor.kind, let firings = TimelineChecks.firings(of: id, scenario) else { return nil }
    // The order of two entries at the same time is open, so that a border at the time of a firing is uncertain. The
    // same entry fires after the border that it makes.
    func border(_ anchor: Anchor, after opening: Instant?) -> Instant? {
      switch anchor.kind {
      case .time(let time): return time
      case .entry(let other):
        let comings = TimelineChecks.firings(of: other, scenario) ?? []
        guard let time = comings.filter({ $0 >= opening ?? .zero }).min(), time != opening else { return nil }
        return other != id && firings.contains(time) ? nil : time
      case .end, .definition, .entersState, .becomesTrue, .event: return nil
      }
    }
    var (from, to) = (Instant.zero, Instant(nanoseconds: .max))
    if let begin = window.from {
      guard let time = border(begin, after: nil) else { return nil }
      from = time
    }
    if let end = window.to, end.kind != .end {
      guard let time = border(end, after: from) else { return nil }
      to = time
    }
    return firings.count { $0 >= from && $0 < to }
  }
}

extension Expectation {
  /// The anchor from which deadlines count.
  package var origin: Anchor? {
    switch kind {
    case .eventually(let eventually): eventually.of
    case .ends(let ends): ends.of
    case .sequence(let sequence): sequence.of
    case .always, .never, .leadsTo, .count, .recovers, .metric, .set, .sometimes, .delta: nil
    }
  }
}
