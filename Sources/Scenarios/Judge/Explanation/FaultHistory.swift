internal import CallCore

/// When the faults of the timeline began and ended, as those who laid them over the world wrote it into the trace.
final class FaultHistory {
  struct Instance {
    let entry: String
    let fault: Fault
    let start: Instant
    fileprivate(set) var end: Instant?
  }

  /// In order of start. An entry that fired again has several.
  private(set) var instances: [Instance] = []

  init(_ context: MonitorContext) {
    let (watch, scenario) = (context.watch, context.scenario)
    watch.listen(watch.slot(ReservedName.timekeeper, "fault.applied")) { [unowned self, unowned watch] record in
      let entry = watch.trace.datum(at: 0, of: record).description
      guard let fault = scenario.entry(entry)?.fault else { return }
      instances.append(Instance(entry: entry, fault: fault, start: record.time))
    }
    // Those of one entry are of one length, so the first to begin is the first to end.
    watch.listen(watch.slot(ReservedName.timekeeper, "fault.cleared")) { [unowned self, unowned watch] record in
      let entry = watch.trace.datum(at: 0, of: record).description
      let index = instances.firstIndex { $0.entry == entry && $0.fault.kind.lasts && $0.end == nil }
      if let index { instances[index].end = record.time }
    }
  }

  /// `link.down wifi since 18.31 s`; an instantaneous fault is told with its time, for it may have lasting effects.
  func lines(at time: Instant) -> [String] {
    instances.compactMap { instance in
      guard instance.start <= time else { return nil }
      let name = Self.name(of: instance.fault)
      guard instance.fault.kind.lasts else { return "\(name) at \(Wording.time(instance.start))" }
      if let end = instance.end, end <= time { return nil }
      return "\(name) since \(Wording.time(instance.start))"
    }
  }

  private static func name(of fault: Fault) -> String {
    ([fault.kind.rawValue] + fault.arguments.entries.map { $0.value.value.description }).joined(separator: " ")
  }
}
