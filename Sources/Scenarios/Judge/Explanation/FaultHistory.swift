internal import CallCore

/// When the faults of the timeline began and ended.
struct FaultHistory {
  private let context: MonitorContext
  private let entries: [(entry: TimelineEntry, fault: Fault, duration: Interval?)]

  init(_ context: MonitorContext) {
    self.context = context
    entries = context.scenario.timeline.compactMap { entry in
      guard case .fault(let fault, let duration) = entry.effect else { return nil }
      return (entry, fault, duration)
    }
    // Anchors keep the record of whatever somebody asked for before the run.
    for entry in context.scenario.timeline { _ = context.anchors.first(Self.anchor(entry)) }
  }

  private static func anchor(_ entry: TimelineEntry) -> Anchor {
    Anchor(kind: .entry(entry.id), span: entry.span, text: entry.id)
  }

  /// The latest fault that began at or before `time`.
  func latest(at time: Instant) -> Instant? {
    entries.flatMap { context.anchors.all(Self.anchor($0.entry)) }.filter { $0 <= time }.max()
  }

  /// `link.down wifi since 18.31 s`; an instantaneous fault is told with its time, for it may have lasting effects.
  func lines(at time: Instant) -> [String] {
    entries.flatMap { entry, fault, duration -> [String] in
      context.anchors.all(Self.anchor(entry)).filter { $0 <= time }.compactMap { start in
        let name = Self.name(of: fault)
        guard fault.kind.declaration.lasts else { return "\(name) at \(Wording.time(start))" }
        if let end = end(of: entry, from: start, duration), end <= time { return nil }
        return "\(name) since \(Wording.time(start))"
      }
    }
  }

  /// When a fault ended: by itself, by `clear:`, or because the opposite fault undid it.
  private func end(of entry: TimelineEntry, from start: Instant, _ duration: Interval?) -> Instant? {
    var ends = duration.map { [start + $0] } ?? []
    for other in context.scenario.timeline {
      guard undoes(other, entry) else { continue }
      ends += context.anchors.all(Self.anchor(other)).filter { $0 >= start }.prefix(1)
    }
    return ends.min()
  }

  private func undoes(_ other: TimelineEntry, _ entry: TimelineEntry) -> Bool {
    switch (other.effect, entry.effect) {
    case (.clear(let cleared), _): return cleared.value == entry.id
    case (.fault(let a, _), .fault(let b, _)):
      let opposite: FaultKind? =
        switch b.kind {
        case .linkDown: .linkUp
        case .linkUp: .linkDown
        default: nil
        }
      return a.kind == opposite && a.arguments.text("link") == b.arguments.text("link")
    default: return false
    }
  }

  private static func name(of fault: Fault) -> String {
    let details =
      fault.arguments.entries.map { $0.value.value.description } + [fault.direction?.rawValue].compactMap { $0 }
    return ([fault.kind.rawValue] + details).joined(separator: " ")
  }
}
