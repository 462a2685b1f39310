internal import CallCore
internal import VirtualPeer

/// `metric`: a statistic of a number over the window, compared with bounds.
///
/// Every value written within the window is a sample. What holds when it opens is one too, unless it is sampled from
/// statistics: those are measured again within the window, and for `rate` and `delta` the old sample is the base.
final class MetricMonitor: Monitor {
  let ruling: Ruling
  private let metric: Expectation.Metric
  private let context: MonitorContext
  private let slot: Watch.Slot
  private let span: ObservedWindow
  private var samples = SampleSeries()
  private var heard: [Double] = []
  private var hasOpened = false
  private var before: (value: Double, time: Instant)?

  init(_ metric: Expectation.Metric, _ context: MonitorContext) {
    self.metric = metric
    self.context = context
    slot = context.watch.slot(metric.value.peer, metric.value.name)
    span = ObservedWindow(metric.window, context)
    let across = metric.across == .seeds ? " across seeds" : ""
    ruling = Ruling(
      expected: "\(metric.statistic) of \(metric.value)\(across) is \(Wording.bounds(metric.bounds)), \(span.text)")
    context.watch.listen(slot) { [unowned self] in hear($0) }
    span.onChange = { [unowned self] in look(at: $0) }
    span.start()
  }

  var isPending: Bool { ruling.isOpen && span.waitsForAnchor }

  private func hear(_ record: TraceRecord) {
    guard record.fieldCount > 0, let number = Value(context.trace.datum(at: 0, of: record)).number else { return }
    heard.append(number)
    context.later { [unowned self] in look(at: $0) }
  }

  private func look(at now: Instant) {
    let news = heard
    heard = []
    guard ruling.isOpen else { return }
    if span.contains(now) {
      if !hasOpened {
        hasOpened = true
        open(at: now)
      }
      for value in news { samples.add(value, at: now) }
    } else if let closed = span.closedAt {
      conclude(at: closed)
    } else if let last = news.last {
      before = (last, now)
    }
  }

  private func open(at now: Instant) {
    guard let before else { return }
    if metric.value.isSampled {
      samples.base = before
    } else {
      samples.base = (before.value, now)
      samples.add(before.value, at: now)
    }
  }

  private func conclude(at time: Instant) {
    if let reason = span.emptiness ?? span.brevity { return ruling.decide(.vacuous, at: time, reason) }
    guard samples.count > 0 else {
      return ruling.decide(.vacuous, at: time, "no sample of \(metric.value), \(span.text)")
    }
    let statistic = metric.across == .seeds ? metric.statistic.withinRun : metric.statistic
    guard var number = samples.statistic(statistic) else {
      return ruling.decide(.vacuous, at: time, "only one sample of \(metric.value), \(span.text)")
    }
    if statistic == .rate, metric.isOfBytes { number *= 8 }
    ruling.measured = number
    let text = "\(statistic) is \(metric.text(of: number)), of \(Wording.count(samples.count, "sample"))"
    guard metric.across == .run else { return ruling.decide(.shared, at: time, "in this run \(text)") }
    let holds = metric.bounds.allSatisfy { $0.admits(number) }
    ruling.decide(holds ? .pass : .fail, at: time, text, nearestMiss: holds ? nil : samples.range.map(rangeText))
  }

  private func rangeText(_ range: ClosedRange<Double>) -> String {
    let type = metric.value.type
    return "samples lie between \(Wording.quantity(range.lowerBound, type)) and "
      + Wording.quantity(range.upperBound, type)
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    look(at: time)
    if ruling.isOpen { conclude(at: time) }
  }
}

extension Expectation.Metric {
  var isOfBytes: Bool { value.unit == "bytes" || value.type == .byteSize }

  /// A value of the statistic in its unit.
  func text(of number: Double) -> String {
    let (type, unit) = statistic.result(of: value)
    return Wording.quantity(number, type, unit: unit)
  }
}

extension Expectation.Statistic: CustomStringConvertible {
  /// As scenario files write it.
  public var description: String {
    switch self {
    case .last: "last"
    case .first: "first"
    case .minimum: "min"
    case .maximum: "max"
    case .mean: "mean"
    case .sum: "sum"
    case .count: "count"
    case .rate: "rate"
    case .delta: "delta"
    case .percentile(let percent): "p\(percent)"
    }
  }
}
