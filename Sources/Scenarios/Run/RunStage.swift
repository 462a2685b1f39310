internal import CallCore
internal import DTLS
internal import PeerSession
internal import Pictures
internal import Profiles
internal import ScenarioFormat
internal import ScenarioJudge
internal import SimNet
internal import Statistics
internal import VirtualPeer

/// The world of one run with its timeline and its samplers. Judges listen to its trace.
final class RunStage {
  let context: MonitorContext
  let world: World
  let faults: FaultLayer
  let effects: Effects
  let director: Director
  /// Failures of the harness itself.
  let failures = HarnessFailures()
  let paths: RelayPaths
  /// Receives each sample of the statistics of a peer's connection.
  var sampled: ((StatsReport, _ peer: String, _ connection: String) -> Void)?
  /// The coverage of the profiles; nil if it is not wanted.
  let coverage: CoverageCollector?
  /// The course of the run; nil if it is not wanted.
  let course: CourseCollector?
  private let sampler: StatsSampler
  private let cleartext: CleartextDetector
  private let meter: WireMeter
  /// Whether a user has acted, or an app has had a message, so that invariants had something to judge.
  private(set) var hasActivity = false
  /// Who hears and sees whom in an arm of a comparison.
  private(set) var reception: ReceptionWatch?
  /// Whether any peer has received a packet of media; noted for the arms of a comparison alone.
  private(set) var isMediaReceived = false

  /// Builds the world at virtual time zero. Judges must already listen, because they need the first values.
  init(_ context: MonitorContext, seed: UInt64, profiles: ProfileCatalogue, outputs: RunOutputs) throws {
    self.context = context
    coverage = outputs.wantsCoverage ? CoverageCollector(context) : nil
    course = outputs.wantsMessages ? CourseCollector(context) : nil
    let (scenario, watch, wire, trace) = (context.scenario, context.watch, context.wire, context.trace)
    // External programs do not report plaintext, so they cannot be checked for cleartext.
    let sessions = scenario.peers.filter { $0.stack != .external }
    cleartext = CleartextDetector(peers: sessions, tap: wire, watch: watch)
    meter = WireMeter(scenario.watchedWire, tap: wire, cleartext: cleartext, trace: trace)
    let random = RandomSource(seed: seed)
    sampler = StatsSampler(
      scenario, watch: watch, anchors: context.anchors, statistics: context.statistics, random: random)
    paths = RelayPaths(watch: watch, wire: wire)
    let simulator = Simulator(trace: trace, random: random)
    simulator.recordsChannels = scenario.arms != nil
    let world = try World(scenario: scenario, simulator: simulator)
    self.world = world
    var outputs = outputs
    let secrets = TLSSecrets()
    outputs.tap = WireReader(wire, peers: scenario.peers.map(\.name), secrets: secrets, next: outputs.tap)
    try WorldBuilder(scenario: scenario, profiles: profiles, outputs: outputs, secrets: secrets, world: world)
      .build()
    for server in world.callServers where outputs.wantsMessages {
      server.faults.keepLog()
      course?.follow(server, scenario)
    }
    for peer in world.peers { paths.follow(simulator.interfaces(of: peer.host), of: peer.name) }
    faults = FaultLayer(world: world) { [failures] error in failures.catching { throw error } }
    let effects = Effects(world: world, faults: faults, failures: failures)
    self.effects = effects
    director = Director(
      scenario, clock: world.timekeeper.clock, anchors: context.anchors, watch: watch, trace: trace
    ) { effects.perform($0) }
    context.trace.listen(to: PeerEvents.action) { [unowned self] _, _, _ in hasActivity = true }
    context.trace.listen(to: ServerEvents.messageReceived) { [unowned self] _, _, _ in hasActivity = true }
    // What an app cannot read it tells as an error.
    context.trace.listen(to: PeerEvents.code) { [unowned self] _, _ in hasActivity = true }
    if scenario.arms != nil {
      reception = ReceptionWatch(world)
      context.trace.listen(to: PeerConnectionEvents.mediaReceived) { [unowned self] _, _, _ in isMediaReceived = true }
    }
    for meter in sampler.recovery {
      world.peer(meter.peer)?.audioRecord.resumed = { [unowned world, unowned meter] position, beginning, now in
        // In less than a second all sound may have been under way.
        let isOld = now - beginning >= .seconds(1) && world.isOld(position, since: beginning)
        meter.resumed(at: now, isOld: isOld)
        return !isOld
      }
      meter.onEnd = { [unowned world, peer = meter.peer] in world.peer(peer)?.audioRecord.endCall() }
      world.followSpeech(to: meter.peer) { [unowned meter] in meter.note(over: $0, isSpeech: $1, isHeard: $2) }
    }
    for meter in sampler.speech {
      world.pairSpeech(over: meter.connection) { piece in
        switch piece {
        case .paired(let said, let heard): meter.hear(said: said, heard: heard)
        case .mixed: meter.restart()
        }
      }
    }
    for loss in sampler.losses { world.followSpeech(over: loss.connection, loss.note) }
    if outputs.compared != nil || outputs.seen != nil {
      let window = ObservedWindow(outputs.comparedWindow, context)
      window.start()
      comparedWindow = window
      if let compared = outputs.compared { pairSpeech(in: window, compared) }
      if let seen = outputs.seen { pairPictures(in: window, seen) }
    }
    let keep = { [unowned self, unowned world, unowned sampler] (subject: String, isClosing: Bool) in
      defer { if isClosing { world.connectionClosed(subject) } }
      let isRead = sampler.reads(subject)
      guard isRead || context.scenario.arms != nil, let report = world.statistics(of: subject) else { return }
      sentVideo[subject, default: SentVideo()].take(report, isClosing: isClosing)
      guard isRead else { return }
      sampler.keep(report, of: subject, isClosing: isClosing)
    }
    for peer in world.peers { peer.streamsMayEnd = keep }
    for server in world.callServers { server.streamsMayEnd = keep }
    context.statistics.report = { [unowned world] in world.statistics(of: $0) }
    watch.afterWorldEvent = { [unowned simulator] in simulator.afterEvent($0) }
    context.statistics.afterEvent = { [unowned simulator] in simulator.afterEvent($0) }
  }

