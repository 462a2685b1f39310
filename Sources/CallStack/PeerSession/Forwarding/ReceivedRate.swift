internal import CallCore
internal import CongestionControl

/// The rate of the last seconds, in slots of 250 ms. A key frame, which is as large as many others, weighs little in it.
struct ReceivedRate {
  private static let slots = 10
  private static let slot = Interval.milliseconds(250)
  /// The shortest time that is measured over. A stream begins with a key frame: the first packets of it tell too little,
  /// and all of them at once too much.
  private static let shortest = Interval.seconds(1)
  /// What comes after so long a pause begins anew: the camera was off.
  private static let pause = Interval.milliseconds(750)

  private var byteCounts = [Int](repeating: 0, count: slots)
  private var sum = 0
  /// The number of the newest slot since the beginning of time.
  private var newest: Int64 = 0
  /// When the first byte came since the last pause, and the last one; nil before it.
  private var beginning: Instant?
  private var last: Instant?

  mutating func add(_ byteCount: Int, at now: Instant) {
    if let last, now - last >= Self.pause { self = ReceivedRate() }
    advance(to: now)
    beginning = beginning ?? now
    last = now
    byteCounts[Int(newest % Int64(Self.slots))] += byteCount
    sum += byteCount
  }

  /// Returns the rate, over less than all slots at the beginning; nil as long as that is too short.
  mutating func rate(at now: Instant) -> DataRate? {
    advance(to: now)
    guard let beginning, now - beginning >= Self.shortest else { return nil }
    // The slot of now is not full yet.
    let oldest = Instant.zero + Self.slot * (newest - Int64(Self.slots) + 1)
    return DataRate(byteCount: sum, per: now - max(beginning, oldest))
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
