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

  /// A fault of another entry, or the nature of a link, that takes something again while it lasts.
  private struct Recurring {
    let entry: String
    let what: String
    let recurrence: FaultRecurrence
    let start: Instant
    var end: Instant?
  }

  private let context: MonitorContext
  /// In order of time.
  private var causes: [Cause] = []
  /// In order of start.
  private var recurring: [Recurring] = []

  /// - Parameter judged: the entry with the fault that is judged. What it does is no rival.
  init(of judged: String, _ context: MonitorContext) {
    self.context = context
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
        recurring.append(Recurring(entry: "", what: "link '\(link.name)'", recurrence: recurrence, start: .zero))
      }
    }
    context.watch.listen(toAll: "fault.applied") { [unowned self] record in
      guard let (id, fault) = fault(of: record, besides: judged), let recurrence = FaultRecurrence(fault)
      else { return }
      recurring.append(Recurring(entry: id, what: "'\(id)'", recurrence: recurrence, start: record.time))
    }
    context.watch.listen(toAll: "fault.cleared") { [unowned self] record in
      guard let (id, fault) = fault(of: record, besides: judged) else { return }
      // An entry that fired again has several; they are of one length, so the first to begin is the first to end.
      if let index = recurring.firstIndex(where: { $0.entry == id && $0.end == nil }) {
        recurring[index].end = record.time
      }
      if fault.kind.takesWhenItEnds { causes.append(Cause(what: "the end of '\(id)'", time: record.time)) }
    }
  }

  private func fault(of record: TraceRecord, besides judged: String) -> (id: String, fault: Fault)? {
    guard let id = context.trace.datum("entry", of: record)?.description, id != judged,
      let fault = context.scenario.entry(id)?.fault
    else { return nil }
    return (id, fault)
  }

  /// The last thing within these times that may have taken something.
  ///
  /// - Parameter beginning: when the fault began that is judged. A fault that begins together with it is one with it.
  func last(from start: Instant, through loss: Instant, besidesFaultAt beginning: Instant) -> Cause? {
    var last = causes.last { $0.time >= start && !($0.isBeginning && $0.time == beginning) }
    for fault in recurring {
      // At its end it does nothing any more.
      let end = min(loss, fault.end.map { $0 - .nanoseconds(1) } ?? loss)
      guard end > fault.start, let offset = fault.recurrence.last(within: end - fault.start) else { continue }
      let time = fault.start + offset
      guard time >= start, last.map({ time > $0.time }) ?? true else { continue }
      last = Cause(what: "\(fault.recurrence.what) of \(fault.what)", time: time)
    }
    return last
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
    default: return nil
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
  fileprivate var fault: Fault? {
    guard case .fault(let fault, _) = effect else { return nil }
    return fault
  }

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

extension FaultKind {
  /// Whether its end brings back what may be worse: that the link is down, lossy, slow or leads elsewhere, or that a
  /// rule, a NAT's or a firewall's, is as it was. The end of any other only gives back.
  fileprivate var takesWhenItEnds: Bool { [.linkUp, .linkSet, .linkMove, .natSet, .firewallAllow].contains(self) }
}
