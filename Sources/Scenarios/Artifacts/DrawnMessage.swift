internal import CallCore

/// A signalling message as a sequence diagram shows it: what its sender said of it, and what became of it.
struct DrawnMessage {
  var from: String
  var to: String
  var type: String
  var sent: Instant
  /// The sender had no connection to carry it.
  var isUnsent: Bool
  /// What faults did to it at the signalling server.
  var effects: [String] = []
  var faulted: Instant?
  /// When its receiver had it, once for each copy.
  var receipts: [Instant] = []
  /// The diagram's line for its sending; nil where there was no room.
  var line: Int?
  /// The lines for its coming, where that was not at once or not once.
  var arrivals: [(line: Int, receipt: Int)] = []

  /// Signalling that nothing holds up takes no longer, a second for its receiver to register included.
  private static let promptly = Interval.seconds(2)

  private var isTaken: Bool { effects.contains("drop") || effects.contains("blackhole") }
  private var isHeld: Bool { effects.contains("delay") || effects.contains("reorder") }

  /// Whether one that comes now may be this one.
  var isAwaited: Bool {
    !isUnsent && !isTaken && (receipts.isEmpty || (receipts.count == 1 && effects.contains("duplicate")))
  }

  /// Whether a fault may be about this one: a message meets its faults at one instant, each of them once.
  func mayMeet(_ effect: String, at time: Instant) -> Bool {
    !isUnsent && receipts.isEmpty && (faulted == nil || (faulted == time && !effects.contains(effect)))
  }

  /// Whether its coming has a place of its own in the diagram.
  var comesApart: Bool {
    guard let last = receipts.last else { return false }
    return receipts.count > 1 || isHeld || last - sent > Self.promptly
  }

  private var isLate: Bool { receipts.first.map { isHeld || $0 - sent > Self.promptly } ?? false }

  /// - Parameter end: until when the run was watched; nil for a receiver of whom nobody says what it receives.
  func isLost(by end: Instant?) -> Bool {
    if isUnsent || isTaken { return true }
    guard receipts.isEmpty, let end else { return false }
    return !effects.isEmpty || end - sent > Self.promptly
  }

  /// What is drawn where it was sent.
  func sending(isLost: Bool, _ names: (from: String, to: String)) -> String {
    let details = ([seconds(sent)] + effects).joined(separator: ", ")
    if isLate { return "Note over \(names.from): sends \(word) (\(details))" }
    return "\(names.from)\(isLost ? "-x" : "->>")\(names.to): \(word) (\(details))"
  }

  /// What is drawn where one copy of it came.
  func arrival(_ receipt: Int, _ names: (from: String, to: String)) -> String {
    let copy = receipt > 0 ? ", again" : ""
    return "\(names.from)->>\(names.to): \(word) (\(seconds(receipts[receipt])), sent \(seconds(sent))\(copy))"
  }

  private var word: String { SequenceDiagram.escape(type) }

  private func seconds(_ time: Instant) -> String { TextStyle.decimal(time.seconds, places: 3) + " s" }
}

/// The messages of a run, in the order of their sending.
struct DrawnMessages {
  private(set) var all: [DrawnMessage] = []
  /// Those that may yet come.
  private var awaited: [Int] = []
  private var senders: Set<String> = []

  mutating func sent(_ message: DrawnMessage) {
    if message.isAwaited { awaited.append(all.count) }
    senders.insert(message.from)
    all.append(message)
  }

  /// A fault at the signalling server has met a message. It calls users by their ids, which need not be names of peers.
  mutating func faulted(_ effect: String, type: String, user: String, at time: Instant) {
    let met = awaited.filter { all[$0].type == type && all[$0].mayMeet(effect, at: time) }
    // What it meets now is what it has met already, and else what is next.
    let ordered = met.filter { all[$0].faulted == time } + met.filter { all[$0].faulted == nil }
    guard let index = ordered.first(where: { all[$0].from == user }) ?? (senders.contains(user) ? nil : ordered.first)
    else {
      return
    }
    all[index].effects.append(effect)
    all[index].faulted = time
    if !all[index].isAwaited { awaited.removeAll { $0 == index } }
  }

  /// A peer has a message of another. The message that it is; nil when nobody was seen to send it.
  mutating func received(type: String, by receiver: String, from sender: String, at time: Instant) -> Int? {
    let sent = awaited.filter { all[$0].type == type && all[$0].from == sender }
    // Several peers may have one user id.
    guard let index = sent.first(where: { all[$0].to == receiver }) ?? sent.first else { return nil }
    all[index].receipts.append(time)
    if !all[index].isAwaited { awaited.removeAll { $0 == index } }
    return index
  }

  mutating func drawArrival(of index: Int, at line: Int) {
    all[index].arrivals.append((line, all[index].receipts.count - 1))
  }
}
