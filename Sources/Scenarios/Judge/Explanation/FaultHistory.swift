internal import CallCore

/// When the faults of the timeline began and ended, as those who laid them over the world wrote it into the trace.
final class FaultHistory {
  private struct Instance {
    let entry: String
    let name: String
    let lasts: Bool
    let start: Instant
    var end: Instant?
  }

  /// In order of start.
  private var instances: [Instance] = []

  init(_ context: MonitorContext) {
    let watch = context.watch
    let run = ReservedName.timekeeper
    var faults: [String: Fault] = [:]
    for entry in context.scenario.timeline {
      if case .fault(let fault, _) = entry.effect { faults[entry.id] = fault }
    }
    watch.listen(watch.slot(run, "fault.applied")) { [unowned self, unowned watch] record in
      let entry = watch.trace.datum(at: 0, of: record).description
      guard let fault = faults[entry] else { return }
      instances.append(
        Instance(
          entry: entry, name: Self.name(of: fault), lasts: fault.kind.declaration.lasts, start: record.time))
    }
    // An entry that fired again has several; they are of one length, so the first to begin is the first to end.
    watch.listen(watch.slot(run, "fault.cleared")) { [unowned self, unowned watch] record in
      let entry = watch.trace.datum(at: 0, of: record).description
      guard let index = instances.firstIndex(where: { $0.entry == entry && $0.lasts && $0.end == nil }) else { return }
      instances[index].end = record.time
    }
  }

  /// `link.down wifi since 18.31 s`; an instantaneous fault is told with its time, for it may have lasting effects.
  func lines(at time: Instant) -> [String] {
    instances.compactMap { instance in
      guard instance.start <= time else { return nil }
      guard instance.lasts else { return "\(instance.name) at \(Wording.time(instance.start))" }
      if let end = instance.end, end <= time { return nil }
      return "\(instance.name) since \(Wording.time(instance.start))"
    }
  }

  private static func name(of fault: Fault) -> String {
    ([fault.kind.rawValue] + fault.arguments.entries.map { $0.value.value.description }).joined(separator: " ")
  }
}
