package import CallCore

/// The messages of a run in the order of sending, with their faults and arrivals.
///
/// The trace does not identify the message that arrives: it is taken to be the first of its type on the way from its
/// sender, except for those that faults hold back.
struct StoryMessages {
  static let limit = 2_000

  /// The time that a delaying fault may hold a message, with the message type; nil stands for all types.
  struct Delay {
    let type: String?
    let by: Interval
  }

  private(set) var all: [RunStory.Message] = []
  private(set) var omitted = 0
  /// The indices of the messages that may still arrive.
  private var awaited: [Int] = []
  private var senders: Set<String> = []
  private let delays: [Delay]

  init(delays: [Delay]) { self.delays = delays }

  mutating func sent(_ message: RunStory.Message) {
    senders.insert(message.from)
    guard all.count < Self.limit else {
      omitted += 1
      return
    }
    if message.isAwaited { awaited.append(all.count) }
    all.append(message)
  }

  /// Notes that a fault at the signalling server affected a message. It identifies users by their ids, which may differ
  /// from the names of peers.
  mutating func faulted(_ effect: String, type: String, user: String, at time: Instant) {
    let met = awaited.filter { all[$0].type == type && all[$0].mayMeet(effect, at: time) }
    // The message is one that another fault affected at this instant, or else the next one.
    let ordered = met.filter { all[$0].faulted == time } + met.filter { all[$0].faulted == nil }
    guard let index = ordered.first(where: { all[$0].from == user }) ?? (senders.contains(user) ? nil : ordered.first)
    else { return }
    all[index].effects.append(effect)
    all[index].faulted = time
    if !all[index].isAwaited { awaited.removeAll { $0 == index } }
  }

  /// Notes that a peer received a message. Without a matching sent message, nothing is noted.
  mutating func received(type: String, by receiver: String, from sender: String, at time: Instant, order: Int) {
    let sent = awaited.filter { all[$0].type == type && all[$0].from == sender }
    // Several peers may have one user id.
    let mine = sent.filter { all[$0].to == receiver }
    guard let index = next(of: mine.isEmpty ? sent : mine, at: time) else { return }
    all[index].receipts.append(.init(order: order, time: time))
    if !all[index].isAwaited { awaited.removeAll { $0 == index } }
  }

  /// Returns the message that arrives now, of those on the way.
  private func next(of candidates: [Int], at time: Instant) -> Int? {
    candidates.first { !isHeld($0, at: time) && !isOvertaken($0) } ?? candidates.first
  }

  /// Returns whether a delaying fault still holds the message.
  private func isHeld(_ index: Int, at time: Instant) -> Bool {
    let message = all[index]
    guard message.effects.contains("delay"), let faulted = message.faulted else { return false }
    let shortest = delays.filter { $0.type == nil || $0.type == message.type }.map(\.by).min() ?? .zero
    return time < faulted + shortest
  }

  /// Returns whether it waits to change places with the next message of its type, which has not arrived yet.
  private func isOvertaken(_ index: Int) -> Bool {
    guard isHeldToReorder(index), let next = neighbour(after: index) else { return false }
    return all[next].type == all[index].type && all[next].isAwaited && all[next].receipts.isEmpty
  }

  /// Returns whether it is held for reordering. A message that overtakes another is not held.
  private func isHeldToReorder(_ index: Int) -> Bool {
    guard all[index].effects.contains("reorder") else { return false }
    let before = all[..<index].lastIndex { isBeside($0, index) }
    return before.map { !isWithinHold($0, index) || !isHeldToReorder($0) } ?? true
  }

  private func neighbour(after index: Int) -> Int? {
    all[(index + 1)...].firstIndex { isBeside($0, index) }.flatMap { isWithinHold(index, $0) ? $0 : nil }
  }

  private func isBeside(_ message: RunStory.Message, _ index: Int) -> Bool {
    !message.isUnsent && message.from == all[index].from && message.to == all[index].to
  }

  private func isWithinHold(_ first: Int, _ second: Int) -> Bool {
    all[second].sent - all[first].sent < Self.longestHold
  }

  /// The time that a message waits to be overtaken (``SignallingFault/Effect/reorder``).
  private static let longestHold = Interval.seconds(1)
}

extension RunStory.Message {
  /// The maximum time of undisturbed signalling, including a second for its receiver to register.
  private static let promptly = Interval.seconds(2)

  private var isTaken: Bool { effects.contains("drop") || effects.contains("blackhole") }
  private var isHeldBack: Bool { effects.contains("delay") || effects.contains("reorder") }

  /// Whether a message that arrives now may be this one.
  var isAwaited: Bool {
    !isUnsent && !isTaken && (receipts.isEmpty || (receipts.count == 1 && effects.contains("duplicate")))
  }

  /// Returns whether a fault may affect this message: it meets all its faults at one instant, each of them once.
  func mayMeet(_ effect: String, at time: Instant) -> Bool {
    !isUnsent && receipts.isEmpty && (faulted == nil || (faulted == time && !effects.contains(effect)))
  }

  /// Returns whether the arrival of one copy has its own place in a diagram.
  package func comesApart(_ receipt: Int) -> Bool {
    receipt > 0 || isHeldBack || receipts[receipt].time - sent > Self.promptly
  }

  package var isLate: Bool { receipts.first.map { isHeldBack || $0.time - sent > Self.promptly } ?? false }

  /// Returns whether the message was lost.
  ///
  /// - Parameter end: the end of the observed time; nil for a receiver whose arrivals are not reported.
  package func isLost(by end: Instant?) -> Bool {
    if isUnsent || isTaken { return true }
    guard receipts.isEmpty, let end else { return false }
    return !effects.isEmpty || end - sent > Self.promptly
  }
}
