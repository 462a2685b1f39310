internal import CallCore
internal import DTLS
internal import ExternalRecords
internal import LibC
internal import PeerSession
internal import Pictures
public import Profiles
public import ScenarioFormat
internal import ScenarioJudge
internal import SimNet
internal import VirtualPeer

/// One run: one cell of a scenario with one seed, in virtual time, judged.
///
/// It has two phases. The timeline plays until every expectation is settled; then faults are cleared, peers get time to
/// settle, everything is shut down, and nothing may be left.
public struct SingleRun {
  /// The cell to run.
  public let cell: Cell
  /// The seed of all randomness.
  public let seed: UInt64
  /// The path of the scenario file, for messages.
  public let path: String
  /// The profiles that the scenario's peers may use.
  public let profiles: ProfileCatalogue

  /// Prepares a run.
  public init(cell: Cell, seed: UInt64, path: String, profiles: ProfileCatalogue = .builtIn) {
    self.cell = cell
    self.seed = seed
    self.path = path
    self.profiles = profiles
  }

  /// The time that peers get to settle after faults are cleared.
  private static let livenessBudget = Interval.seconds(60)
  /// The time in which what was lost is said again: an offer at the second of two keepalives.
  private static let repeatBudget = Interval.seconds(10)
  /// The time in which sockets and servers must fall quiet after the peers are shut down.
  private static let quietBudget = Interval.seconds(10)
  /// The time that the world runs after the last entry of the timeline and the last decision.
  private static let grace = Interval.seconds(1)
  /// The time that programs get to send their release messages.
  private static let farewell = Interval.seconds(1)

  /// Plays and judges the run.
  ///
  /// - Throws: when the harness fails, as opposed to the call under test.
  public func execute(outputs: RunOutputs = RunOutputs()) throws -> RunResult {
    if let obstacle = ExternalPrograms.obstacle(to: cell.scenario) { return skipped(obstacle) }
    do {
      return try play(outputs)
    } catch let error as ExternalError where error.kind == .unavailable {
      return skipped(error.description)
    }
  }

  /// Returns the result of a run that this machine cannot make: nothing was tested.
  private func skipped(_ reason: String) -> RunResult {
    let finding = Finding(.harness, "programs can be run", expected: "a run", actual: reason, time: .zero)
    return RunResult(
      id: cell.runID(seed: seed), scenarioID: cell.scenario.id, title: cell.scenario.title, path: path, seed: seed,
      verdict: .skipped, findings: [finding])
  }

  private func play(_ outputs: RunOutputs) throws -> RunResult {
    let started = Self.cpuTime
    if outputs.timesCodecs { CodecTime.start { UInt64(Self.cpuTime * 1e9) } }
    defer { if outputs.timesCodecs { _ = CodecTime.stop() } }
    let context = MonitorContext(listeningTo: cell.scenario, profiles.registry, outputs)
    defer {
      outputs.told?(context.story.story)
      context.close()
    }
    let judge = Judge(context)
    let stage = try RunStage(context, seed: seed, profiles: profiles, outputs: outputs)
    defer { stage.world.programs.stop(outputs) }
    stage.effects.explain = { [unowned stage] in judge.explain(at: stage.now) }
    try stage.world.start()

    playTimeline(stage, judge)
    stage.finishOutputs()
    // Nothing begins after the end: what came of it would be judged by nobody.
    stage.director.end()
    let end = stage.now
    let codecTime = outputs.timesCodecs ? CodecTime.stop() : nil
    let channel = stage.world.simulator.channelHashes(every: RunResult.channelPeriod)
    judge.finish(at: end)
    stage.effects.finish()
    let programFailure = try playToRest(stage, judge, outputs)
    let record = realTimeRecord(stage.world)
    let unanswered = record == nil ? refute(judge.recoveries) : []

    // If an external program crashed, report only that: failed expectations are its consequence.
    let results = judge.results
    var findings: [Finding]
    if let programFailure {
      findings = [try finding(programFailure, at: end)]
    } else {
      findings = self.findings(results, judge.invariants.violations, stage, end: end) + unanswered
    }
    findings = Finding.byGravity(findings)
    if !findings.isEmpty { findings[0].explanation += stage.world.programs.lines }
    if let problem = record?.problem(limit: cell.scenario.limits.lag) {
      findings.insert(
        Finding(.harness, "real time", expected: "the run to keep up with the clock", actual: problem, time: end), at: 0
      )
    }
    var result = RunResult(
      id: cell.runID(seed: seed), scenarioID: cell.scenario.id, title: cell.scenario.title, path: path, seed: seed,
      verdict: Verdict(of: findings), findings: findings, measurements: Self.measurements(results),
      traceHash: context.trace.hash, eventCount: context.trace.count, virtualDuration: end - .zero,
      cpuSeconds: Self.cpuTime - started)
    result.realTime = record
    result.channel = channel
    if cell.scenario.arms != nil {
      result.drops = context.story.story.drops.reduce(nil) { $0?.adding($1.counts) ?? $1.counts }
    }
    result.isMediaReceived = stage.isMediaReceived
    result.material = material(stage.world)
    let seconds = (end - Instant.zero).seconds
    result.codecLoad = codecTime.map {
      RunResult.CodecLoad(encoding: $0.encoding / max(seconds, 0.001), decoding: $0.decoding / max(seconds, 0.001))
    }
    if cell.scenario.arms != nil {
      result.sentOpus = stage.world.peers.map(SentOpus.init).filter { !$0.isEmpty }
      result.receptions = stage.reception?.receptions ?? Receptions()
      result.deeds = deeds(stage)
      for peer in stage.world.peers {
        let sizes = peer.videoRecord.takenSizes
        if !sizes.isEmpty { result.pictureSizes[peer.name] = sizes.map { "\($0.width)x\($0.height)" } }
        guard let settings = cell.scenario.peer(peer.name) else { continue }
        for connection in settings.connectionSubjects {
          let formats = peer.audioRecord.formats[connection] ?? []
          if !formats.isEmpty { result.audioFormats[connection] = formats.map { "\($0.format)" } }
          let untaken =
            settings.audio.untaken(in: formats)
            + (settings.video?.untaken(in: stage.sentVideo[connection]?.frames ?? [:]) ?? [])
          if !untaken.isEmpty { result.untakenFormats[connection] = untaken }
        }
      }
    }
    if let window = stage.comparedWindow, let opened = window.openedAt {
      result.comparedTimes = opened..<(window.closedAt ?? end)
    }
    result.story = context.story.story
    result.coverage = stage.coverage?.coverage
    if outputs.wantsMessages { result.messages = stage.world.firstMessages }
    result.course = stage.course?.course
    return result
  }

