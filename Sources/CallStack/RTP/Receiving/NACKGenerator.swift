package import CallCore

/// Which packets to ask for again, and when.
///
/// The list is bounded, each number is asked for a few times only, and never sooner than a round trip after the last
/// request; a gap too large to repair is given up at once instead of starting a storm.
package struct NACKGenerator: Sendable {
  package struct Settings: Hashable, Sendable {
    package var maximumListSize = 250
    package var maximumRequests = 10
    /// Time allowed for reordered packets to arrive before the first request.
    package var reorderingTolerance = Interval.zero
    /// The age at which a number is forgotten: nothing it brings could still be played.
    package var maximumAge = Interval.seconds(1)
    /// The wait between requests before a round trip is known, and the least wait after.
    package var defaultRoundTrip = Interval.milliseconds(100)
    package var minimumWait = Interval.milliseconds(10)

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
  /// The round trip that paces repeats.
  package var roundTrip: Interval?
  /// Numbers given up: too old, asked for too often, or in a gap too large.
  package private(set) var abandonedCount = 0

  package init(settings: Settings = Settings()) {
    self.settings = settings
    missing.reserveCapacity(settings.maximumListSize)
  }

  package var missingCount: Int { missing.count }

  /// Takes the sequence number of a packet that arrived.
  package mutating func receive(sequenceNumber: UInt16, at now: Instant) {
    let sequence = unwrapper.peek(sequenceNumber)
    guard let highest, sequence <= highest else {
      let first = (highest ?? sequence - 1) + 1
      _ = unwrapper.unwrap(sequenceNumber)
      self.highest = sequence
      addGap(first..<sequence, at: now)
      return
    }
    if let index = missing.firstIndex(where: { $0.sequence == sequence }) { missing.remove(at: index) }
  }

  /// Goes on at a number far from the others. What lies before it may be lost; when the numbers went back, it was never
  /// sent.
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

  /// When the next request is due, or nil when nothing is missing.
  package var deadline: Instant? { missing.lazy.map(\.due).min() }

  /// The numbers to request now, in order, appended to `numbers`.
  package mutating func takeDue(at now: Instant, into numbers: inout [UInt16]) {
    visitDue(at: now) { entry in
      numbers.append(UInt16(truncatingIfNeeded: entry.sequence))
      entry.requests += 1
    }
  }

  /// Lets what is due wait as after a request, while none can be sent; none is used up.
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
    let limit = Defect.hugeGapRequested.isPlanted ? Int.max : settings.maximumListSize
    guard gap.count <= limit else {
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
