package import CallCore

/// Decides which packets to request again, and when.
///
/// The list is bounded, and each number is requested only a few times and at most once per round trip. A gap too large
/// to repair is abandoned at once, to avoid a storm of requests.
package struct NACKGenerator: Sendable {
  package struct Settings: Hashable, Sendable {
    package var maximumListSize = 250
    package var maximumRequests = 10
    /// The time allowed for reordered packets to arrive before the first request.
    package var reorderingTolerance = Interval.zero
    /// The age at which a number is abandoned, because the packet could no longer be played.
    package var maximumAge = Interval.seconds(1)
    /// The interval between requests before a round trip is known, and the minimum interval afterwards.
    package var defaultRoundTrip = Interval.milliseconds(100)
    package var minimumWait = Interval.milliseconds(10)
    /// The distance behind the newest number at which a number is abandoned.
    package var maximumPacketAge: Int64 = .max
    /// Whether a list that would grow beyond its maximum is cleared. Video then needs a key frame; audio keeps the
    /// newest.
    package var clearsOnOverflow = false

    package init() {}
  }

  private struct Missing {
    var sequence: Int64
    var since: Instant
    var due: Instant
    var requests: Int
  }

  package let settings: Settings
  private var missing: [Missing] = []
  private var unwrapper = SequenceUnwrapper()
  private var highest: Int64?
  /// The round trip, which determines the interval between requests.
  package var roundTrip: Interval?
  /// The count of abandoned numbers: too old, requested too often, or in too large a gap.
  package private(set) var abandonedCount = 0
  /// The number of times the list was cleared because it was full.
  package private(set) var overflowCount = 0

  package init(settings: Settings = Settings()) {
    self.settings = settings
    missing.reserveCapacity(settings.maximumListSize)
  }

  package var missingCount: Int { missing.count }

  /// Takes the sequence number of a received packet.
  ///
  /// - Returns: the number of times the packet was requested.
  @discardableResult
  package mutating func receive(sequenceNumber: UInt16, at now: Instant) -> Int {
    let sequence = unwrapper.peek(sequenceNumber)
    guard let highest, sequence <= highest else {
      let first = (highest ?? sequence - 1) + 1
      _ = unwrapper.unwrap(sequenceNumber)
      self.highest = sequence
      addGap(first..<sequence, at: now)
      return 0
    }
    guard let index = missing.firstIndex(where: { $0.sequence == sequence }) else { return 0 }
    return missing.remove(at: index).requests
  }

  /// Abandons the numbers up to one whose packets are no longer needed.
  package mutating func discard(through sequenceNumber: UInt16) {
    let last = unwrapper.peek(sequenceNumber)
    missing.removeFirst(missing.firstIndex { $0.sequence > last } ?? missing.count)
  }

  /// Continues at a distant number. Numbers before it may be lost; if the numbers went back, they were never sent.
  package mutating func restart(at sequenceNumber: UInt16, now: Instant) {
    if let highest, unwrapper.peek(sequenceNumber) < highest { reset() }
    receive(sequenceNumber: sequenceNumber, at: now)
  }

  /// Forgets everything.
  package mutating func reset() {
    missing.removeAll(keepingCapacity: true)
    unwrapper = SequenceUnwrapper()
    highest = nil
  }

  /// The time of the next request; nil when nothing is missing.
  package var deadline: Instant? {
    guard var earliest = missing.first?.due else { return nil }
    for entry in missing where entry.due < earliest { earliest = entry.due }
    return earliest
  }

  /// Appends the numbers to request now, in order.
  package mutating func takeDue(at now: Instant, into numbers: inout [UInt16]) {
    visitDue(at: now) { entry in
      numbers.append(UInt16(truncatingIfNeeded: entry.sequence))
      entry.requests += 1
    }
  }

  /// Postpones due requests as if they were made, without counting them, while nothing can be sent.
  package mutating func postponeDue(at now: Instant) { visitDue(at: now) { _ in } }

  private mutating func visitDue(at now: Instant, _ visit: (inout Missing) -> Void) {
    let roundTrip = Defect.nackFasterThanRoundTrip.isPlanted ? .zero : roundTrip ?? settings.defaultRoundTrip
    let wait = max(roundTrip, settings.minimumWait)
    var kept = 0
    for index in missing.indices {
      var entry = missing[index]
      guard entry.requests < settings.maximumRequests || now < entry.due, now - entry.since < settings.maximumAge else {
        abandonedCount += 1
        continue
      }
      if now >= entry.due {
        visit(&entry)
        entry.due = now + wait
      }
      missing[kept] = entry
      kept += 1
    }
    missing.removeLast(missing.count - kept)
  }

  private mutating func addGap(_ gap: Range<Int64>, at now: Instant) {
    guard !gap.isEmpty else { return }
    if let first = missing.first, gap.upperBound - first.sequence > settings.maximumPacketAge {
      let count = missing.count
      missing.removeAll { gap.upperBound - $0.sequence > settings.maximumPacketAge }
      abandonedCount += count - missing.count
    }
    let limit = Defect.hugeGapRequested.isPlanted ? Int.max : settings.maximumListSize
    if settings.clearsOnOverflow, missing.count + gap.count > limit { overflowCount += 1 }
    guard gap.count <= limit, !settings.clearsOnOverflow || missing.count + gap.count <= limit else {
      abandonedCount += missing.count + gap.count
      missing.removeAll(keepingCapacity: true)
      return
    }
    let overflow = missing.count + gap.count - limit
    if overflow > 0 {
      missing.removeFirst(overflow)
      abandonedCount += overflow
    }
    for sequence in gap {
      missing.append(Missing(sequence: sequence, since: now, due: now + settings.reorderingTolerance, requests: 0))
    }
  }
}
