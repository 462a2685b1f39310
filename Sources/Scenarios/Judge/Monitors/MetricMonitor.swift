internal import CallCore
public import ScenarioFormat
internal import Vocabulary

/// `metric`: a statistic of a number over the window, compared with bounds.
///
/// Every value written within the window is a sample. The value at its opening is one too, unless it is sampled from
/// statistics. For `first`, `last`, `rate` and `delta`, statistics are read at the borders of the window, where there
/// may be no sample: before all events at a border by the clock, before the effect of an entry, and right after an
/// event of a peer.
final class MetricMonitor: Monitor {
  private enum Border { case opening, closing }

  /// A value read at a border; the number is nil if the statistic did not exist.
  private struct BorderReading {
    var isMade = false
    var hasConnection = false
    var number: Double?
  }

  let ruling: Ruling
  private let metric: Expectation.Metric
  private let context: MonitorContext
  private let slot: Watch.Slot<TraceDatum>
  private let span: ObservedWindow
  private let readsBorders: Bool
  /// Whether the number is only shown, so that its absence is no lack.
  private let isMeasure: Bool
  private var samples = SampleSeries()
  private var heard: [Double] = []
  private var hasOpened = false
  private var isClosing = false
  /// The last sample before the window.
  private var before: (value: Double, time: Instant)?
  /// The times at which a candidate pair was selected within the window, and whether one was selected at its opening.
  private var selections: [Instant] = []
  private var opensWithPair = false
  private var opening = BorderReading()
  private var closing = BorderReading()
  /// For how long the number could be measured; nil for any but one of an arm.
  private var measuredTime: MeasuredTime?

  convenience init(_ metric: Expectation.Metric, _ context: MonitorContext) {
    let across = metric.across == .seeds ? " across seeds" : ""
    self.init(
      metric, "\(metric.statistic) of \(metric.value)\(across) is \(Wording.bounds(metric.bounds))", context)
  }

  /// Measures the number of one arm; the runs of both decide.
  convenience init(_ delta: Expectation.Delta, _ context: MonitorContext) {
    var metric = delta.metric
    metric.across = .seeds
    self.init(metric, "\(delta)", isMeasure: delta.isMeasure, context)
    let time = MeasuredTime(metric, context)
    measuredTime = time
    ruling.course = NumberCourse(metric)
    time.start(metric.value.subject) { [unowned self] in context.later { [unowned self] in look(at: $0) } }
  }

  private init(_ metric: Expectation.Metric, _ text: String, isMeasure: Bool = false, _ context: MonitorContext) {
    self.metric = metric
    self.isMeasure = isMeasure
    self.context = context
    slot = context.watch.slot(metric.value.subject, metric.value.name)
    span = ObservedWindow(metric.window, context)
    readsBorders = metric.value.isStatistic && [.first, .last, .rate, .delta].contains(metric.statistic)
    ruling = Ruling(expected: "\(text), \(span.text)")
    context.watch.listen(slot) { [unowned self] in hear($0) }
    context.watch.listen(slot, toLosses: { [unowned self] in loseConnection() })
    listenToRestarts()
    if isOfOnePair { context.watch.listen(pair) { [unowned self] in select(at: $0.time) } }
    if readsBorders {
      plan(.opening, at: metric.window.from)
      plan(.closing, at: metric.window.to)
    }
    span.onChange = { [unowned self] in look(at: $0) }
    span.start()
  }

  var isPending: Bool { ruling.isOpen && (span.waitsForAnchor || isClosing) }

  // MARK: Borders

  /// Schedules the reading at a border by the clock, or at an entry's border, before any of its events.
  private func plan(_ border: Border, at anchor: Anchor?) {
    switch anchor?.kind {
    case .time(let time)? where time > .zero:
      context.alarms.schedule(at: time - .nanoseconds(1)) { [weak self] in self?.read(border) }
    case .entry?:
      guard let anchor else { return }
      context.anchors.listen(anchor) { [unowned self] _ in
        if border == .opening ? span.openedAt == nil : span.isOpen { read(border) }
      }
    default: break
    }
  }

  private func read(_ border: Border) {
    guard context.statistics.report != nil else { return }
    let reading = BorderReading(
      isMade: true, hasConnection: context.statistics.hasConnection(metric.value.subject),
      number: context.statistics.number(of: metric.value))
    switch border {
    case .opening: if !opening.isMade { opening = reading }
    case .closing: if !closing.isMade { closing = reading }
    }
  }

  // MARK: Samples

  private func hear(_ record: TraceRecord) {
    guard let number = context.trace.value(of: record).flatMap({ Value($0).number }) else { return }
    heard.append(number)
    ruling.course?.add(number, at: record.time)
    context.later { [unowned self] in look(at: $0) }
  }

  /// Whether it is a counter of one candidate pair, which cannot be compared with that of another.
  private var isOfOnePair: Bool {
    metric.value.counting == .ofSelectedPair && [.rate, .delta].contains(metric.statistic)
  }

