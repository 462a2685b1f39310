public import CallCore
internal import LibC
package import SimNet

/// A pending call of ``PeerClock/schedule(after:_:)``.
public final class PeerTimer {
  fileprivate let token: UInt64
  fileprivate weak var clock: PeerClock?

  fileprivate init(token: UInt64, clock: PeerClock) {
    self.token = token
    self.clock = clock
  }

  /// Cancels the call, unless it was already made or cancelled.
  public func cancel() { clock?.cancel(token) }
}

/// The clock of a participant: virtual time, its own wall clock, and timers.
public final class PeerClock {
  /// The participant's date, which may be wrong.
  public private(set) var wallClock: WallClock

  private unowned let simulator: Simulator
  private let host: HostID
  private struct Slot {
    /// How often the slot was used: a token is of one use.
    var use: UInt32 = 0
    var pending: (timer: TimerID, action: () -> Void)?
  }

  /// The pending calls, in slots that are used again.
  private var slots: [Slot] = []
  private var freeSlots: [UInt32] = []
  private let thread = pthread_self()
  /// The bit of the tokens of a system's clock; 0 for an app's.
  private let mark: UInt64
  private static let systemMark: UInt64 = 1 << 31

  /// - Parameter isOfSystem: Whether it is the clock of the device's system, which goes on while the app does not.
  package init(simulator: Simulator, host: HostID, wallClock: WallClock, isOfSystem: Bool = false) {
    mark = isOfSystem ? Self.systemMark : 0
    self.simulator = simulator
    self.host = host
    self.wallClock = wallClock
  }

  /// The current virtual time.
  public var now: Instant { simulator.now }

  /// How often the app has asked for its date.
  package private(set) var readCount = 0

  /// Returns the participant's date in whole seconds of Unix time, as an app reads it: a fault of the clock has met what
  /// reads it here.
  public func unixSeconds() -> Int64 {
    readCount += 1
    return wallClock.unixSeconds(at: now)
  }

  /// Traps on any thread except the one that made the clock: a run has one thread.
  func requireOwnThread(_ event: String) {
    precondition(
      pthread_equal(thread, pthread_self()) != 0,
      "\(event) on a thread other than its run's; in code that PeerTasks.start began, await only what lives in the "
        + "simulation")
  }

  /// Calls `action` once, `delay` from now, unless the timer is cancelled first.
  @discardableResult
  public func schedule(after delay: Interval, _ action: @escaping () -> Void) -> PeerTimer {
    schedule(at: now + delay, action)
  }

  /// Calls `action` once, at `time`, unless the timer is cancelled first.
  @discardableResult
  public func schedule(at time: Instant, _ action: @escaping () -> Void) -> PeerTimer {
    var slot = UInt32(slots.count)
    if let free = freeSlots.popLast() { slot = free } else { slots.append(Slot()) }
    let token = UInt64(slots[Int(slot)].use) << 32 | mark | UInt64(slot)
    slots[Int(slot)].pending = (simulator.schedule(host, at: time, token: token), action)
    return PeerTimer(token: token, clock: self)
  }

  /// Steps the wall clock, within ``dates``; virtual time and timers are unaffected.
  package func jump(by interval: Interval) {
    let (start, isOver) = wallClock.unixNanosecondsAtStart.addingReportingOverflow(interval.nanoseconds)
    guard !isOver else {
      wallClock.unixNanosecondsAtStart = interval < .zero ? Self.dates.lowerBound : Self.dates.upperBound
      return
    }
    wallClock.unixNanosecondsAtStart = min(max(start, Self.dates.lowerBound), Self.dates.upperBound)
  }

  /// The dates to which a jump may set the start of a clock, in Unix nanoseconds: 1970-01-01 to 2100-01-01. NTP
  /// timestamps and 64-bit nanoseconds leave room on both sides for the longest run.
  package static let dates: ClosedRange<Int64> = 0...4_102_444_800_000_000_000

  package var pendingCount: Int { slots.count - freeSlots.count }

  func fire(_ token: UInt64) { take(token)?.action() }

  /// Returns whether a token is of a system's clock.
  static func isOfSystem(_ token: UInt64) -> Bool { token & systemMark != 0 }

  /// Cancels every pending call.
  func cancelAll() {
    for (slot, entry) in slots.enumerated() where entry.pending != nil {
      cancel(UInt64(entry.use) << 32 | mark | UInt64(slot))
    }
  }

  fileprivate func cancel(_ token: UInt64) {
    if let (timer, _) = take(token) { simulator.cancel(timer) }
  }

  /// Removes a pending call; nil when it was made or cancelled.
  private func take(_ token: UInt64) -> (timer: TimerID, action: () -> Void)? {
    let slot = UInt32(truncatingIfNeeded: token & ~Self.systemMark)
    guard slots[Int(slot)].use == UInt32(token >> 32), let pending = slots[Int(slot)].pending else { return nil }
    slots[Int(slot)] = Slot(use: slots[Int(slot)].use &+ 1)
    freeSlots.append(slot)
    return pending
  }
}
