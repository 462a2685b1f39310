public import CallCore
package import SimNet

/// A pending call of ``PeerClock/schedule(after:_:)``.
public final class PeerTimer {
  fileprivate let token: UInt64
  fileprivate weak var clock: PeerClock?

  fileprivate init(token: UInt64, clock: PeerClock) {
    self.token = token
    self.clock = clock
  }

  /// Cancels the call. One that was made or cancelled is left alone.
  public func cancel() { clock?.cancel(token) }
}

/// A participant's clock: virtual time, its own idea of the date, and timers.
public final class PeerClock {
  /// What the date is believed to be.
  public private(set) var wallClock: WallClock

  private unowned let simulator: Simulator
  private let host: HostID
  private var pending: [UInt64: (timer: TimerID, action: () -> Void)] = [:]
  private var nextToken: UInt64 = 1

  package init(simulator: Simulator, host: HostID, wallClock: WallClock) {
    self.simulator = simulator
    self.host = host
    self.wallClock = wallClock
  }

  public var now: Instant { simulator.now }

  /// Calls `action` once, `delay` from now, unless the timer is cancelled first.
  @discardableResult
  public func schedule(after delay: Interval, _ action: @escaping () -> Void) -> PeerTimer {
    schedule(at: now + delay, action)
  }

  @discardableResult
  public func schedule(at time: Instant, _ action: @escaping () -> Void) -> PeerTimer {
    let token = nextToken
    nextToken += 1
    pending[token] = (simulator.schedule(host, at: time, token: token), action)
    return PeerTimer(token: token, clock: self)
  }

  /// Steps the wall clock; virtual time and timers go on.
  package func jump(by interval: Interval) { wallClock.unixNanosecondsAtStart += interval.nanoseconds }

  package var pendingCount: Int { pending.count }

  func fire(_ token: UInt64) { pending.removeValue(forKey: token)?.action() }

  fileprivate func cancel(_ token: UInt64) {
    if let (timer, _) = pending.removeValue(forKey: token) { simulator.cancel(timer) }
  }
}
