internal import CallCore
internal import ScenarioFormat
internal import Statistics
internal import Vocabulary

/// For how long of a window a number of an arm could be measured, however much arrived meanwhile.
///
/// A statistic of samples can be measured while its connection reports what it tells of: an incoming stream is
/// reported from its first packet on, whether more come or not, an outgoing one while its track is sent. What tells of
/// pictures has a sample of each camera, and is measured for the time of all of them together. What tells of speech is
/// measured while somebody speaks, and the device that plays it runs. Anything that counts over the window can be measured
/// during the call, which is from when a connection of the peer stands until it is closed; what is not of a peer, while
/// any peer has one.
final class MeasuredTime {
  private let context: MonitorContext
  private let countsReports: Bool
  /// The value that a report must have, or an entry of the kind of media that it must have; nil for any report.
  private let reported: ValuePath?
  private let received: String?
  /// The connection whose speech it tells of; nil for any other.
  private let speaking: String?
  /// For how long somebody had spoken when the window opened, and at the last look within it.
  private var spoken: (start: Interval, last: Interval)?
  /// The reports that came, and those of them within the window; of pictures once for each stream.
  private var heard = 0
  private var inside = 0
  /// The times during which there was a call; the last one may go on.
  private var calls: [(start: Instant, end: Instant?)] = []
  private var open: [String: Int] = [:]
  /// The subjects of which a connection stands, or stood since it was opened.
  private var connected: Set<String> = []

  init(_ metric: Expectation.Metric, _ context: MonitorContext) {
    self.context = context
    let value = metric.value
    countsReports =
      value.isSampled && !metric.isGrowth && value.name != HarnessEvents.recovery.name
    reported = value.isStatistic ? value : nil
    received = Self.receivedKind(of: value.name)
    speaking = SpeechLoss.names.contains(value.name) && countsReports ? value.subject : nil
    guard !countsReports else { return }
    for subject in subjects(of: value, context.scenario) {
      // Programs tell nothing of their connections.
      let isProgram = context.scenario.peer(ConnectionSubject.owner(of: subject))?.stack == .external
      context.watch.listen(to: PeerEvents.openConnections, of: subject) { [unowned self] record, count in
        change(at: record.time) {
          open[subject] = count
          if count == 0 { connected.remove(subject) } else if isProgram { connected.insert(subject) }
        }
      }
      for connection in connections(of: subject) {
        context.watch.listen(to: PeerConnectionEvents.connectionState, of: connection) {
          [unowned self] record, state, _ in
          guard state == "connected" else { return }
          change(at: record.time) { connected.insert(subject) }
        }
      }
    }
  }

  /// Begins to listen to reports.
  ///
  /// - Parameter onReport: Called after each.
  func start(_ subject: String, onReport: @escaping () -> Void) {
    guard countsReports else { return }
    context.statistics.receive(subject) { [unowned self] report in
      let streams = received.map { report.incoming($0).count } ?? 1
      guard streams > 0, reported.map({ context.statistics.value(of: $0, in: report) != nil }) ?? true else { return }
      heard += received == "video" ? streams : 1
      onReport()
    }
  }

  /// Counts the reports that came since the last call.
  func take(isInside: Bool) {
    if isInside { inside += heard }
    heard = 0
    guard isInside, let speaking, let time = context.statistics.speechTime(over: speaking) else { return }
    spoken = (spoken?.start ?? time, time)
  }

  /// Returns the time within a window.
  func time(from start: Instant, to end: Instant) -> Interval {
    if let spoken { return spoken.last - spoken.start }
    guard !countsReports else { return StatsSampler.period * Int64(inside) }
    return calls.reduce(.zero) { sum, call in
      let (from, to) = (max(call.start, start), min(call.end ?? end, end))
      return from < to ? sum + (to - from) : sum
    }
  }

  /// Returns when the call began that goes on at a time, or begins next; nil if none does.
  func beginning(from time: Instant) -> Instant? { calls.first { $0.end.map { $0 > time } ?? true }?.start }

  private var isCall: Bool { open.contains { $0.value > 0 && connected.contains($0.key) } }

  private func change(at time: Instant, _ body: () -> Void) {
    let wasOpen = isCall
    body()
    let isOpen = isCall
    if isOpen, !wasOpen { calls.append((time, nil)) }
    if wasOpen, !isOpen { calls[calls.count - 1].end = time }
  }

  private func connections(of subject: String) -> [String] {
    context.scenario.peer(subject)?.connectionSubjects ?? [subject]
  }

  /// Returns the subjects whose connections are the call that a number is about.
  private func subjects(of value: ValuePath, _ scenario: Scenario) -> [String] {
    if value.isSampled { return [value.subject] }
    let owner = ConnectionSubject.owner(of: value.subject)
    if scenario.peer(owner) != nil { return [owner] }
    let quantity = scenario.watchedWire.first {
      value.subject == WireQuantity.subject && value.name == $0.kindName
    }
    let ends = [quantity?.from, quantity?.to].compactMap(\.self)
    return ends.isEmpty ? scenario.peers.map(\.name) : ends
  }

  /// Returns the kind of received media that a derived value tells of; nil for other values.
  private static func receivedKind(of name: String) -> String? {
    let audio: Set<String> = [
      HarnessEvents.meanOpinionScore.name, HarnessEvents.concealment.name, HarnessEvents.mouthToEar.name,
    ]
    let video: Set<String> = [
      HarnessEvents.frameDelay.name, HarnessEvents.pictureAge.name, HarnessEvents.lipSync.name,
      HarnessEvents.peakSignalToNoise.name, HarnessEvents.structuralSimilarity.name,
    ]
    if audio.union(SpeechMeter.names).contains(name) { return "audio" }
    return video.contains(name) ? "video" : nil
  }
}
