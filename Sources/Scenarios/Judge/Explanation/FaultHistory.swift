internal import CallCore
internal import ScenarioFormat

/// The starts and ends of the timeline's faults, from the story.
struct FaultHistory {
  struct Instance {
    let entry: String
    let fault: Fault
    let start: Instant
    let end: Instant?

    fileprivate func isOver(at time: Instant) -> Bool { fault.kind.lasts && end.map { $0 <= time } ?? false }
    fileprivate func isOf(_ trouble: Instant) -> Bool { end.map { $0 > trouble } ?? true }
  }

  private let context: MonitorContext

  init(_ context: MonitorContext) { self.context = context }

  /// The instances in order of start. An entry that fired again has several.
  var instances: [Instance] {
    context.story.faults.compactMap { interval in
      context.scenario.entry(interval.entry)?.fault.map {
        Instance(entry: interval.entry, fault: $0, start: interval.start, end: interval.end)
      }
    }
  }

  func active(at time: Instant) -> [Instance] {
    relevant(at: time, since: time).filter(\.fault.kind.lasts)
  }

  /// Returns lines such as `link.down wifi since 18.31 s`. An instantaneous fault is listed with its time, and one that
  /// is over with both times, because they may have lasting effects: `link.move wifi cell from 15.00 s to 19.00 s`.
  ///
  /// - Parameters:
  ///   - trouble: the start of the trouble; faults that were over before are unrelated.
  ///   - isOfMedia: whether the media of an established connection failed; then faults that media do not pass come
  ///     last.
  func lines(at time: Instant, since trouble: Instant, isOfMedia: Bool = false) -> [String] {
    let relevant = relevant(at: time, since: trouble)
    guard isOfMedia else { return relevant.map { Self.line($0, at: time) } }
    return relevant.filter { !Self.isBesideMedia($0.fault.kind) }.map { Self.line($0, at: time) }
      + relevant.filter { Self.isBesideMedia($0.fault.kind) }.map {
        Self.line($0, at: time) + ", which no media passes"
      }
  }

  /// Returns the faults that have begun and, if they last, continued in the trouble; of those that are over only the
  /// newest.
  private func relevant(at time: Instant, since trouble: Instant) -> [Instance] {
    let begun = instances.filter { $0.start <= time }
    var over = begun.count { $0.isOver(at: time) && $0.isOf(trouble) } - Self.overLimit
    return begun.filter { instance in
      guard instance.isOver(at: time) else { return true }
      guard instance.isOf(trouble) else { return false }
      over -= 1
      return over < 0
    }
  }

  private static let overLimit = 3

  private static func line(_ instance: Instance, at time: Instant) -> String {
    let (name, start) = (instance.fault.label, Wording.time(instance.start))
    guard instance.fault.kind.lasts else { return "\(name) at \(start)" }
    guard let end = instance.end, instance.isOver(at: time) else { return "\(name) since \(start)" }
    return "\(name) from \(start) to \(Wording.time(end))"
  }

  private static func isBesideMedia(_ kind: FaultKind) -> Bool {
    switch kind {
    case .signalDrop, .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect,
      .signalBlackhole, .dtlsDrop, .clockJump, .deviceEventsLate, .deviceRouteChange, .deviceCameraInterruption:
      true
    case .linkDown, .linkUp, .linkSet, .linkFlap, .linkBlackhole, .linkOneWay, .linkMove, .natReboot, .natExpire,
      .natRemap, .natSet, .firewallBlock, .firewallAllow, .turnRestart, .turnDeny, .turnStaleNonce, .turnReject,
      .turnExpirePermissions, .turnExpireChannels, .turnDisconnect, .turnCertificate, .stunSilent, .dtlsFail,
      .dataChannelFail,
      .packetDrop,
      .packetForge,
      .deviceAudioLate, .deviceBackground, .deviceInactive, .deviceSuspend, .devicePhoneCall, .deviceAudioInterruption,
      .deviceKill,
      .deviceMemoryPressure, .deviceTraffic:
      false
    }
  }
}
