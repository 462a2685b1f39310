internal import CallCore
internal import ExternalPeer
internal import SimNet

/// The pace of virtual time: as fast as the machine can, or with the machine's clock when external programs take part.
struct Pace {
  private let simulator: Simulator
  let realTime: RealTimePace?

  init(_ simulator: Simulator, isRealTime: Bool) {
    self.simulator = simulator
    realTime = isRealTime ? RealTimePace(simulator) : nil
  }

  func run(until limit: Instant) {
    if let realTime { realTime.run(until: limit) } else { simulator.run(until: limit) }
  }
}
