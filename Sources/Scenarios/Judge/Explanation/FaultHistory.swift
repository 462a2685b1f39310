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

  func active(at time: Instant) -> [Instance] {
    told(at: time).filter(\.fault.kind.lasts)
  }

  /// `link.down wifi since 18.31 s`; an instantaneous fault is told with its time, for it may have lasting effects.
  ///
  /// - Parameter isOfMedia: whether what failed is the media of a connection that stood; faults that no media passes are
  ///   then the last.
  func lines(at time: Instant, isOfMedia: Bool = false) -> [String] {
    let told = told(at: time)
    guard isOfMedia else { return told.map(Self.line) }
    return told.filter { !Self.isBesideMedia($0.fault.kind) }.map(Self.line)
      + told.filter { Self.isBesideMedia($0.fault.kind) }.map { Self.line($0) + ", which no media passes" }
  }

  /// Those that have begun and, where they last, go on.
  private func told(at time: Instant) -> [Instance] {
    instances.filter { instance in
      guard instance.start <= time else { return false }
      return !instance.fault.kind.lasts || (instance.end.map { $0 > time } ?? true)
    }
  }

  private static func line(_ instance: Instance) -> String {
    "\(name(of: instance.fault)) \(instance.fault.kind.lasts ? "since" : "at") \(Wording.time(instance.start))"
  }

  private static func isBesideMedia(_ kind: FaultKind) -> Bool {
    switch kind {
    case .signalDrop, .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect,
      .signalBlackhole, .dtlsDrop, .clockJump:
      true
    case .linkDown, .linkUp, .linkSet, .linkFlap, .linkBlackhole, .linkOneWay, .linkMove, .natReboot, .natExpire,
      .natRemap, .natSet, .firewallBlock, .firewallAllow, .turnRestart, .turnDeny, .turnStaleNonce, .turnReject,
      .turnExpirePermissions, .turnExpireChannels, .turnDisconnect, .turnCertificate, .stunSilent, .packetDrop,
      .deviceAudioLate:
      false
    }
  }

  private static func name(of fault: Fault) -> String {
    ([fault.kind.rawValue] + fault.arguments.entries.map { $0.value.value.description }).joined(separator: " ")
  }
}