  /// The slot that is written whenever a pair is selected.
  private var pair: Watch.Slot<Int> {
    context.watch.slot(metric.value.subject, PeerConnectionEvents.selectedPort(.local))
  }

  private func select(at now: Instant) {
    if span.contains(now) { selections.append(now) }
    context.later { [unowned self] in look(at: $0) }
  }

  /// Follows what an app counts, and a fall of which does not tell that it counts anew: it does so with each data channel,
  /// and with each connection.
  private func listenToRestarts() {
    guard metric.value.counting == .net, !metric.value.isStatistic else { return }
    let (watch, parts) = (context.watch, metric.value.name.split(separator: "."))
    if parts.count == 3, parts[0] == "data" {
      let state = DataChannelEvents.state(of: String(parts[1]))
      watch.listen(to: state, of: metric.value.subject) { [unowned self] _, state, _ in
        if state == "closed" { loseConnection() }
      }
    }
    watch.listen(to: PeerEvents.openConnections, of: metric.value.subject) { [unowned self] _, count in
      if count == 0 { loseConnection() }
    }
  }

  /// The reason why counters of several pairs give no number.
  private var mixture: String? {
    guard isOfOnePair, selections.count + (opensWithPair ? 1 : 0) > 1, let last = selections.last else { return nil }
    let transport = metric.value.name.replacing("candidate-pair", with: "transport")
    let remedy =
      CommonVocabulary.value(transport) == nil
      ? "" : ": \(ValuePath.text(transport, of: metric.value.subject)) counts over all pairs"
    return "another candidate pair was selected at \(Wording.time(last)), and each counts by itself\(remedy)"
  }

  /// Discards the values of a closed connection, or channel, except what a counter came to; that of the next one starts
  /// anew.
  private func loseConnection() {
    let news = heard
    heard = []
    // The clock may have opened or closed the window by now, before all events at this time.
    if span.contains(context.trace.now) {
      if metric.value.counting != nil, hasOpened { for value in news { samples.add(value, at: context.trace.now) } }
      samples.beginAnew()
    }
    if span.openedAt == nil || samples.count == 0 { before = nil }
    context.later { [unowned self] in look(at: $0) }
  }

  private func look(at now: Instant) {
    let news = heard
    heard = []
    guard ruling.isOpen, !isClosing else { return }
    let isInside = span.contains(now)
    measuredTime?.take(isInside: isInside)
    if isInside {
      if !hasOpened {
        hasOpened = true
        opensWithPair = isOfOnePair && selections.isEmpty && context.watch.value(pair) != nil
        open(at: now)
      }
      if !tellsOfTimeBefore(at: now) { for value in news { samples.add(value, at: now) } }
    } else if let closed = span.closedAt {
      close(at: closed)
    } else if let last = news.last {
      before = (last, now)
    }
  }

  /// Whether a sample tells of a time that began before the window.
  private func tellsOfTimeBefore(at now: Instant) -> Bool {
    guard metric.window.from != nil, let opened = span.openedAt, Self.ofPeriods.contains(metric.value.name) else {
      return false
    }
    return now - StatsSampler.period < opened
  }

  /// The values that are sampled only while speech plays, or is due: arms have them at different moments.
  private static let ofMoments: Set<String> = [
    HarnessEvents.mouthToEar.name, HarnessEvents.meanOpinionScore.name,
  ]

  /// The values whose samples tell of the period before them, or of a moment in it.
  private static let ofPeriods: Set<String> = [
    HarnessEvents.concealment.name, HarnessEvents.frameDelay.name, HarnessEvents.pictureAge.name,
    HarnessEvents.lipSync.name, HarnessEvents.peakSignalToNoise.name, HarnessEvents.structuralSimilarity.name,
  ]

  private func open(at now: Instant) {
    if let before, !metric.value.isSampled { samples.add(before.value, at: now) }
    guard readsBorders, metric.window.from?.isPeerEvent == true else { return }
    context.statistics.afterEvent { [weak self] in self?.read(.opening) }
  }

  private func close(at time: Instant) {
    guard readsBorders, metric.window.to?.isPeerEvent == true else { return conclude(at: time) }
    isClosing = true
    context.statistics.afterEvent { [weak self] in
      self?.read(.closing)
      self?.conclude(at: time)
    }
  }

  /// Sets the values from which `rate` and `delta` count.
  private func takeBorders(_ end: Instant) {
    guard let opened = span.openedAt else { return }
    guard readsBorders, context.statistics.report != nil else {
      samples.base = before.map { metric.value.isSampled ? $0 : ($0.value, opened) }
      // A value holds until the window closes, even if it is not written again.
      if metric.statistic == .rate, !metric.value.isSampled { samples.closing = samples.last.map { ($0, end) } }
      return
    }
    samples.opening = opening.number
    // Of an arm it is the rate since the connection stood: arms may connect at different times.
    let start = wasAtZero ? measuredTime?.beginning(from: opened) ?? opened : opened
    samples.base = (opening.number ?? (wasAtZero ? 0 : nil)).map { ($0, max(start, opened)) }
    samples.closing = closing.number.map { ($0, end) }
  }

