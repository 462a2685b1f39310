internal import CallCore
internal import RTP

/// A telephone event of the remote side.
struct TelephoneEvent: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    case began
    /// The duration that the remote side told.
    case ended(Interval)
  }

  /// The event of RFC 4733; 0 to 15 are DTMF digits.
  var event: UInt8
  var phase: Phase

  /// The DTMF digit; nil for another event.
  var digit: Character? { TelephoneEventPayload.digit(of: event) }
}

/// Makes one beginning and one end of the packets of each event, whichever of them arrive (RFC 4733 section 2.5.2).
struct TelephoneEventReceiver {
  private struct Current {
    var event: UInt8
    /// The timestamp of the whole event, and of its last segment.
    var first: UInt32
    var timestamp: UInt32
    var duration: UInt16
    var clockRate: UInt32
    var hasEnded: Bool
    var lastArrival: Instant

    var whole: Interval {
      .microseconds(Int64(timestamp &- first &+ UInt32(duration)) * 1_000_000 / Int64(max(1, clockRate)))
    }
  }

  private var current: Current?
  private var reports = FIFO<TelephoneEvent>()
  /// The maximum number of reports that nobody takes.
  private static let limit = 256
  /// The time without packets after which an event has ended.
  private static let silence = Interval.milliseconds(500)

  /// Returns the next report.
  mutating func next() -> TelephoneEvent? { reports.popFirst() }

  mutating func receive(_ payload: TelephoneEventPayload, timestamp: UInt32, clockRate: UInt32, at now: Instant) {
    if let known = current {
      let step = timestamp &- known.timestamp
      // An earlier event's packet that others have overtaken.
      guard step < 1 << 31 else { return }
      let continues =
        step == UInt32(UInt16.max) && known.event == payload.event && known.duration == .max && !known.hasEnded
      if step == 0 || continues {
        guard !known.hasEnded, step == 0 || continues else { return }
        current?.timestamp = timestamp
        current?.duration = continues ? payload.duration : max(known.duration, payload.duration)
        current?.lastArrival = now
        if payload.isEnd { end() }
        return
      }
      end()
    }
    current = Current(
      event: payload.event, first: timestamp, timestamp: timestamp, duration: payload.duration, clockRate: clockRate,
      hasEnded: false, lastArrival: now)
    report(TelephoneEvent(event: payload.event, phase: .began))
    if payload.isEnd { end() }
  }

  /// Ends an event of which nothing has come for a while.
  mutating func advance(to now: Instant) {
    if let current, !current.hasEnded, now - current.lastArrival >= Self.silence { end() }
  }

  private mutating func end() {
    guard let known = current, !known.hasEnded else { return }
    current?.hasEnded = true
    report(TelephoneEvent(event: known.event, phase: .ended(known.whole)))
  }

  private mutating func report(_ event: TelephoneEvent) {
    if reports.count < Self.limit { reports.append(event) }
  }
}
