package import CallCore
package import RTP

/// Records the arrival of a transport's packets for feedback to their sender, as libwebrtc does.
///
/// Each feedback continues where the last one ended. After a late packet, the next feedback begins with it and repeats
/// the packets after it, so that the sender does not take it for lost.
package struct ArrivalRecorder: ~Copyable, Sendable {
  package struct Settings: Hashable, Sendable {
    /// The interval between feedback packets.
    package var interval = Interval.milliseconds(100)
    /// The time for which reported arrivals are kept: a late packet reports them again.
    package var memory = Interval.milliseconds(500)

    package init() {}
  }

  package private(set) var settings: Settings
  private var unwrapper = SequenceUnwrapper()
  /// The arrivals from ``begin`` to ``end``, each at its number modulo the ring's size, which is a power of two; nil
  /// for a packet that has not arrived.
  private var ring: [Instant?] = []
  private var begin: Int64 = 0
  private var end: Int64 = 0
  /// The first number of the next feedback.
  private var untold: Int64 = 0
  /// Whether anything has arrived since the last feedback.
  private var hasNews = false
  private var lastFeedback: Instant?
  private var feedbackNumber: UInt8 = 0
  private var source: UInt32 = 0

  /// The maximum number of missing packets that feedback can report before a received one.
  private static let limit = 1 << 15
  /// The share of the bitrate for feedback, and the bounds of its interval.
  private static let share = 0.05
  private static let bounds = Interval.milliseconds(50)...Interval.milliseconds(250)
  /// The average size of a feedback packet with headers in bytes.
  private static let packetSize = 68

  package init(settings: Settings = Settings()) { self.settings = settings }

  /// Sets the interval of feedback from the total sending bitrate.
  package mutating func setBitrate(_ bitrate: DataRate) {
    let share = DataRate.bitsPerSecond(Int64(Double(bitrate.bitsPerSecond) * Self.share))
    guard share.bitsPerSecond > 0 else {
      settings.interval = Self.bounds.upperBound
      return
    }
    let interval = share.transmissionTime(byteCount: Self.packetSize)
    settings.interval = min(max(interval, Self.bounds.lowerBound), Self.bounds.upperBound)
  }

  /// Records a packet. A repeated one is ignored.
  package mutating func record(_ number: UInt16, from source: UInt32, at now: Instant) {
    let isFirst = unwrapper.last == nil
    let number = unwrapper.unwrap(number)
    if isFirst { (begin, end, untold) = (number, number, number) }
    // The packet is too old to be reported.
    guard end - number <= Int64(Self.limit) else { return }
    self.source = source
    if number >= end {
      forgetOld(at: now)
      makeRoom(from: max(begin, number + 1 - Int64(Self.limit)), to: number + 1)
    } else {
      if number < begin { makeRoom(from: number, to: end) }
      guard ring[place(number)] == nil else { return }
      if !Defect.lateArrivalNotTold.isPlanted { untold = min(untold, number) }
    }
    ring[place(number)] = now
    untold = max(untold, begin)
    if !hasNews, lastFeedback == nil { lastFeedback = now }
    hasNews = true
  }

  /// The time at which feedback is due; nil while there is nothing to report.
  package var deadline: Instant? {
    guard hasNews, let lastFeedback else { return nil }
    return lastFeedback + settings.interval
  }

  /// Returns the next feedback when one is due. Call it until it returns nil.
  package mutating func takeFeedback(from sender: UInt32, at now: Instant) -> TransportFeedback? {
    guard let deadline, now >= deadline else { return nil }
    guard let first = (untold..<end).first(where: { ring[place($0)] != nil }), let arrival = ring[place(first)] else {
      finish(at: now)
      return nil
    }
    // Feedback cannot report more missing packets in a row; their sender has given them up.
    let base = max(untold, first - Int64(0x7FFE))
    var builder = TransportFeedback.Builder(
      firstNumber: UInt16(truncatingIfNeeded: base), arrival: arrival, senderSSRC: sender, mediaSSRC: source,
      feedbackNumber: feedbackNumber)
    var told = base
    for number in first..<end {
      guard let arrival = ring[place(number)] else { continue }
      guard builder.append(index: Int(number - base), at: arrival) else { break }
      told = number + 1
    }
    feedbackNumber &+= 1
    untold = told
    if untold == end { finish(at: now) }
    return builder.feedback
  }

  /// Postpones due feedback while none can be sent.
  package mutating func postpone(at now: Instant) {
    if let deadline, now >= deadline { lastFeedback = now }
  }

  private mutating func finish(at now: Instant) {
    hasNews = false
    lastFeedback = now
  }

  /// Drops old arrivals once all are reported.
  private mutating func forgetOld(at now: Instant) {
    guard untold == end else { return }
    while begin < end, ring[place(begin)].map({ now - $0 > settings.memory }) ?? true { begin += 1 }
  }

  private func place(_ number: Int64) -> Int { Int(number & Int64(ring.count - 1)) }

  /// Changes the range of recorded numbers, and keeps the arrivals within it.
  private mutating func makeRoom(from first: Int64, to last: Int64) {
    var size = max(64, ring.count)
    while size < last - first { size *= 2 }
    if size > ring.count {
      var larger = [Instant?](repeating: nil, count: size)
      for number in max(begin, first)..<max(max(begin, first), end) {
        larger[Int(number & Int64(size - 1))] = ring[place(number)]
      }
      ring = larger
    }
    for number in first..<max(first, begin) { ring[place(number)] = nil }
    for number in max(end, first)..<last { ring[place(number)] = nil }
    (begin, end) = (first, last)
  }
}