  /// Whether it is a counter that had not started when the window opened.
  private var wasAtZero: Bool {
    metric.value.startsAtZero || (metric.value.counting != nil && !opening.hasConnection)
  }

  // MARK: The end

  private func lacks(at time: Instant, _ reason: String) {
    ruling.decide(isMeasure ? .shared : .vacuous, at: time, reason)
  }

  private func conclude(at time: Instant) {
    if let reason = span.emptiness ?? span.brevity { return lacks(at: time, reason) }
    if let mixture { return lacks(at: time, mixture) }
    takeBorders(time)
    samples.counting = metric.value.counting
    guard !samples.isEmpty else {
      return lacks(at: time, "no sample of \(metric.value), \(span.text)\(sampling)")
    }
    let statistic = metric.statistic
    guard var number = samples.statistic(statistic) else {
      return lacks(at: time, "only one sample of \(metric.value), \(span.text)")
    }
    if statistic == .rate, metric.isOfBytes { number *= 8 }
    ruling.measured = number
    if let measuredTime, let opened = span.openedAt {
      (ruling.opened, ruling.closed) = (opened, span.closedAt ?? time)
      if Self.ofMoments.contains(metric.value.name), statistic.isOfSamples { ruling.samples = samples.samples }
      ruling.measuredTime =
        switch metric.value.name {
        case HarnessEvents.mouthToEar.name, HarnessEvents.lipSync.name: StatsSampler.period * Int64(samples.count)
        case let name where SpeechMeter.names.contains(name): SpeechMeter.speechInValue * Int64(samples.count)
        default: measuredTime.time(from: opened, to: span.closedAt ?? time)
        }
    }
    let text = "\(statistic) is \(metric.text(of: number)), \(origin)"
    guard metric.across == .run else { return ruling.decide(.shared, at: time, "in this run \(text)") }
    let holds = metric.bounds.allSatisfy { $0.admits(number) }
    let range = holds || !statistic.isAmongSamples ? nil : samples.range.map(rangeText)
    ruling.decide(
      holds ? .pass : .fail, at: time, text, nearestMiss: range, miss: metric.bounds.miss(of: number))
  }

  /// The samples behind the number, in words.
  private var origin: String {
    guard let opened = span.openedAt, let closed = samples.closing?.time else {
      return "of \(Wording.count(samples.count, "sample"))"
    }
    return "read at \(Wording.time(opened)) and \(Wording.time(closed))"
  }

  private var sampling: String {
    if SpeechMeter.names.contains(metric.value.name) { return ": there is one for each 2.5 s of speech" }
    if SpeechLoss.names.union([HarnessEvents.mouthToEar.name]).contains(metric.value.name) {
      return ": there is one every \(StatsSampler.period) while the only other peer of the connection speaks"
    }
    if metric.value.name == HarnessEvents.lipSync.name {
      return ": there is one every \(StatsSampler.period) while a picture comes and its peer is heard to speak"
    }
    if metric.value.name == HarnessEvents.recovery.name { return ": there is one after each interruption that ends" }
    return metric.value.isSampled ? ": there is one every \(StatsSampler.period)" : ""
  }

  private func rangeText(_ range: ClosedRange<Double>) -> String {
    let type = metric.value.type
    return "samples lie between \(Wording.quantity(range.lowerBound, type)) and "
      + Wording.quantity(range.upperBound, type)
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    look(at: time)
    guard ruling.isOpen else { return }
    if readsBorders, span.isOpen { read(.closing) }
    conclude(at: time)
  }
}

extension Expectation.Metric {
  /// Whether it grows with the time for which it is measured: the change of a number, or what a counter has come to.
  package var isGrowth: Bool {
    switch statistic {
    case .rate, .delta: true
    case .last, .maximum, .mean: value.counting == .upward
    default: false
    }
  }

  package var isOfBytes: Bool { value.unit == "bytes" || value.type == .byteSize }

  /// Returns a value of the statistic with its unit.
  package func text(of number: Double) -> String {
    let (type, unit) = statistic.result(of: value)
    return Wording.quantity(number, type, unit: unit)
  }
}

extension Expectation.Statistic: CustomStringConvertible {
  /// The name in scenario files.
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

extension Expectation.Delta: CustomStringConvertible {
  /// The difference in words: `mean of bob.q.mos, fec minus plain, is > 0.1`.
  public var description: String {
    let number = "\(metric.statistic) of \(metric.value)"
    guard !isMeasure else { return number }
    return "\(number), \(arms.map(\.value).joined(separator: " minus ")), is \(Wording.bounds(bounds))"
  }
}
