internal import CallCore

/// Datagrams to drop by what they are: a fault aimed at one protocol, while the link treats the rest as ever. A message
/// of a TURN connection (RFC 8656 section 3.1) counts as one: dropped, it is never written to the stream, because what
/// is written there always arrives. Of TLS a record counts as one.
public struct PacketRule: Hashable, Sendable {
  /// What the datagram carries, through a relay too, or nil for anything.
  public var content: PacketContent?
  /// Of DTLS, only this flight of the handshake, 1 to 6, or nil for any.
  public var flight: Int?
  /// Who put it on the network, or nil for anyone. A relay sends what it forwards; with a receiver, who gave it to the
  /// relay is a sender, too. Without a sender and a receiver, what a relay forwards does not count again.
  public var sender: HostID?
  /// Whom it reaches, or nil for anyone. With a receiver it is dropped there, otherwise where it is sent.
  public var receiver: HostID?
  /// How many matching datagrams pass first.
  public var skip: Int
  /// How many after those are dropped, by this rule or by an older one, before the rule is spent; nil for no end.
  public var limit: Int?

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

/// A rule in force.
public struct PacketRuleID: Hashable, Sendable, BitwiseCopyable {
  let number: Int
}

/// The rules in force, oldest first, with how many datagrams each has seen. Each counts every datagram that it matches; of
/// several that would drop one, the oldest does.
struct PacketRules {
  private struct Entry {
    let id: PacketRuleID
    let rule: PacketRule
    var seen = 0

    var isSpent: Bool { rule.limit.map { seen - rule.skip >= $0 } ?? false }
  }

  private var entries: [Entry] = []
  /// What came of the datagrams that each rule was to drop, by its number, from 1.
  private var tallies: [Tally] = []

  private struct Tally {
    var dropped = 0
    /// An older rule dropped them.
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

  /// How many datagrams the rule has dropped, also when it has ended.
  func dropCount(of id: PacketRuleID) -> Int { tallies[id.number - 1].dropped }

  /// How many datagrams an older rule has dropped in its place.
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

  /// Whether a rule drops the datagram: where it is sent (`receiver` nil), or at its receiver.
  mutating func drop(_ payload: RawSpan, from sender: HostID, to receiver: HostID?) -> Bool {
    // Who sent what a relay forwards matters to those rules only that do not name a sender alone.
    let looksThroughRelays = entries.contains { $0.rule.receiver != nil || $0.rule.sender == nil }
    let origin = looksThroughRelays ? origins.origin(of: payload, from: sender) : sender
    if receiver == nil { handshakes.learn(payload, from: origin) }
    if looksThroughRelays, let receiver { origins.note(payload, from: origin, to: receiver) }
    guard !entries.isEmpty else { return false }
    var isDropped = false
    let flight = handshakes.flight(of: payload, from: origin)
    for index in entries.indices {
      let rule = entries[index].rule
      guard rule.receiver == receiver, Self.isSender(rule, sender, origin) else { continue }
      if let content = rule.content, !PacketContent.matches(payload, content) { continue }
      if let wanted = rule.flight, flight != wanted { continue }
      entries[index].seen += 1
      let position = entries[index].seen - rule.skip
      guard position > 0, rule.limit.map({ position <= $0 }) ?? true else { continue }
      let number = entries[index].id.number
      if isDropped { tallies[number - 1].forestalled += 1 } else { tallies[number - 1].dropped += 1 }
      isDropped = true
    }
    if isDropped { entries.removeAll(where: \.isSpent) }
    return isDropped
  }
}
