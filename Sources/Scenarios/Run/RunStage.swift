internal import CallCore
internal import CallSession
internal import DTLS
internal import Profiles
internal import ScenarioFormat
internal import ScenarioJudge
internal import SimNet
internal import Statistics
internal import VirtualPeer

/// The world of one run with its timeline and its samplers, wired up; whoever judges it listens to its trace.
final class RunStage {
  let context: MonitorContext
  let world: World
  let faults: FaultLayer
  let effects: Effects
  let director: Director
  /// What the harness itself could not do.
  let failures = HarnessFailures()
  let paths: RelayPaths
  /// Told of each sample of a peer's statistics.
  var sampled: ((StatsReport, _ peer: String) -> Void)?
  private let sampler: StatsSampler
  private let cleartext: CleartextDetector
  private let meter: WireMeter

  /// Builds the world at virtual time zero. What judges it must listen by now, for the sake of the first values.
  init(_ context: MonitorContext, seed: UInt64, profiles: ProfileCatalogue, outputs: RunOutputs) throws {
    self.context = context
    let (scenario, watch, wire, trace) = (context.scenario, context.watch, context.wire, context.trace)
    // What a program had before protection it keeps to itself.
    let sessions = scenario.peers.filter { $0.stack != .external }
    cleartext = CleartextDetector(peers: sessions, tap: wire, watch: watch)
    meter = WireMeter(scenario.watchedWire, tap: wire, cleartext: cleartext, trace: trace)
    sampler = StatsSampler(scenario, watch: watch, anchors: context.anchors)
    paths = RelayPaths(watch: watch, wire: wire)
    let simulator = Simulator(trace: trace, random: RandomSource(seed: seed))
    let world = try World(scenario: scenario, simulator: simulator)
    self.world = world
    var outputs = outputs
    let secrets = TLSSecrets()
    outputs.tap = WireReader(wire, peers: scenario.peers.map(\.name), secrets: secrets, next: outputs.tap)
    try WorldBuilder(scenario: scenario, profiles: profiles, outputs: outputs, secrets: secrets, world: world)
      .build()
    for peer in world.peers { paths.follow(simulator.interfaces(of: peer.host), of: peer.name) }
    faults = FaultLayer(world: world) { [failures] error in failures.catching { throw error } }
    let effects = Effects(world: world, faults: faults, failures: failures)
    self.effects = effects
    director = Director(
      scenario, clock: world.timekeeper.clock, anchors: context.anchors, watch: watch, trace: trace
    ) { effects.perform($0) }
    for meter in sampler.recovery {
      world.peer(meter.peer)?.audioRecord.resumed = { [unowned meter] in meter.resumed(at: $0) }
    }
    context.statistics.report = { [unowned world] in world.statistics(of: $0) }
    watch.afterWorldEvent = { [unowned simulator] in simulator.afterEvent($0) }
    context.statistics.afterEvent = { [unowned simulator] in simulator.afterEvent($0) }
  }

  var now: Instant { world.simulator.now }
  /// Whether everything has happened that the timeline asks for.
  var isTimelineDone: Bool { director.isDone && faults.isDone }

  /// How often judges and statistics are brought up to date.
  private static let step = Interval.milliseconds(50)
  /// Statistics that nobody watches are only checked for honesty, once a second.
  private static let samplesPerCheck = 4

  /// Plays from the start until `isOver`, asked at every step, or the limit is reached.
  func play(until limit: Instant, isOver: () -> Bool) {
    // Steps lie at multiples of their length: a deadline in between moves no sample of another expectation.
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
        context.watch.asOneEvent { sample(everybody: samples % Self.samplesPerCheck == 0) }
        samples += 1
        // What waits for a sample happens with it, before any deadline of that time.
        world.pace.run(until: now)
      }
      context.alarms.fire(through: now)
      if isOver() { return }
    }
  }

  private func sample(everybody: Bool) {
    for peer in world.peers {
      for (subject, report) in peer.reports(where: { everybody || sampler.reads($0) }) {
        sampler.sample(report, mouthToEar: world.mouthToEar(to: peer, over: subject), of: subject, at: now)
        context.story.sample(report, of: subject, at: now)
        sampled?(report, peer.name)
      }
    }
    for server in world.callServers {
      for (subject, report) in server.reports(where: { everybody || sampler.reads($0) }) {
        sampler.sample(report, mouthToEar: nil, of: subject, at: now)
        context.story.sample(report, of: subject, at: now)
      }
    }
  }
}

extension MonitorContext {
  /// What listens to a run that is to be played.
  init(listeningTo scenario: Scenario, _ profiles: ProfileRegistry, _ outputs: RunOutputs) {
    let trace = Trace()
    for observer in outputs.observers { trace.add(observer) }
    // Whoever explains something from within an event reads the event in the story.
    let story = StoryCollector(scenario, trace: trace)
    let watch = Watch(trace: trace)
    self.init(
      scenario: scenario, watch: watch, anchors: Anchors(scenario, watch: watch), profiles: profiles,
      wire: WireTap(), statistics: StatsReader(), story: story)
  }

  /// Ends the listening. Listeners hold what holds the run: without this, nothing of it would go.
  func close() {
    wire.close()
    watch.close()
  }
}
