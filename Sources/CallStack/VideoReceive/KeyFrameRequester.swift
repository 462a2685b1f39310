package import CallCore

/// Decides when to ask a sender for a key frame (a PLI, RFC 4585 section 6.3.1).
///
/// A request stays pending until it was sent; within a round trip of the last one it waits, because a key frame may be
/// on its way. Requests in storms make a sender send nothing but key frames.
package struct KeyFrameRequester: Sendable {
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The stream began with a frame that needs others.
    case firstFrameIsDelta
    /// The packets waiting for frames did not fit.
    case packetOverflow
    /// Too many packets were missing to request them again.
    case nackOverflow
    /// An H.264 key frame came without its parameter sets.
    case missingParameterSets
    /// A Dependency Descriptor came without its structure.
    case missingStructure
    case decodeError
    /// No frame could be decoded in time.
    case timeout
    /// The frames waiting to be decoded did not fit.
    case frameOverflow
    /// One who gets the pictures from here needs it.
    case receiver
  }

  package struct Settings: Hashable, Sendable {
    /// The minimum time between requests before a round trip is known, and afterwards.
    package var defaultRoundTrip = Interval.milliseconds(100)
    package var minimumInterval = Interval.milliseconds(20)
    /// The minimum time between requests for a missing structure.
    package var structureInterval = Interval.seconds(1)

    package init() {}
  }

  package var settings: Settings
  package var roundTrip: Interval?
  private var pending: Reason?
  private var lastSent: Instant?
  private var lastStructureRequest: Instant?
  /// The number of requests sent.
  package private(set) var sentCount = 0
  /// The number of times a key frame was needed, whether or not it led to a request of its own.
  package private(set) var neededCount = 0

  package init(settings: Settings = Settings()) { self.settings = settings }

  /// Notes that a key frame is needed.
  package mutating func request(_ reason: Reason, at now: Instant) {
    neededCount += 1
    if reason == .missingStructure {
      if let lastStructureRequest, now - lastStructureRequest < settings.structureInterval { return }
      lastStructureRequest = now
    }
    if pending == nil { pending = reason }
  }

  /// Postpones a due request while nothing can be sent.
  package mutating func postpone(at now: Instant) {
    if let deadline, now >= deadline { lastSent = now }
  }

  /// Notes that a key frame has arrived whole.
  package mutating func keyFrameArrived() { pending = nil }

  private var earliest: Instant? {
    lastSent.map { $0 + max(settings.minimumInterval, roundTrip ?? settings.defaultRoundTrip) }
  }

  /// The time at which a request is to be sent; nil when none is needed.
  package var deadline: Instant? { pending == nil ? nil : earliest ?? .zero }

  /// Returns the reason of the request to send now, or nil.
  package mutating func take(at now: Instant) -> Reason? {
    guard let reason = pending, now >= earliest ?? now || Defect.keyFrameRequestedAtOnce.isPlanted else { return nil }
    pending = nil
    lastSent = now
    sentCount += 1
    return reason
  }
}
