internal import CallCore
internal import PeerSession
internal import SCTP

/// What the apps of a world have sent on data channels, and what of it has come. Only a simulator knows both.
///
/// A message is known by its content: equal ones are taken in their order.
package final class DataChannelLedger {
  /// One end of a channel, from its creation to its end.
  package final class End {
    fileprivate let owner: String
    fileprivate let subject: String
    fileprivate let label: String
    fileprivate weak var other: End?
    fileprivate var sent: [Sent] = []
    /// The messages before this place have come.
    fileprivate var firstMissing = 0
    /// The number of the latest message that has come from the other end.
    fileprivate var latest = 0
    fileprivate var missing = 0
    var isOver = false
    /// Whether the channel failed here, so that what was sent may be lost.
    var hasFailed = false

    fileprivate init(owner: String, subject: String, label: String) {
      (self.owner, self.subject, self.label) = (owner, subject, label)
    }
  }

  fileprivate struct Sent {
    let content: UInt64
    let at: Instant
    var hasCome = false
  }

  /// What has come of a message.
  struct Delivery {
    var number = 0
    var verdict = DataChannelEvents.Verdict.unknown
    var latency: Interval?
    /// The messages that have not come, although later ones have.
    var missing = 0
  }

  private var ends: [End] = []

  package init() {}

  /// Begins an end of a channel.
  func begin(_ label: String, of owner: String, over subject: String) -> End {
    ends.removeAll { $0.isOver && $0.other?.isOver ?? true }
    let end = End(owner: owner, subject: subject, label: label)
    ends.append(end)
    return end
  }

  func send(_ message: DataChannelMessage, on end: End, at now: Instant) {
    end.sent.append(Sent(content: Self.content(of: message), at: now))
  }

  func receive(_ message: DataChannelMessage, on end: End, at now: Instant) -> Delivery {
    let content = Self.content(of: message)
    var delivery = Delivery(missing: end.missing)
    for other in partners(of: end) {
      guard let index = other.sent[other.firstMissing...].firstIndex(where: { !$0.hasCome && $0.content == content })
      else {
        if other.sent.contains(where: { $0.content == content }) { delivery.verdict = .repeated }
        continue
      }
      (end.other, other.other) = (other, end)
      other.sent[index].hasCome = true
      while other.firstMissing < other.sent.count, other.sent[other.firstMissing].hasCome { other.firstMissing += 1 }
      take(index + 1, on: end, &delivery)
      delivery.latency = now - other.sent[index].at
      break
    }
    return delivery
  }

  private func take(_ number: Int, on end: End, _ delivery: inout Delivery) {
    delivery.number = number
    if number > end.latest {
      delivery.verdict = number == end.latest + 1 ? .next : .early
      end.missing += number - end.latest - 1
      end.latest = number
    } else {
      delivery.verdict = .late
      end.missing -= 1
    }
    delivery.missing = end.missing
  }

  /// The ends that may be the other one: it, once a message has come, or those at other peers that have none.
  private func partners(of end: End) -> [End] {
    if let other = end.other { return [other] }
    return ends.filter { $0.label == end.label && $0.owner != end.owner && $0.other == nil && Self.fit($0, end) }
  }

  /// Whether two connections may lead to each other. Those with a name tell to whom.
  private static func fit(_ a: End, _ b: End) -> Bool {
    func leads(_ from: End, to end: End) -> Bool {
      from.subject == from.owner || from.subject.hasSuffix("/to/\(end.owner)")
    }
    return leads(a, to: b) && leads(b, to: a)
  }

  /// Returns the number of messages of the other end that have not come.
  func missing(at end: End) -> Int {
    guard let other = partners(of: end).first, !other.hasFailed else { return 0 }
    return other.sent.count { !$0.hasCome }
  }

  /// Returns the number of messages of this end that were sent before a time and have not come, while both ends live.
  func overdue(of end: End, before time: Instant) -> Int {
    let others = partners(of: end)
    guard others.count == 1, !others[0].isOver, !end.isOver else { return 0 }
    return end.sent[end.firstMissing...].count { !$0.hasCome && $0.at < time }
  }

  private static func content(of message: DataChannelMessage) -> UInt64 {
    var hash = FNV1a()
    switch message {
    case .string(let text):
      hash.mix([0])
      hash.mix(text.utf8)
    case .binary(let bytes):
      hash.mix([1])
      hash.mix(bytes)
    }
    return hash.value
  }
}
