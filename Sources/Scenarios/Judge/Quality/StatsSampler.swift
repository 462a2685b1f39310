package import CallCore
package import ScenarioFormat
package import Statistics
internal import Vocabulary

/// Writes statistics into the trace under the names that scenarios use, at fixed times, and only those that a scenario
/// uses.
package final class StatsSampler {
  /// The interval between reports of each peer.
  package static let period = Interval.milliseconds(250)

  /// A connection, or the only one of a peer.
  private final class Subject {
    let name: String
    let subject: TraceSubject
    /// The peer of the connection; nil for a server.
    let owner: Scenario.Peer?
    let wanted: [ValuePath]
    /// The partner of the owner's call, as its app reports it.
    let partner: Watch.Slot<String>
    var quality = QualityEstimator()
    /// What becomes of the speech, where a value depends on it.
    var loss: SpeechLoss?
    /// The shares of lost speech since the sample before.
    var lostShares: [Double] = []
    /// Whether a server forwards what the connection brings, which shows while it is played.
    var isForwarded = false
    /// The sound in a packet of what plays, as far as it was ever known.
    var packetDuration: Interval?
    /// The picture of each source, if one of them came since the sample before: so all sources weigh alike, however often
    /// they bring a picture.
    var pictures: [ShownPicture.Sample] = []
    /// When the camera took the picture of each source that is on the screen; before the first, when packets of it began to come.
    var captured: [UInt32: Instant] = [:]
    /// The age of the picture of each source at the moment that is told of.
    var pictureAges: [Interval] = []

    var isProgram: Bool { owner?.stack == .external }

    init(name: String, owner: Scenario.Peer?, subject: TraceSubject, wanted: [ValuePath], partner: Watch.Slot<String>) {
      self.name = name
      self.owner = owner
      self.subject = subject
      self.wanted = wanted
      self.partner = partner
    }
  }

  private let scenario: Scenario
  private let watch: Watch
  private let statistics: StatsReader
  /// The moments of which samples of pictures tell.
  package let pictureMoments: PictureMoments
  private var trace: Trace { watch.trace }
  private var subjects: [Subject] = []
  package private(set) var recovery: [RecoveryMeter] = []
  package private(set) var speech: [SpeechMeter] = []
  package private(set) var losses: [SpeechLoss] = []

  package init(
    _ scenario: Scenario, watch: Watch, anchors: Anchors, statistics: StatsReader, random: RandomSource
  ) {
    self.scenario = scenario
    pictureMoments = PictureMoments(random)
    self.watch = watch
    self.statistics = statistics
    let sampled = scenario.watchedValues.filter(\.isSampled)
    for name in sampled.map(\.subject).inOrderOfAppearance {
      var wanted: [ValuePath] = []
      for path in sampled where path.subject == name {
        if !wanted.contains(where: { $0.name == path.name }) { wanted.append(path) }
      }
      let owner = ConnectionSubject.owner(of: name)
      let subject = Subject(
        name: name, owner: scenario.peer(owner), subject: trace.subject(name), wanted: wanted,
        partner: watch.slot(owner, PeerEvents.callPeer))
      subjects.append(subject)
      let compared = SpeechMeter.names.intersection(wanted.map(\.name))
      let meter = compared.isEmpty ? nil : SpeechMeter(of: name, wanted: compared, trace: trace)
      if let meter { speech.append(meter) }
      let isRecovery = wanted.contains { $0.name == HarnessEvents.recovery.name }
      if wanted.contains(where: { SpeechLoss.names.contains($0.name) }) {
        let loss = SpeechLoss(over: name)
        losses.append(loss)
        statistics.follow(loss)
        subject.loss = loss
      }
      // The next call starts a new estimate.
      watch.listen(to: PeerEvents.openConnections, of: name) { _, count in
        guard count == 0 else { return }
        statistics.forget(name)
        subject.quality = QualityEstimator()
        subject.captured = [:]
        subject.pictureAges = []
        subject.isForwarded = false
        subject.packetDuration = nil
        meter?.restart()
      }
      if isRecovery {
        let meter = RecoveryMeter(of: owner, scenario, trace: trace, anchors: anchors)
        watch.listen(to: PeerEvents.callEnded, of: owner) { _, _ in meter.endCall() }
        watch.listen(to: PeerEvents.appState, of: owner) { _, state in
          if state == AppState.terminated.rawValue { meter.endCall() }
        }
        recovery.append(meter)
      }
    }
  }

  /// Returns whether an expectation reads statistics of a connection, by its trace subject.
  package func reads(_ subject: String) -> Bool { subjects.contains { $0.name == subject } }

  /// Writes a report. Sessions report the declared types; values of other types, from a program, stay unknown.
  ///
  /// - Parameters:
  ///   - mouthToEar: the delay of the speech that the peer plays now, if known.
  ///   - packetDuration: the sound in a packet of what the peer plays now, if known.
  ///   - isForwarded: whether a server forwards what the peer plays now.
  ///   - pictures: the pictures that the peer shows, one of each source, as far as known.
  ///   - name: the trace subject of the connection.
  package func sample(
    _ report: StatsReport, mouthToEar: Interval?, packetDuration: Interval? = nil, isForwarded: Bool = false,
    pictures: [ShownPicture] = [],
    of name: String, at time: Instant
  ) {
    guard let subject = subjects.first(where: { $0.name == name }) else { return }
    statistics.note(report, of: name)
    subject.isForwarded = subject.isForwarded || isForwarded
    subject.lostShares = subject.loss?.takeShares() ?? []
    // One end hears the packets that the other has sent. If the other end is unknown, quality is not measured.
    if let remote = remote(of: subject) {
      let peer: Scenario.Peer? = if case .peer(let peer) = remote { peer } else { nil }
      subject.packetDuration = packetDuration ?? subject.packetDuration
      subject.quality.packetDuration = subject.packetDuration ?? peer?.audio.ptime ?? .milliseconds(20)
      // Servers take no redundancy.
      subject.quality.repeatedPackets =
        subject.isForwarded ? 0 : peer?.audio.repeatedPackets(to: subject.owner?.audio) ?? 0
      subject.quality.isMeasured = subject.owner?.stack == .real && peer?.stack == .real
      subject.quality.add(
        report, mouthToEar: mouthToEar, speech: subject.loss?.counts, ended: statistics.endedStreams(of: name), at: time
      )
    }
    let sources = report.incoming("video").map { $0.integer("ssrc").flatMap { UInt32(exactly: $0) } ?? 0 }
    let shown = pictures.filter { sources.contains($0.source) }.compactMap(\.sampled)
    subject.pictures = shown.contains(where: \.isNew) ? shown : []
    noteAges(of: pictures, from: sources, subject, at: time)
    for path in subject.wanted { write(path, report, subject) }
  }

  /// Keeps what the streams of a connection have counted, some of which may end now, and writes it when the connection closes.
  package func keep(_ report: StatsReport, of name: String, isClosing: Bool) {
    guard let subject = subjects.first(where: { $0.name == name }) else { return }
    statistics.note(report, of: name)
    guard isClosing else { return }
    subject.loss?.restart()
    for path in subject.wanted where path.counting != nil { write(path, report, subject) }
  }

  /// Notes how old the picture of each source is that the connection receives.
  private func noteAges(of pictures: [ShownPicture], from sources: [UInt32], _ subject: Subject, at time: Instant) {
    let moment = pictureMoments.moment(before: time)
    let before = subject.captured
    subject.captured = [:]
    subject.pictureAges = sources.map { source in
      let picture = pictures.first { $0.source == source }
      let captured = picture?.captured ?? before[source] ?? time
      subject.captured[source] = captured
      return max(moment - (picture?.sampled?.captured ?? before[source] ?? captured), .zero)
    }
  }

  private enum Remote {
    case peer(Scenario.Peer)
    case server
  }

  /// Returns the other end of a connection: by its name, by the call that the app reports, or as the only possible
  /// peer.
  private func remote(of subject: Subject) -> Remote? {
    if let name = ConnectionSubject(subject.name)?.name {
      if let peer = scenario.peer(name) { return .peer(peer) }
      if scenario.topology.server(name) != nil { return .server }
    }
    if let name = watch.value(subject.partner), let peer = scenario.peer(name) { return .peer(peer) }
    let others = scenario.peers.filter { $0.name != subject.owner?.name && $0.hasCallStack }
    return others.count == 1 ? .peer(others[0]) : nil
  }

  private func write(_ path: ValuePath, _ report: StatsReport, _ subject: Subject) {
    let quality = subject.quality
    switch path.name {
    case HarnessEvents.meanOpinionScore.name:
      write(quality.meanOpinionScore, as: HarnessEvents.meanOpinionScore, subject)
    case HarnessEvents.concealment.name:
      guard quality.knowsSpeech else { return write(quality.concealment, as: HarnessEvents.concealment, subject) }
      for share in subject.lostShares { write(share, as: HarnessEvents.concealment, subject) }
    case HarnessEvents.mouthToEar.name: write(quality.mouthToEar, as: HarnessEvents.mouthToEar, subject)
    case HarnessEvents.frameDelay.name:
      for picture in subject.pictures { write(picture.delay, as: HarnessEvents.frameDelay, subject) }
    case HarnessEvents.lipSync.name:
      for picture in subject.pictures where picture.isNew {
        write(picture.lipSync(), as: HarnessEvents.lipSync, subject)
      }
    case HarnessEvents.pictureAge.name:
      for age in subject.pictureAges { write(age, as: HarnessEvents.pictureAge, subject) }
    case HarnessEvents.peakSignalToNoise.name:
      for picture in subject.pictures {
        write(picture.peakSignalToNoise(), as: HarnessEvents.peakSignalToNoise, subject)
      }
    case HarnessEvents.structuralSimilarity.name:
      for picture in subject.pictures {
        write(picture.structuralSimilarity(), as: HarnessEvents.structuralSimilarity, subject)
      }
    // Meters write these by themselves.
    case HarnessEvents.recovery.name, HarnessEvents.intelligibility.name,
      HarnessEvents.extendedIntelligibility.name, HarnessEvents.logSpectralDistance.name:
      break
    default:
      guard let value = statistics.value(of: path, in: report) else { return }
      guard path.type.admits(value) else {
        precondition(subject.isProgram, "\(path.name) is \(value), and declared as \(path.type)")
        return
      }
      write(path, value, subject)
    }
  }

  /// Writes a value with its declared type.
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
    case .interval: write(path, path.interval(number), subject)
    default: write(path, number, subject)
    }
  }

  private func write<Value>(_ value: Value?, as event: TraceEvent<Value>, _ subject: Subject) {
    if let value { trace.write(event, subject.subject, value) }
  }

  private func write(_ path: ValuePath, _ value: some TraceFieldValue, _ subject: Subject) {
    trace.write(HarnessEvents.sample(path.name, type(of: value)), subject.subject, value)
  }
}

extension ValuePath {
  /// Returns the time that a number of this statistic is.
  func interval(_ number: Double) -> Interval { Interval.seconds(1).scaled(by: isTimestamp ? number / 1_000 : number) }
}

extension ValueType {
  /// The type of the values in the trace.
  var traceType: TraceFieldType {
    switch self {
    case .count, .byteSize, .rate: .integer
    case .real, .percentage: .real
    case .flag: .flag
    case .duration: .interval
    case .text, .peer, .peers, .choice: .symbol
    }
  }
}
