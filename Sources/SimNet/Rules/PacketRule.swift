internal import CallCore

/// Datagrams to drop, or to follow by forged ones, by their content: a fault of one protocol, while the link treats other traffic as usual. A message
/// of a TURN connection (RFC 8656 section 3.1) counts as one datagram: if dropped, it is never written to the stream,
/// because written data always arrives. A TLS record counts as one, too.
public struct PacketRule: Hashable, Sendable {
  /// The content of the datagram, relayed or not, or nil for any.
  public var content: PacketContent?
  /// The flight of a DTLS handshake, 1 to 6, or nil for any.
  public var flight: Int?
  /// The sender, or nil for any. A relay sends the datagrams that it forwards; if the rule has a receiver, their
  /// original sender is a sender, too. Without a sender and a receiver, forwarded datagrams do not count again.
  public var sender: HostID?
  /// The receiver, or nil for any. With a receiver the datagram is dropped there, otherwise where it is sent.
  public var receiver: HostID?
  /// The number of matching datagrams that pass first.
  public var skip: Int
  /// The number of datagrams after those that are dropped, by this rule or by an older one; nil for no limit.
  public var limit: Int?
  /// What becomes of the datagrams.
  public var action = Action.drop

  /// What becomes of a datagram.
  public enum Action: Hashable, Sendable {
    case drop
    /// It arrives, and a ``PacketForgery`` after it. The rule needs a receiver.
    case forge
  }

  /// Makes a rule; the default matches every datagram.
  public init(
    content: PacketContent? = nil, flight: Int? = nil, sender: HostID? = nil, receiver: HostID? = nil, skip: Int = 0,
    limit: Int? = nil
  ) {
    self.content = content
    self.flight = flight
    self.sender = sender
    self.receiver = receiver
    self.skip = skip
    self.limit = limit
  }
}

/// The identifier of an added rule.
public struct PacketRuleID: Hashable, Sendable, BitwiseCopyable {
  let number: Int
}

/// The active rules, oldest first, with the number of datagrams that each has seen. Each counts every datagram that it
/// matches; if several would drop one, the oldest does.
struct PacketRules {
  private struct Entry {
    let id: PacketRuleID
    let rule: PacketRule
    var seen = 0

    var isSpent: Bool { rule.limit.map { seen - rule.skip >= $0 } ?? false }
  }

  private var entries: [Entry] = []
  /// The results for the datagrams that each rule was to drop, by its number, from 1.
  private var tallies: [Tally] = []

  private struct Tally {
    var dropped = 0
    /// The number of datagrams that an older rule dropped.
    var forestalled = 0
  }

  private var handshakes = DTLSHandshakes()
  private var origins = RelayedOrigins()
  private var added = 0

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ rule: PacketRule) -> PacketRuleID {
    added += 1
    entries.append(Entry(id: PacketRuleID(number: added), rule: rule))
    tallies.append(Tally())
    return PacketRuleID(number: added)
  }

  /// Counts a forged packet of a rule that has reached its receiver.
  mutating func forgeryArrived(of id: PacketRuleID) { tallies[id.number - 1].dropped += 1 }

  /// Returns the number of datagrams that the rule has dropped, or of its forged packets that have arrived, also after
  /// its end.
  func dropCount(of id: PacketRuleID) -> Int { tallies[id.number - 1].dropped }

  /// Returns the number of datagrams that an older rule has dropped in its place.
  func forestalledCount(of id: PacketRuleID) -> Int { tallies[id.number - 1].forestalled }

  mutating func remove(_ id: PacketRuleID) { entries.removeAll { $0.id == id } }

  private static func isSender(_ rule: PacketRule, _ sender: HostID, _ origin: HostID) -> Bool {
    switch (rule.sender, rule.receiver) {
    case (let wanted?, nil): wanted == sender
    case (let wanted?, _): wanted == sender || wanted == origin
    case (nil, nil): sender == origin
    case (nil, _): true
    }
  }

  /// What the rules make of a datagram.
  struct Treatment {
    var isDropped = false
    /// The rules whose forged packets follow it.
    var forgeries: [PacketRuleID] = []
  }

  /// Returns whether a rule drops the datagram: where it is sent (`receiver` nil), or at its receiver.
  mutating func drop(_ payload: RawSpan, from sender: HostID, to receiver: HostID?) -> Bool {
    treat(payload, from: sender, to: receiver).isDropped
  }

  /// Returns what the rules make of a datagram where it is sent (`receiver` nil), or at its receiver.
  mutating func treat(_ payload: RawSpan, from sender: HostID, to receiver: HostID?) -> Treatment {
    // The original sender of a forwarded datagram matters only to rules with a receiver or without a sender.
    let looksThroughRelays = entries.contains { $0.rule.receiver != nil || $0.rule.sender == nil }
    let origin = looksThroughRelays ? origins.origin(of: payload, from: sender) : sender
    if receiver == nil { handshakes.learn(payload, from: origin) }
    if looksThroughRelays, let receiver { origins.note(payload, from: origin, to: receiver) }
    guard !entries.isEmpty else { return Treatment() }
    var treatment = Treatment()
    let flight = handshakes.flight(of: payload, from: origin)
    for index in entries.indices {
      let rule = entries[index].rule
      guard rule.receiver == receiver, Self.isSender(rule, sender, origin) else { continue }
      if let content = rule.content, !PacketContent.matches(payload, content) { continue }
      // A stranger is not the relay, and its packets have no frame of TURN.
      if rule.action == .forge, rule.content != PacketContent(payload) { continue }
      if let wanted = rule.flight, flight != wanted { continue }
      entries[index].seen += 1
      let position = entries[index].seen - rule.skip
      guard position > 0, rule.limit.map({ position <= $0 }) ?? true else { continue }
      let number = entries[index].id.number
      switch rule.action {
      case _ where treatment.isDropped: tallies[number - 1].forestalled += 1
      case .drop:
        tallies[number - 1].dropped += 1
        treatment.isDropped = true
      case .forge: treatment.forgeries.append(entries[index].id)
      }
    }
    if treatment.isDropped || !treatment.forgeries.isEmpty { entries.removeAll(where: \.isSpent) }
    return treatment
  }
}