  /// In which codecs pictures were sent over each connection, for the arms of a comparison.
  private(set) var sentVideo: [String: SentVideo] = [:]
  /// The part of the run that scorers judge; nil without any.
  private(set) var comparedWindow: ObservedWindow?
  /// What pairs the rest of the pictures at the end of the run.
  private var pairingEnds: [() -> Void] = []

  var now: Instant { world.simulator.now }
  /// Whether all entries of the timeline and their faults are complete.
  var isTimelineDone: Bool { director.isDone && faults.isDone && !world.isSendingData }

  /// The interval at which judges and statistics are updated.
  private static let step = Interval.milliseconds(50)
  /// The number of steps per sample for unwatched statistics: they are only checked for honesty, once a second.
  private static let samplesPerCheck = 4

  /// Plays from the start until the limit, or until `isOver` returns true, which is called at every step.
  func play(until limit: Instant, isOver: () -> Bool) {
    // Steps are at multiples of their length: a deadline in between must not move the samples of another expectation.
    var nextStep = Instant.zero
    var nextSample = Instant.zero
    var samples = 0
    while now < limit, world.programs.failure == nil {
      while nextStep <= now { nextStep += Self.step }
      var next = min(limit, nextStep)
      if let alarm = context.alarms.next { next = min(next, max(alarm, now)) }
      world.pace.run(until: next)
      if now >= nextSample {
        nextSample += StatsSampler.period
        context.watch.asOneEvent {
          world.passStandstills()
          sample(everybody: samples % Self.samplesPerCheck == 0)
        }
        samples += 1
        // Effects that wait for a sample happen with it, before any deadline at that time.
        world.pace.run(until: now)
      }
      context.alarms.fire(through: now)
      if isOver() { return }
    }
  }

  /// Calls `body` with what each peer hears over its only connection within a window, and what was said.
  private func pairSpeech(
    in window: ObservedWindow, _ body: @escaping (_ peer: String, _ piece: HeardPiece) -> Void
  ) {
    for peer in world.peers {
      guard let connection = context.scenario.peer(peer.name)?.onlyConnection else { continue }
      world.pairSpeech(over: connection) { [unowned self, name = peer.name] piece in
        if window.contains(now) { body(name, piece) }
      }
    }
  }

  /// Calls `body` with what each peer sees over its only connection of the pictures that are taken within a window.
  private func pairPictures(
    in window: ObservedWindow, _ body: @escaping (_ peer: String, PicturePair) -> Void
  ) {
    pairingEnds = world.peers.compactMap { peer in
      guard let connection = context.scenario.peer(peer.name)?.onlyConnection else { return nil }
      return world.pairPictures(
        of: peer, over: connection, isInside: { [unowned self] in window.contains(now) },
        { [name = peer.name] in body(name, $0) })
    }
  }

  /// Tells the receivers of the outputs what is known only at the end of a run.
  func finishOutputs() {
    for end in pairingEnds { end() }
    pairingEnds = []
  }

  private func sample(everybody: Bool) {
    for peer in world.peers {
      for (subject, report) in peer.reports(where: { everybody || sampler.reads($0) }) {
        sampler.sample(
          report, mouthToEar: world.mouthToEar(to: peer, over: subject),
          packetDuration: world.packetDuration(to: peer, over: subject),
          isForwarded: world.isForwarded(to: peer, over: subject),
          pictures: world.shownPictures(to: peer, over: subject, sampledAt: sampler.pictureMoments), of: subject,
          at: now)
        context.statistics.deliver(report, of: subject)
        context.story.sample(report, of: subject, at: now)
        sampled?(report, peer.name, subject)
      }
    }
    for server in world.callServers {
      for (subject, report) in server.reports(where: { everybody || sampler.reads($0) }) {
        sampler.sample(report, mouthToEar: nil, of: subject, at: now)
        context.statistics.deliver(report, of: subject)
        context.story.sample(report, of: subject, at: now)
      }
    }
  }
}

extension MonitorContext {
  /// Creates the listeners of a run.
  init(listeningTo scenario: Scenario, _ profiles: ProfileRegistry, _ outputs: RunOutputs) {
    let trace = Trace()
    for observer in outputs.observers { trace.add(observer) }
    // The story must listen first: explanations within an event read that event in the story.
    let story = StoryCollector(scenario, trace: trace)
    let watch = Watch(trace: trace)
    self.init(
      scenario: scenario, watch: watch, anchors: Anchors(scenario, watch: watch), profiles: profiles,
      wire: WireTap(), statistics: StatsReader(), story: story)
  }

  /// Stops listening. Listeners and the run retain each other: without this call, the run would leak.
  func close() {
    wire.close()
    watch.close()
    statistics.close()
  }
}
