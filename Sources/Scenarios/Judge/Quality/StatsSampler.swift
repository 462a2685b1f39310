package import CallCore
package import ScenarioFormat
package import Statistics
internal import Vocabulary

/// Writes statistics into the trace under the names scenarios use, at fixed times, and only those a scenario uses.
package final class StatsSampler {
  /// How often it wants a report of each peer.
  package static let period = Interval.milliseconds(250)

  private final class Subject {
    let peer: String
    let subject: TraceSubject
    let isProgram: Bool
    let wanted: [ValuePath]
    /// Whom its call is with.
    let partner: Watch.Slot<String>
    var quality = QualityEstimator()

    init(peer: Scenario.Peer, subject: TraceSubject, wanted: [ValuePath], partner: Watch.Slot<String>) {
      self.peer = peer.name
      self.subject = subject
      isProgram = peer.stack == .external
      self.wanted = wanted
      self.partner = partner
    }
  }

  private let scenario: Scenario
  private let watch: Watch
  private var trace: Trace { watch.trace }
  private var subjects: [Subject] = []
  package private(set) var recovery: [RecoveryMeter] = []

  package init(_ scenario: Scenario, watch: Watch, anchors: Anchors) {
    self.scenario = scenario
    self.watch = watch
    for peer in scenario.peers {
      var wanted: [ValuePath] = []
      for path in scenario.watchedValues where path.peer == peer.name && path.isSampled {
        if !wanted.contains(where: { $0.name == path.name }) { wanted.append(path) }
      }
      guard !wanted.isEmpty else { continue }
      let subject = Subject(
        peer: peer, subject: trace.subject(peer.name), wanted: wanted,
        partner: watch.slot(peer.name, PeerEvents.callPeer))
      subjects.append(subject)
      // The next call is heard anew.
      watch.listen(to: PeerEvents.openConnections, of: peer.name) { _, count in
        if count == 0 { subject.quality = QualityEstimator() }
      }
      if wanted.contains(where: { $0.name == HarnessEvents.recovery.name }) {
        recovery.append(RecoveryMeter(of: peer.name, scenario, trace: trace, anchors: anchors))
      }
    }
  }

  /// The peers whose statistics some expectation reads.
  package var peers: [String] { subjects.map(\.peer) }

  /// What a session says is of the types that are declared. What a program says otherwise is left unknown.
  ///
  /// - Parameter mouthToEar: of the sample that the peer plays now, where that is known.
  package func sample(_ report: StatsReport, mouthToEar: Interval?, of peer: String, at time: Instant) {
    guard let subject = subjects.first(where: { $0.peer == peer }) else { return }
    // A call has two ends: what one hears, the other has packed. Where nobody knows who that is, quality is not measured.
    if let remote = remote(of: subject) {
      subject.quality.packetDuration = remote.audio.ptime ?? .milliseconds(20)
      subject.quality.isMeasured = scenario.peer(peer)?.stack == .real && remote.stack == .real
      subject.quality.add(report, mouthToEar: mouthToEar, at: time)
    }
    for path in subject.wanted { write(path, report, subject) }
  }

  /// The other end of a peer's call; where the app does not say, the only one that there may be.
  private func remote(of subject: Subject) -> Scenario.Peer? {
    if let name = watch.value(subject.partner), let peer = scenario.peer(name) { return peer }
    let others = scenario.peers.filter { $0.name != subject.peer && $0.hasCallStack }
    return others.count == 1 ? others[0] : nil
  }

  private func write(_ path: ValuePath, _ report: StatsReport, _ subject: Subject) {
    let quality = subject.quality
    switch path.name {
    case HarnessEvents.meanOpinionScore.name: write(quality.meanOpinionScore, as: HarnessEvents.meanOpinionScore, subject)
    case HarnessEvents.concealment.name: write(quality.concealment, as: HarnessEvents.concealment, subject)
    case HarnessEvents.mouthToEar.name: write(quality.mouthToEar, as: HarnessEvents.mouthToEar, subject)
    case HarnessEvents.recovery.name: break
    default:
      guard let value = report.value(of: path) else { return }
      guard path.type.admits(value) else {
        precondition(subject.isProgram, "\(path.name) is \(value), and declared as \(path.type)")
        return
      }
      write(path, value, subject)
    }
  }

  /// Writes a value with the type that is declared for it.
  private func write(_ path: ValuePath, _ value: StatsReport.Value, _ subject: Subject) {
    let number: Double
    switch value {
    case .flag(let flag): return write(path, flag, subject)
    case .text(let word): return write(path, word, subject)
    case .integer(let integer):
      if path.type.traceType == .integer { return write(path, Int(integer), subject) }
      number = Double(integer)
    case .real(let real): number = real
    }
    switch path.type.traceType {
    case .integer: write(path, Int(number.rounded()), subject)
    case .interval: write(path, interval(number, path), subject)
    default: write(path, number, subject)
    }
  }

  private func write<Value>(_ value: Value?, as event: TraceEvent<Value>, _ subject: Subject) {
    if let value { trace.write(event, subject.subject, value) }
  }

  private func write(_ path: ValuePath, _ value: some TraceFieldValue, _ subject: Subject) {
    trace.write(HarnessEvents.sample(path.name, type(of: value)), subject.subject, value)
  }

  private func interval(_ value: Double, _ path: ValuePath) -> Interval {
    Interval.seconds(1).scaled(by: path.isTimestamp ? value / 1_000 : value)
  }
}

extension ValueType {
  /// How values of the type are written into the trace.
  var traceType: TraceFieldType {
    switch self {
    case .count, .byteSize, .rate: .integer
    case .real, .percentage: .real
    case .flag: .flag
    case .duration: .interval
    case .text, .peer, .choice: .symbol
    }
  }
}

extension StatsReport {
  /// `stats.inbound-rtp.audio.packetsLost`: a type, a kind where the type has one, and a W3C member. Of candidate pairs
  /// the selected one is meant.
  func value(of path: ValuePath) -> Value? {
    let parts = path.name.split(separator: ".").map(String.init)
    guard parts.count >= 3, parts[0] == "stats" else { return nil }
    if parts[1] == "candidate-pair" { return selectedPair?[parts[2]] }
    return first(parts[1], kind: parts.count > 3 ? parts[2] : nil)?[parts[parts.count - 1]]
  }
}
