internal import CallCore

/// The beat of a microphone or a camera: a call each period of the world's clock.
final class DeviceTimer {
  /// The longest delay that is caught up; a process may have been stopped for longer.
  private static let longestDelay = Interval.milliseconds(500)

  private let world: any LiveWorld
  private let period: Interval
  private let tick: () -> Void
  private var timer = LoopTimer {}
  /// The due time of the next call, computed from the previous one, so that late wake-ups do not add up.
  private var due: Instant

  init(every period: Interval, from first: Instant, world: any LiveWorld, tick: @escaping () -> Void) {
    self.world = world
    self.period = period
    self.tick = tick
    due = first
    timer = world.makeTimer { [unowned self] in fire() }
    timer.deadline = due
  }

  deinit { world.remove(timer) }

  func stop() { timer.deadline = nil }

  private func fire() {
    due += period
    if world.now - due > Self.longestDelay { due = world.now }
    timer.deadline = due
    tick()
  }
}
