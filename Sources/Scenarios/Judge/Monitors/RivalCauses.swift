internal import CallCore

/// What may take something besides the fault that `recovers` judges: whatever other entries do, and what their faults do
/// in their midst and at their end.
final class RivalCauses {
  struct Cause {
    let what: String
    let time: Instant
    /// Whether it is the beginning of a fault.
    var isBeginning = false
  }

  /// Something that takes again while it lasts.
  private struct Recurring {
    let what: String
    let recurrence: FaultRecurrence
    let start: Instant
    var end: Instant?
  }

  private let judged: String
  private let faults: FaultHistory
  /// What entries did, in order of time.
  private var causes: [Cause] = []
  /// Links that lose by a script.
  private var links: [Recurring] = []

  /// - Parameter judged: the entry with the fault that is judged. What it does is no rival.
  init(of judged: String, _ context: MonitorContext) {
    self.judged = judged
    faults = FaultHistory(context)
    for entry in context.scenario.timeline where entry.id != judged {
      guard let what = entry.mayTake else { continue }
      let isBeginning = entry.fault != nil
      context.anchors.listen(Anchor(kind: .entry(entry.id), span: entry.span, text: entry.id)) { [unowned self] in
        causes.append(Cause(what: what, time: $0, isBeginning: isBeginning))
      }
    }
    for link in context.scenario.topology.links {
      for side in [link.transmit, link.receive] {
        guard let recurrence = FaultRecurrence(side) else { continue }
        links.append(Recurring(what: "link '\(link.name)'", recurrence: recurrence, start: .zero))
      }
    }
  }

  /// The last thing within these times that may have taken something.
  ///
  /// - Parameter beginning: when the fault began that is judged. A fault that begins together with it is one with it.
  func last(from start: Instant, through loss: Instant, besidesFaultAt beginning: Instant) -> Cause? {
    let rivals = faults.instances.filter { $0.entry != judged }
    var last = causes.last { !($0.isBeginning && $0.time == beginning) }
    func consider(_ cause: Cause) {
      if last.map({ cause.time > $0.time }) ?? true { last = cause }
    }
    for fault in rivals {
      guard fault.fault.kind.end == .mayTake, let end = fault.end else { continue }
      consider(Cause(what: "the end of '\(fault.entry)'", time: end))
    }
    let again = rivals.compactMap { fault in
      FaultRecurrence(fault.fault).map {
        Recurring(what: "'\(fault.entry)'", recurrence: $0, start: fault.start, end: fault.end)
      }
    }
    for fault in links + again {
      // At its end it does nothing any more.
      let end = min(loss, fault.end.map { $0 - .nanoseconds(1) } ?? loss)
      guard end > fault.start, let offset = fault.recurrence.last(within: end - fault.start) else { continue }
      consider(Cause(what: "\(fault.recurrence.what) of \(fault.what)", time: fault.start + offset))
    }
    return last.flatMap { $0.time >= start ? $0 : nil }
  }
}

/// When a fault takes again, after it began, what it has given back since; likewise a link that loses by a script.
private struct FaultRecurrence {
  private enum Times {
    /// Every so often, so many times after the beginning; nil is without end.
    case every(Interval, count: Int?)
    /// So long after the beginning, and again after each period.
    case offsets([Interval], period: Interval?)
    /// Nobody knows beforehand.
    case anyTime
  }

  /// What it is that comes again.
  let what: String
  private let times: Times

  private init(_ what: String, _ times: Times) { (self.what, self.times) = (what, times) }

  /// Nil of a fault that takes what it takes when it begins.
  init?(_ fault: Fault) {
    switch fault.kind {
    case .linkFlap:
      guard let down = fault.arguments.duration("down"), let up = fault.arguments.duration("up") else { return nil }
      self.init("a down", .every(down + up, count: fault.arguments.count("cycles").map { $0 - 1 }))
    case .linkSet:
      guard let impairments = fault.impairments else { return nil }
      self.init(impairments)
    case .dtlsDrop, .packetDrop:
      // When the packets with these numbers come nobody knows.
      guard fault.arguments.texts("nth")?.contains(where: { $0 != "1" }) ?? false else { return nil }
      self.init("the drops", .anyTime)
    case .linkDown, .linkUp, .linkBlackhole, .linkOneWay, .linkMove, .natReboot, .natExpire, .natRemap, .natSet,
      .firewallBlock, .firewallAllow, .turnRestart, .turnDeny, .turnStaleNonce, .turnReject, .turnExpirePermissions,
      .turnExpireChannels, .turnDisconnect, .turnCertificate, .stunSilent, .signalDrop, .signalDelay, .signalDuplicate,
      .signalReorder, .signalCorrupt, .signalDisconnect, .signalBlackhole, .clockJump, .deviceAudioLate:
      return nil
    }
  }

  /// Nil where no script says what is lost.
  init?(_ impairments: Topology.Impairments) {
    switch impairments.loss {
    case .times(let spans, let period)?:
      self.init("a span of losses", .offsets(spans.map(\.lowerBound), period: period))
    case .packets?: self.init("the losses", .anyTime)
    case nil, .none?, .random?, .gilbert?: return nil
    }
  }

  /// The last time, counted from the beginning, that is after it and not later than this.
  func last(within elapsed: Interval) -> Interval? {
    switch times {
    case .anyTime: return elapsed
    case .every(let period, let count):
      let rounds = elapsed.nanoseconds / period.nanoseconds
      let last = min(rounds, count.map { Int64($0) } ?? rounds)
      return last > 0 ? .nanoseconds(last * period.nanoseconds) : nil
    case .offsets(let offsets, let period):
      let length = period?.nanoseconds ?? 0
      let round = length > 0 ? elapsed.nanoseconds / length : 0
      let times = [round - 1, round].filter { $0 >= 0 }.flatMap { round in
        offsets.map { round * length + $0.nanoseconds }
      }
      return times.filter { $0 > 0 && $0 <= elapsed.nanoseconds }.max().map { .nanoseconds($0) }
    }
  }
}

extension TimelineEntry {
  /// What is to be called that it does, where that may take something; nil where it does not. What a `clear:` ends is
  /// told of when it ends.
  fileprivate var mayTake: String? {
    switch effect {
    case .action(let peer, let name, _): refusal == .none ? "\(peer).\(name)" : nil
    case .fault(let fault, _): fault.kind == .linkUp ? nil : "'\(id)'"
    case .send(let message, let from, _, _): "the message \(message) from \(from)"
    case .clear, .mark: nil
    }
  }
}
