internal import CallCore

/// The virtual time of a run as a Swift `Clock`: ``PeerClock/virtual``.
///
/// Await it only in code that ``PeerTasks/start(_:)`` began.
public struct VirtualClock: Clock, @unchecked Sendable {
  /// A point in virtual time.
  public struct Instant: InstantProtocol {
    fileprivate var time: CallCore.Instant

    public func advanced(by duration: Duration) -> Instant { Instant(time: time + Interval(duration)) }

    public func duration(to other: Instant) -> Duration { (other.time - time).duration }

    public static func < (a: Instant, b: Instant) -> Bool { a.time < b.time }
  }

  // Sendable because Clock requires it; every use checks that it is on the run's thread.
  private let clock: PeerClock

  init(_ clock: PeerClock) { self.clock = clock }

  public var now: Instant {
    clock.requireOwnThread("a VirtualClock was read")
    return Instant(time: clock.now)
  }

  public var minimumResolution: Duration { .nanoseconds(1) }

  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await clock.sleep(until: deadline.time)
  }
}