  /// Returns when each action of the timeline was first performed, and when each recording began to play, by their names.
  private func deeds(_ stage: RunStage) -> [String: Instant] {
    var deeds: [String: Instant] = [:]
    for entry in cell.scenario.timeline {
      guard case .action(let peer, let name, _) = entry.effect else { continue }
      let time = stage.context.anchors.firstFiring(of: entry.id)
      deeds["\(peer).\(name) (\(entry.id))"] = time
    }
    for peer in stage.world.peers {
      guard case .file? = cell.scenario.peer(peer.name)?.devices.microphone else { continue }
      deeds["\(peer.name)'s recording"] = peer.audioRecord.firstListened
    }
    return deeds
  }

  /// Returns a hash over what all devices have to encode, for the arms of a comparison; nil without arms.
  private func material(_ world: World) -> UInt64? {
    guard cell.scenario.arms != nil else { return nil }
    var hash = FNV1a()
    for peer in world.peers {
      hash.mix(peer.name.utf8)
      hash.mix(word: peer.materialHash(hasPictures: cell.scenario.media == .real))
    }
    return hash.value
  }

  private func realTimeRecord(_ world: World) -> RealTimeRecord? {
    world.pace.readings.map {
      RealTimeRecord(
        maximumLag: $0.lag.maximum, latest: $0.lag.worst, usualLag: $0.lag.quantile(0.99), waits: $0.waits.entries,
        notJudged: cell.scenario.notJudged)
    }
  }

  /// Returns the crash of a program as a finding, and throws a failure of the harness.
  private func finding(_ failure: ExternalError, at time: Instant) throws -> Finding {
    guard failure.kind == .program else { throw HarnessError(failure.description) }
    return Finding(
      .crash, FixedInvariant.noTrap.rawValue, expected: "the program to go on", actual: failure.description, time: time)
  }

  // MARK: Phases

  /// Plays the duration that the file sets. Without one, plays until the timeline is done and every expectation is
  /// settled, or until the limit.
  private func playTimeline(_ stage: RunStage, _ judge: Judge) {
    stage.sampled = { [unowned stage] in judge.invariants.sampled($0, of: $1, over: $2, at: stage.now) }
    defer { stage.sampled = nil }
    var quietSince: Instant?
    var heldUntil: Instant?
    stage.play(until: cell.scenario.latestEnd) {
      guard cell.scenario.duration == nil, stage.isTimelineDone, judge.isSettled else {
        (quietSince, heldUntil, stage.faults.holdLimit) = (nil, nil, nil)
        return false
      }
      let since = quietSince ?? stage.now
      quietSince = since
      guard stage.now - since >= Self.grace else { return false }
      let held = heldUntil ?? stage.faults.heldUntil ?? .zero
      if heldUntil == nil {
        heldUntil = held
        // There may always be more.
        stage.faults.holdLimit = stage.now
      }
      return held <= since || stage.now - held >= Self.grace
    }
  }

