package import CallCore

/// Who heard and saw whom, and when, for the arms of a comparison.
package struct Receptions: Hashable, Sendable {
  /// Who received, and whose sound or pictures.
  package struct Pair: Hashable, Comparable, Sendable {
    package let receiver: String
    package let sender: String

    package init(receiver: String, sender: String) {
      self.receiver = receiver
      self.sender = sender
    }

    package static func < (one: Self, other: Self) -> Bool {
      (one.receiver, one.sender) < (other.receiver, other.sender)
    }
  }

  /// The periods of a run in which something was there.
  package struct Presence: Hashable, Sendable {
    package static let period = Interval.milliseconds(250)
    /// The numbers of the periods, in order.
    package private(set) var periods: [Int] = []

    package init(periods: [Int] = []) { self.periods = periods }

    package mutating func note(at time: Instant) {
      let number = Self.number(of: time)
      if periods.last != number { periods.append(number) }
    }

    /// Returns the number of the period that contains a time.
    package static func number(of time: Instant) -> Int {
      Int((time - Instant.zero).nanoseconds / period.nanoseconds)
    }
  }

  /// When sound that was sent played, and pictures were shown.
  package var heard: [Pair: Presence] = [:]
  package var seen: [Pair: Presence] = [:]
  /// When each peer spoke into its microphone, and was not muted.
  package var spoken: [String: Presence] = [:]

  package init() {}
}
