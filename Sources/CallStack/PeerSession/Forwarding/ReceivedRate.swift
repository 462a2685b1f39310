internal import CallCore
internal import CongestionControl

/// The rate of the last second, in slots of 100 ms.
struct ReceivedRate {
  private static let slots = 10
  private static let slot = Interval.milliseconds(100)

  private var byteCounts = [Int](repeating: 0, count: slots)
  private var sum = 0
  /// The number of the newest slot since the beginning of time.
  private var newest: Int64 = 0
  /// When the first byte came; nil before it.
  private var beginning: Instant?

  mutating func add(_ byteCount: Int, at now: Instant) {
    beginning = beginning ?? now
    advance(to: now)
    byteCounts[Int(newest % Int64(Self.slots))] += byteCount
    sum += byteCount
  }

  /// Returns the rate, over less than a second at the beginning.
  mutating func rate(at now: Instant) -> DataRate {
    guard let beginning else { return .zero }
    advance(to: now)
    let span = max(Self.slot, min(.seconds(1), now - beginning))
    return DataRate(byteCount: sum, per: span)
  }

  private mutating func advance(to now: Instant) {
    let current = (now - Instant.zero).nanoseconds / Self.slot.nanoseconds
    guard current > newest else { return }
    for number in max(newest + 1, current - Int64(Self.slots) + 1)...current {
      let place = Int(number % Int64(Self.slots))
      sum -= byteCounts[place]
      byteCounts[place] = 0
    }
    newest = current
  }
}
