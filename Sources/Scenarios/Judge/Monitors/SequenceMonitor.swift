internal import CallCore
internal import ScenarioFormat

/// `sequence`: the values that a watched value takes, in order.
///
/// The value at the opening of the window is the first step if it equals that step's value, and is ignored otherwise. A
/// step with `by` counts only from the anchor `of` on.
final class SequenceMonitor: Monitor {
  let ruling: Ruling
  private let sequence: Expectation.Sequence
  private let context: MonitorContext
  private let slot: Watch.Slot<TraceDatum>
  private let span: ObservedWindow
  private var changes: ObservedChanges?
  private var hasOpened = false
  /// The times of the steps reached so far.
  private var reached: [Instant] = []
  private var began: Instant?
  /// The values after the last step that was reached.
  private var others: [(value: String, time: Instant)] = []

  init(_ sequence: Expectation.Sequence, _ context: MonitorContext) {
    self.sequence = sequence
    self.context = context
    slot = context.watch.slot(sequence.value.subject, sequence.value.name)
    span = ObservedWindow(sequence.between, context)
    let steps = sequence.steps.map { step in step.value.value + (step.by.map { " by \($0)" } ?? "") }
    let manner = sequence.isStrict ? "exactly " : ""
    ruling = Ruling(expected: "\(sequence.value) is \(manner)\(steps.joined(separator: " > ")), \(span.text)")
    changes = ObservedChanges(of: slot, in: span, context) { [unowned self] in look(at: $0) }
    span.onChange = { [unowned self] in look(at: $0) }
    span.start()
    context.begin(at: sequence.of) { [unowned self] in begin(at: $0) }
  }

  /// Whether it is incomplete or waits for its window. A complete strict sequence waits only for the end of its window.
  var isPending: Bool { ruling.isOpen && (reached.count < sequence.steps.count || span.waitsForAnchor) }

  private func begin(at time: Instant) {
    began = time
    for (index, step) in sequence.steps.enumerated() {
      guard let by = step.by else { continue }
      context.alarms.schedule(at: time + by) { [weak self] in self?.expire(index, at: time + by) }
    }
  }

  private func look(at now: Instant) {
    guard let changes else { return }
    let (before, written) = changes.take()
    // A repeated value is not a new step.
    let news = written.filter(\.isAnother).map(\.value)
    if !ruling.isOpen, let value = news.first(where: { $0 == awaited }) { ruling.cameTrue(at: now, "\(value) came") }
    guard ruling.isOpen else { return }
    if span.contains(now) {
      if !hasOpened {
        hasOpened = true
        if let held = changes.held(before: before, news: written) { takeHeld(held, at: now) }
      }
      for value in news { take(value, at: now) }
    } else if let closed = span.closedAt {
      conclude(at: closed)
    }
  }

  /// Takes the value at the opening of the window as the first step, or ignores it.
  private func takeHeld(_ value: String, at now: Instant) {
    guard value == sequence.steps.first?.value.value, !isTooEarly(sequence.steps[0]) else { return }
    reach(at: now)
  }

  /// Notes that the next step was reached. A sequence that is not strict ends with its last step.
  private func reach(at now: Instant) {
    reached.append(now)
    others = []
    guard reached.count == sequence.steps.count, !sequence.isStrict else { return }
    ruling.decide(.pass, at: now, "all steps by \(Wording.time(now))")
  }

  /// Returns whether a step with `by` came before its anchor.
  private func isTooEarly(_ step: Expectation.Sequence.Step) -> Bool { step.by != nil && began == nil }

  private func take(_ value: String, at now: Instant) {
    guard ruling.isOpen else { return }
    guard reached.count < sequence.steps.count else {
      return ruling.decide(
        .fail, at: now, "\(value) at \(Wording.time(now)) after all steps", nearestMiss: progress)
    }
    let step = sequence.steps[reached.count]
    guard value == step.value.value else {
      let isInitial = context.isInitial(value, of: slot, named: sequence.value.name, at: now)
      guard sequence.isStrict, !isInitial else { return others.append((value, now)) }
      return ruling.decide(
        .fail, at: now, "\(value) at \(Wording.time(now)), where \(step.value.value) should have come",
        nearestMiss: progress)
    }
    if isTooEarly(step) {
      guard sequence.isStrict else { return others.append((value, now)) }
      let anchor = sequence.of.map(Wording.quoted) ?? "the start"
      return ruling.decide(
        .fail, at: now, "\(value) at \(Wording.time(now)), before \(anchor)", nearestMiss: progress)
    }
    if let by = step.by, let began, now > began + by { return expire(reached.count, at: began + by) }
    reach(at: now)
  }

  /// The step whose deadline has passed.
  private var awaited: String?

  private func expire(_ index: Int, at deadline: Instant) {
    guard ruling.isOpen, reached.count <= index else { return }
    awaited = sequence.steps[index].value.value
    ruling.decide(
      .fail, at: deadline, "\(sequence.steps[index].value.value) not by \(Wording.time(deadline))\(held)",
      nearestMiss: progress, miss: .infinity)
  }

  private var held: String {
    let subject = context.watch.value(slot) == nil ? "\(sequence.value)" : "it"
    return "; \(subject) \(PredicateAccount(watch: context.watch).state(of: slot))"
  }

  /// `reached calling 1.00 > ringing 1.04, then ended at 2.00 s came instead of connecting`
  private var progress: String {
    let done = zip(sequence.steps, reached).map { "\($0.value.value) \(Wording.number($1))" }.joined(separator: " > ")
    let start = done.isEmpty ? "no step was reached" : "reached \(done)"
    guard reached.count < sequence.steps.count, let other = others.first else { return start }
    let missing = sequence.steps[reached.count].value.value
    if other.value == missing {
      return "\(start); \(missing) came at \(Wording.time(other.time)), before \(sequence.of?.text ?? "the start")"
    }
    return "\(start), then \(other.value) at \(Wording.time(other.time)) came and not \(missing)"
  }

  private func conclude(at time: Instant) {
    if let emptiness = span.emptiness, !hasOpened || span.closedAt != nil {
      return ruling.decide(.vacuous, at: time, emptiness)
    }
    if let of = sequence.of, began == nil {
      let closing = span.closedAt.map { "had not come when the window closed at \(Wording.time($0))" }
      return ruling.decide(.vacuous, at: time, "\(Wording.quoted(of)) \(closing ?? "never came")")
    }
    guard reached.count == sequence.steps.count else {
      return ruling.decide(
        .fail, at: time, "no \(sequence.steps[reached.count].value.value) by \(Wording.time(time))\(held)",
        nearestMiss: progress)
    }
    if let reason = span.emptiness ?? span.brevity { return ruling.decide(.vacuous, at: time, reason) }
    ruling.decide(.pass, at: time, "all steps, and nothing else")
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    look(at: time)
    if ruling.isOpen { conclude(at: time) }
  }
}
