internal import CallCore
internal import ExternalRecords
internal import SimNet

#if canImport(ExternalPeer)
  internal import ExternalPeer
#endif

/// How a run's time passes: as fast as the machine can, or with the machine's clock when programs outside take part.
struct Pace {
  private let simulator: Simulator

  #if canImport(ExternalPeer)
    let realTime: RealTimePace?

    init(_ simulator: Simulator, isRealTime: Bool) {
      self.simulator = simulator
      realTime = isRealTime ? RealTimePace(simulator) : nil
    }

    func run(until limit: Instant) {
      if let realTime { realTime.run(until: limit) } else { simulator.run(until: limit) }
    }

    /// How late the run was; nil in virtual time.
    var readings: (lag: LagRecord, waits: WaitRecord)? { realTime.map { ($0.lag, $0.waits) } }
  #else
    init(_ simulator: Simulator, isRealTime: Bool) { self.simulator = simulator }

    func run(until limit: Instant) { simulator.run(until: limit) }

    var readings: (lag: LagRecord, waits: WaitRecord)? { nil }
  #endif
}