  /// Clears the faults, waits for the peers to settle, shuts everything down, and checks for leftovers.
  ///
  /// - Returns: the failure of a program before it was shut down.
  private func playToRest(_ stage: RunStage, _ judge: Judge, _ outputs: RunOutputs) throws -> ExternalError? {
    let world = stage.world
    stage.failures.catching { try stage.faults.clearAll() }
    settle(world, judge)
    judge.invariants.endOfPhaseTwo(overdue: world.overdueData(at: stage.now), at: stage.now)
    let programFailure = world.programs.failure
    stage.coverage?.end()
    world.shutDownPeers()
    // Programs get time to send their release messages; without programs there is no need to wait in real time.
    if cell.scenario.isRealTime { world.pace.run(until: stage.now + Self.farewell) }
    world.programs.stop(outputs)
    world.simulator.run(until: stage.now + Self.quietBudget)
    world.shutDownServers()
    judge.invariants.quiesced(leftovers: world.leftovers(stage.paths), at: stage.now)
    if let failure = stage.failures.first { throw failure }
    return programFailure
  }

  /// Runs the world without faults, so that the peers notice their end, and gives peers time to leave transient states;
  /// most need none. A state that begins meanwhile gets its time from then on, as a call that comes late and rings.
  private func settle(_ world: World, _ judge: Judge) {
    let beginning = world.simulator.now
    let repeats = beginning + Self.repeatBudget
    var limit: Instant {
      min(max(beginning, judge.invariants.unsettledSince ?? beginning), beginning + Self.livenessBudget)
        + Self.livenessBudget
    }
    world.pace.run(until: world.simulator.now + Self.grace)
    let isUnsettled = {
      !judge.invariants.arePeersSettled || world.simulator.now < repeats && judge.invariants.areOffersCrossed
    }
    while world.simulator.now < limit, isUnsettled(), world.programs.failure == nil {
      world.pace.run(until: min(limit, world.simulator.now + .milliseconds(500)))
    }
  }

  // MARK: Results

  private func findings(
    _ results: [ExpectationResult], _ violations: [Violation], _ stage: RunStage, end: Instant
  ) -> [Finding] {
    var findings = results.compactMap { Finding($0, location: location(of: $0.expectation.span)) }
    for entry in cell.scenario.timeline {
      let place = location(of: entry.span)
      if let lack = stage.director.lack(of: entry) {
        findings.append(
          Finding(
            .vacuous, entry.title, location: place,
            expected: stage.director.isEndless(entry)
              ? "time goes on between its firings"
              : entry.isRepeated ? "it fires as often as it says" : "it fires",
            actual: lack, time: .zero, why: entry.why, signature: FindingSignature("timeline \(entry.id)")))
      }
      if entry.effect != .mark, stage.director.begins(entry, at: end) {
        findings.append(
          Finding(
            .vacuous, entry.title, location: place, expected: "it fires before the run ends",
            actual: "it fired when the run ended, so that nothing that came of it was judged", time: end,
            why: entry.why, signature: FindingSignature("timeline \(entry.id)")))
      }
      findings += stage.effects.findings(of: entry, location: place)
    }
    if cell.scenario.expectations.isEmpty, cell.scenario.notJudged.isEmpty, !cell.scenario.expectsInvariantsOnly {
      findings.append(
        Finding(
          .vacuous, "expect", location: path, expected: "something that must be true of the run",
          actual: "nothing is expected: only the invariants were checked", time: .zero))
    }
    if cell.scenario.expectsInvariantsOnly, !stage.hasActivity {
      findings.append(
        Finding(
          .vacuous, "expect", location: path, expected: "something that the invariants judge",
          actual: "no user acted and no message reached an app: no invariant could break", time: .zero))
    }
    findings += violations.map { Finding($0) }
    return findings
  }

  private func location(of span: SourceSpan) -> String? {
    span == .builtIn ? nil : "\(path):\(span.line):\(span.column)"
  }

  private static func measurements(_ results: [ExpectationResult]) -> [Measurement] {
    results.filter { $0.measured != nil || $0.expectation.isJudgedAcrossSeeds }.map {
      var measurement = Measurement(
        id: $0.expectation.id, expected: $0.expected, measured: $0.measured, time: $0.measuredTime,
        opened: $0.opened, closed: $0.closed, course: $0.course)
      measurement.samples = $0.samples
      return measurement
    }
  }

  /// The processor time of this process, in seconds.
  private static var cpuTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
