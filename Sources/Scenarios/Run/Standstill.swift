internal import CallCore
internal import VirtualPeer

/// Tells for how long a device stands still that else plays every 10 ms. One that is late plays everything later.
struct Standstill {
  private var last: Instant?
  private var count = 0
  private var isStanding = false

  /// Notes that the device plays so many samples, and calls `body` with their number and the time for each 10 ms in which it
  /// stood still before.
  mutating func play(_ count: Int, at now: Instant, _ body: (_ count: Int, _ time: Instant) -> Void) {
    if isStanding { pass(to: now, body) }
    (last, self.count, isStanding) = (now, count, false)
  }

  /// Notes that the device stands still, and calls `body` likewise for each 10 ms since it did before.
  mutating func pass(to now: Instant, _ body: (_ count: Int, _ time: Instant) -> Void) {
    guard var last else { return }
    isStanding = true
    while now - last >= AudioRecord.framePeriod {
      last += AudioRecord.framePeriod
      body(count, last)
    }
    self.last = last
  }
}
