import CallCore
import SimNet

/// The hold model, the classic test of an event queue: as many timers pending all the time, and every one that fires is
/// set again at a random distance.
///
/// - Returns: timers fired per second, dispatch to the host included.
func timerHold(pending: Int, events: Int) -> Double {
  let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
  guard let host = try? simulator.addHost("host") else { preconditionFailure("an empty world takes a host") }
  let holder = TimerHolder(simulator: simulator, host: host)
  simulator.setDelegate(holder, of: host)
  for _ in 0..<pending { holder.timerFired(0) }
  for _ in 0..<pending { simulator.step() }
  return Double(events) / cost { for _ in 0..<events { simulator.step() } }
}

private final class TimerHolder: HostDelegate {
  private unowned let simulator: Simulator
  private let host: HostID
  private var random = RandomStream(seed: 2)

  init(simulator: Simulator, host: HostID) {
    self.simulator = simulator
    self.host = host
  }

  func timerFired(_ token: UInt64) {
    let distance = Interval(nanoseconds: Int64(random.uniform(below: 1_000_000_000)))
    _ = simulator.schedule(host, at: simulator.now + distance, token: token)
  }

  func interfacesChanged() {}
  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {}
}
