internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// `count`: the number of times an anchor comes, or a predicate becomes true, within the window.
final class CountMonitor: Monitor {
  let ruling: Ruling
  private let count: Expectation.Count
  private let context: MonitorContext
  private let span: ObservedWindow
  private var condition: Condition?
  private var comparisons: TestedComparisons?
  private var times: [Instant] = []
  /// The number of times noted in the current event.
  private var heard = 0

  init(_ count: Expectation.Count, _ context: MonitorContext) {
    self.count = count
    self.context = context
    span = ObservedWindow(count.between, context)
    ruling = Ruling(expected: "\(Self.name(of: count)) \(Wording.bounds(count.bounds)) times, \(span.text)")
    span.onChange = { [unowned self] in look(at: $0) }
    // A condition that is true from the start comes within a window that opens at the start.
    span.start()
    listen()
  }

  private static func name(of count: Expectation.Count) -> String {
    switch count.subject {
    case .anchor(let anchor)?: anchor.text
    case .predicate(let predicate)?: "(\(predicate))"
    case nil: "nothing"
    }
  }

  /// Listens to the anchor. Flags and definitions are anchors for their first truth only, but here every time counts.
  private func listen() {
    switch count.subject {
    case .predicate(let predicate)?: listen(to: predicate)
    case .anchor(let anchor)?:
      switch anchor.kind {
      case .definition(let name):
        guard let definition = context.scenario.definitions.first(where: { $0.name == name }) else { return }
        listen(to: definition.predicate)
      case .becomesTrue(let subject, let value):
        let path = ValuePath(subject: subject, name: value, type: .flag, unit: nil, span: anchor.span)
        listen(to: Predicate(.holds(.value(path)), at: anchor.span))
      default: context.anchors.listen(anchor) { [unowned self] _ in hear() }
      }
    case nil: break
    }
  }

  private func listen(to predicate: Predicate) {
    let condition = context.condition(predicate)
    self.condition = condition
    condition.listenToRises { [unowned self] _ in hear() }
    let comparisons = TestedComparisons(of: predicate, breachedBy: true, watch: context.watch)
    self.comparisons = comparisons
    comparisons.listen { [unowned self] in context.later { self.look(at: $0) } }
  }

  private func hear() {
    heard += 1
    context.later { [unowned self] in look(at: $0) }
  }

  /// Whether something that the bounds require may still come.
  var isPending: Bool {
    ruling.isOpen && (span.waitsForAnchor || !count.bounds.allSatisfy { $0.admits(Double(times.count)) })
  }

  private func look(at now: Instant) {
    guard ruling.isOpen else { return }
    let isInside = span.contains(now)
    if isInside {
      comparisons?.look()
      for _ in 0..<heard { times.append(now) }
      if heard > 0 { checkUpperBounds(at: now) }
    }
    heard = 0
    if let closed = span.closedAt { conclude(at: closed) }
  }

  private func checkUpperBounds(at now: Instant) {
    let number = Double(times.count)
    let isTooMany = count.bounds.contains { bound in
      guard bound.isUpper, !bound.admits(number), let limit = bound.value.number else { return false }
      return number >= limit
    }
    guard isTooMany else { return }
    let miss = count.bounds.miss(of: number)
    ruling.decide(.fail, at: now, "\(Wording.times(times.count)): \(list)", miss: miss)
  }

  private var list: String {
    let shown = times.suffix(8).map(Wording.time).joined(separator: ", ")
    return times.count > 8 ? "last at \(shown)" : "at \(shown)"
  }

  private func conclude(at time: Instant) {
    if let emptiness = span.emptiness { return ruling.decide(.vacuous, at: time, emptiness) }
    let holds = count.bounds.allSatisfy { $0.admits(Double(times.count)) }
    if holds, count.bounds.contains(where: \.isUpper), let brevity = span.brevity {
      return ruling.decide(.vacuous, at: time, brevity)
    }
    if holds, let reason = untested { return ruling.decide(.vacuous, at: time, reason) }
    let text = Wording.times(times.count) + (times.isEmpty ? "" : ": \(list)")
    let miss = count.bounds.miss(of: Double(times.count))
    ruling.decide(holds ? .pass : .fail, at: time, text, miss: miss)
  }

  /// The reason why a predicate was not tested, if a higher count would have broken a bound.
  private var untested: String? {
    guard let condition, count.bounds.contains(where: \.isUpper) || times.isEmpty else { return nil }
    return context.unset(in: condition.predicate).map { "\($0) was never set" }
      ?? comparisons?.untested
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    look(at: time)
    conclude(at: time)
  }
}
