package import CallCore
package import RTP

/// Notes when the packets of a transport arrive, for the feedback to their sender, as libwebrtc does it.
///
/// Each feedback goes on where the last one ended. A packet that comes after others behind it makes the next one begin with
/// it, and tell of those again, so that nobody takes it for lost.
package struct ArrivalRecorder: Sendable {
  package struct Settings: Hashable, Sendable {
    /// How long after the last feedback the next one leaves.
    package var interval = Interval.milliseconds(100)
    /// How long arrivals are remembered that have been told of: one that comes late brings them up again.
    package var memory = Interval.milliseconds(500)

    package init() {}
  }

  package private(set) var settings: Settings
  private var unwrapper = SequenceUnwrapper()
  /// The arrivals from ``begin`` to ``end``, each at its number modulo the ring's size, which is a power of two; nil for one
  /// that has not come.
  private var ring: [Instant?] = []
  private var begin: Int64 = 0
  private var end: Int64 = 0
  /// The first number that the next feedback tells of.
  private var untold: Int64 = 0
  /// Whether anything has come since the last feedback.
  private var hasNews = false
  private var lastFeedback: Instant?
  private var feedbackNumber: UInt8 = 0
  private var source: UInt32 = 0

  /// As many as a feedback can tell of as missing in front of one that has come.
  private static let limit = 1 << 15
  /// What feedback may take of the bitrate, and how often it leaves at least and at most.
  private static let share = 0.05
  private static let bounds = Interval.milliseconds(50)...Interval.milliseconds(250)
  /// A feedback with its headers, on average.
  private static let packetSize = 68

  package init(settings: Settings = Settings()) { self.settings = settings }

  /// Sets how often feedback leaves, by the bitrate there is for all that is sent.
  package mutating func setBitrate(_ bitrate: DataRate) {
    let share = DataRate.bitsPerSecond(Int64(Double(bitrate.bitsPerSecond) * Self.share))
    guard share.bitsPerSecond > 0 else {
      settings.interval = Self.bounds.upperBound
      return
    }
    let interval = share.transmissionTime(byteCount: Self.packetSize)
    settings.interval = min(max(interval, Self.bounds.lowerBound), Self.bounds.upperBound)
  }

  /// Takes note of a packet. One that has come before says nothing new.
  package mutating func record(_ number: UInt16, from source: UInt32, at now: Instant) {
    let isFirst = unwrapper.last == nil
    let number = unwrapper.unwrap(number)
    if isFirst { (begin, end, untold) = (number, number, number) }
    // From too far behind to be told of.
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

  /// When feedback is due; nil while there is nothing to tell.
  package var deadline: Instant? {
    guard hasNews, let lastFeedback else { return nil }
    return lastFeedback + settings.interval
  }

  /// The next feedback, once one is due; to be asked again until there is none.
  package mutating func takeFeedback(from sender: UInt32, at now: Instant) -> TransportFeedback? {
    guard let deadline, now >= deadline else { return nil }
    guard let first = (untold..<end).first(where: { ring[place($0)] != nil }), let arrival = ring[place(first)] else {
      finish(at: now)
      return nil
    }
    // So many in a row are more than a feedback can tell of as missing; their sender has given them up.
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

  /// Puts feedback off that is due, while none can be sent.
  package mutating func postpone(at now: Instant) {
    if let deadline, now >= deadline { lastFeedback = now }
  }

  private mutating func finish(at now: Instant) {
    hasNews = false
    lastFeedback = now
  }

  /// Forgets what has been told of long ago, once all has been told of.
  private mutating func forgetOld(at now: Instant) {
    guard untold == end else { return }
    while begin < end, ring[place(begin)].map({ now - $0 > settings.memory }) ?? true { begin += 1 }
  }

  private func place(_ number: Int64) -> Int { Int(number & Int64(ring.count - 1)) }

  /// Spans other numbers, with what is known of those.
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
