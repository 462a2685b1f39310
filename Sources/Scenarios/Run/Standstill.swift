internal import CallCore
internal import Codecs

/// Tells for how long a device plays nothing that plays else, as one that is suspended.
struct Standstill {
  private var last: Instant?
  private var count = 0
  /// A device plays every 10 ms, and what it may be late.
  private static let patience = Interval.milliseconds(100)

  /// Notes that the device plays so many samples.
  mutating func play(_ count: Int, at now: Instant) { (last, self.count) = (now, count) }

  /// Calls `body` with the number of samples of each 10 ms in which nothing was played.
  mutating func pass(to now: Instant, _ body: (_ count: Int) -> Void) {
    guard var last, now - last >= Self.patience else { return }
    while now - last >= audioDevicePeriod.interval {
      last += audioDevicePeriod.interval
      body(count)
    }
    self.last = last
  }
}
