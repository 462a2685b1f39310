package import CallCore

/// When each peer last heard or saw each other one, for the arms of a comparison.
package struct ReceptionTimes: Hashable, Sendable {
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

  package private(set) var last: [Pair: Instant] = [:]

  package init() {}

  package mutating func note(_ pair: Pair, at time: Instant) { last[pair] = time }
}
