package import CallCore
package import ScenarioFormat

/// The truth of a predicate: a value that was never set makes it unknown, not false (Kleene's three-valued logic).
enum Truth {
  case no, unknown, yes

  init(_ value: Bool) { self = value ? .yes : .no }

  static prefix func ! (truth: Truth) -> Truth {
    switch truth {
    case .no: .yes
    case .unknown: .unknown
    case .yes: .no
    }
  }

  /// Returns false if one truth is false, and true if all are true.
  static func all(_ truths: some Sequence<Truth>) -> Truth {
    var result = Truth.yes
    for truth in truths {
      if truth == .no { return .no }
      if truth == .unknown { result = .unknown }
    }
    return result
  }

  /// Returns true if one truth is true, and false if all are false.
  static func any(_ truths: some Sequence<Truth>) -> Truth { !all(truths.lazy.map { !$0 }) }
}

/// A predicate bound to a run: reads its slots, holds its present truth, and announces changes.
package final class Condition {
  private indirect enum Node {
    case constant(Bool)
    case and([Node])
    case or([Node])
    case not(Node)
    case compare(Source, Comparison, Source)
    case isIn(Source, [Value])
    case holds(Source)
  }

  private enum Source {
    case watched(Watch.Slot<TraceDatum>)
    case literal(Value)
  }

  let predicate: Predicate
  private let watch: Watch
  private let root: Node
  private let slots: [Watch.Slot<TraceDatum>]
  private(set) var truth: Truth
  private var listeners: [(Truth) -> Void] = []
  private var riseListeners: [(Instant) -> Void] = []
  /// Whether it was true at the end of the last event.
  private var wasTrue = false
  private var isLooking = false

  package init(_ predicate: Predicate, watch: Watch) {
    self.predicate = predicate
    self.watch = watch
    var slots: [Watch.Slot<TraceDatum>] = []
    root = Self.bind(predicate, watch, &slots)
    self.slots = slots
    truth = Self.evaluate(root, watch)
    wasTrue = isTrue
    for slot in slots {
      watch.listen(slot) { [unowned self] _ in refresh() }
      watch.listen(slot, toLosses: { [unowned self] in refresh() })
    }
  }

  /// Whether it is unknown because the process of an app has ended.
  var isLost: Bool { truth == .unknown && slots.contains { watch.isLost($0) } }

  var isTrue: Bool { truth == .yes }

  /// Calls `listener` whenever the truth changes, also from unknown to false.
  func listen(_ listener: @escaping (Truth) -> Void) { listeners.append(listener) }

  /// Calls `listener` after each event that made it true, and immediately if it is true.
  package func listenToRises(_ listener: @escaping (Instant) -> Void) {
    if riseListeners.isEmpty { wasTrue = isTrue }
    riseListeners.append(listener)
    if isTrue { listener(watch.trace.now) }
  }

  /// Whether it is true and stays true, because it only requires counters to have reached a number.
  var isTrueForGood: Bool {
    isTrue
      && predicate.isSettled(true) { [watch] in
        Self.truth(of: $0, watch) == .yes
      } _: { [watch] operand in
        var slots: [Watch.Slot<TraceDatum>] = []
        return Self.read(Self.bind(operand, watch, &slots), watch)?.number
      }
  }

  /// Returns the present truth of a predicate, without listening to changes.
  static func truth(of predicate: Predicate, _ watch: Watch) -> Truth {
    var slots: [Watch.Slot<TraceDatum>] = []
    return evaluate(bind(predicate, watch, &slots), watch)
  }

  private func refresh() {
    let now = Self.evaluate(root, watch)
    guard now != truth else { return }
    truth = now
    for listener in listeners { listener(now) }
    guard !riseListeners.isEmpty, !isLooking else { return }
    isLooking = true
    watch.beforeLooks { [weak self] in self?.lookAfterEvent() }
  }

  private func lookAfterEvent() {
    isLooking = false
    defer { wasTrue = isTrue }
    guard isTrue, !wasTrue else { return }
    for listener in riseListeners { listener(watch.trace.now) }
  }

  // MARK: Binding

  private static func bind(_ predicate: Predicate, _ watch: Watch, _ slots: inout [Watch.Slot<TraceDatum>]) -> Node {
    switch predicate.kind {
    case .constant(let value): .constant(value)
    case .and(let parts): .and(parts.map { bind($0, watch, &slots) })
    case .or(let parts): .or(parts.map { bind($0, watch, &slots) })
    case .not(let part): .not(bind(part, watch, &slots))
    case .defined(_, let part): bind(part, watch, &slots)
    case .compare(let a, let comparison, let b):
      .compare(bind(a, watch, &slots), comparison, bind(b, watch, &slots))
    case .isIn(let operand, let values): .isIn(bind(operand, watch, &slots), values)
    case .holds(let operand): .holds(bind(operand, watch, &slots))
    }
  }

  private static func bind(_ operand: Operand, _ watch: Watch, _ slots: inout [Watch.Slot<TraceDatum>]) -> Source {
    switch operand {
    case .literal(let value): return .literal(value)
    case .value(let path):
      let slot = watch.slot(path.subject, path.name)
      slots.append(slot)
      return .watched(slot)
    case .wire(let quantity):
      let slot = watch.slot(WireQuantity.subject, quantity.kindName)
      slots.append(slot)
      return .watched(slot)
    }
  }

  // MARK: Evaluating

  private static func evaluate(_ node: Node, _ watch: Watch) -> Truth {
    switch node {
    case .constant(let value): return Truth(value)
    case .and(let parts): return .all(parts.lazy.map { evaluate($0, watch) })
    case .or(let parts): return .any(parts.lazy.map { evaluate($0, watch) })
    case .not(let part): return !evaluate(part, watch)
    case .holds(let source): return read(source, watch).map { Truth($0 == .flag(true)) } ?? .unknown
    case .isIn(let source, let values):
      guard let value = read(source, watch) else { return .unknown }
      return Truth(values.contains { Comparison.equal.holds(value, $0) })
    case .compare(let a, let comparison, let b):
      guard let left = read(a, watch), let right = read(b, watch) else { return .unknown }
      return Truth(comparison.holds(left, right))
    }
  }

  private static func read(_ source: Source, _ watch: Watch) -> Value? {
    switch source {
    case .literal(let value): value
    case .watched(let slot): watch.value(slot).map(Value.init)
    }
  }

}

extension Value {
  /// Converts a traced value for comparison in scenarios.
  init(_ datum: TraceDatum) {
    self =
      switch datum {
      case .integer(let value): .count(Int(value))
      case .real(let value): .real(value)
      case .flag(let value): .flag(value)
      case .interval(let value): .duration(value)
      case .symbol(let value): .text(value)
      case .endpoint(let value): .text("\(value)")
      }
  }
}
