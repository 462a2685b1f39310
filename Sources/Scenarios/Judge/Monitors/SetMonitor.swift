internal import CallCore
internal import ScenarioFormat

/// `set`: values that a watched value takes within the window, in any order. The value at its opening counts.
final class SetMonitor: Monitor {
  let ruling: Ruling
  private let set: Expectation.SetOf
  private let context: MonitorContext
  private let slot: Watch.Slot<TraceDatum>
  private let span: ObservedWindow
  private var changes: ObservedChanges?
  private var hasOpened = false
  private var seen: [(value: String, time: Instant)] = []

  init(_ set: Expectation.SetOf, _ context: MonitorContext) {
    self.set = set
    self.context = context
    slot = context.watch.slot(set.value.subject, set.value.name)
    span = ObservedWindow(set.between, context)
    let values = set.contains.map(\.value).joined(separator: ", ")
    ruling = Ruling(
      expected: "\(set.value) takes \(values)\(set.isStrict ? " and no other value" : ""), \(span.text)")
    changes = ObservedChanges(of: slot, in: span, context) { [unowned self] in look(at: $0) }
    span.onChange = { [unowned self] in look(at: $0) }
    span.start()
  }

  var isPending: Bool { ruling.isOpen && (!missing.isEmpty || span.waitsForAnchor) }

  private var missing: [String] {
    self.set.contains.map(\.value).filter { value in !seen.contains { $0.value == value } }
  }

  private func look(at now: Instant) {
    guard let changes else { return }
    let (before, news) = changes.take()
    guard ruling.isOpen else { return }
    if span.contains(now) {
      if !hasOpened {
        hasOpened = true
        if let held = changes.held(before: before, news: news) { take(held, at: now, isHeld: true) }
      }
      for value in news.map(\.value) { take(value, at: now, isHeld: false) }
    } else if let closed = span.closedAt {
      conclude(at: closed)
    }
  }

  private func take(_ value: String, at now: Instant, isHeld: Bool) {
    guard ruling.isOpen, !seen.contains(where: { $0.value == value }) else { return }
    let isWanted = set.contains.contains { $0.value == value }
    guard isWanted || isHeld || !context.isInitial(value, of: slot, named: set.value.name, at: now) else { return }
    seen.append((value, now))
    if set.isStrict, !isWanted {
      ruling.decide(.fail, at: now, "\(value) at \(Wording.time(now)), which is none of them", nearestMiss: list)
    } else if !set.isStrict, missing.isEmpty {
      ruling.decide(.pass, at: now, "all by \(Wording.time(now))")
    }
  }

  private var list: String? {
    guard !seen.isEmpty else { return nil }
    return "seen: " + seen.map { "\($0.value) \(Wording.number($0.time))" }.joined(separator: ", ")
  }

  private func conclude(at time: Instant) {
    if let emptiness = span.emptiness, missing.isEmpty || !hasOpened || span.closedAt != nil {
      return ruling.decide(.vacuous, at: time, emptiness)
    }
    guard missing.isEmpty else {
      let text = "\(missing.joined(separator: ", ")) not seen by \(Wording.time(time))"
      return ruling.decide(.fail, at: time, text, nearestMiss: list)
    }
    if let brevity = span.brevity { return ruling.decide(.vacuous, at: time, brevity) }
    ruling.decide(.pass, at: time, "all of them, and nothing else")
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    look(at: time)
    if ruling.isOpen { conclude(at: time) }
  }
}
