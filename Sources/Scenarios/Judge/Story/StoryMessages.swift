package import CallCore

/// The messages of a run, in the order of their sending, as they are sent, met by faults and received.
///
/// The trace does not say which message it is that comes: it is the first of its type on the way from its sender, but
/// for those that faults hold back.
struct StoryMessages {
  static let limit = 2_000

  /// How long each fault that delays may hold a message, by the type it is for; nil is for all types.
  struct Delay {
    let type: String?
    let by: Interval
  }

  private(set) var all: [RunStory.Message] = []
  private(set) var omitted = 0
  /// Those that may yet come.
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

  /// A fault at the signalling server has met a message. It calls users by their ids, which need not be names of peers.
  mutating func faulted(_ effect: String, type: String, user: String, at time: Instant) {
    let met = awaited.filter { all[$0].type == type && all[$0].mayMeet(effect, at: time) }
    // What it meets now is what it has met already, and else what is next.
    let ordered = met.filter { all[$0].faulted == time } + met.filter { all[$0].faulted == nil }
    guard let index = ordered.first(where: { all[$0].from == user }) ?? (senders.contains(user) ? nil : ordered.first)
    else { return }
    all[index].effects.append(effect)
    all[index].faulted = time
    if !all[index].isAwaited { awaited.removeAll { $0 == index } }
  }

  /// A peer has a message of another. Nothing is noted when nobody was seen to send it.
  mutating func received(type: String, by receiver: String, from sender: String, at time: Instant, order: Int) {
    let sent = awaited.filter { all[$0].type == type && all[$0].from == sender }
    // Several peers may have one user id.
    let mine = sent.filter { all[$0].to == receiver }
    guard let index = next(of: mine.isEmpty ? sent : mine, at: time) else { return }
    all[index].receipts.append(.init(order: order, time: time))
    if !all[index].isAwaited { awaited.removeAll { $0 == index } }
  }

  /// Of messages that are on the way, the one that comes now.
  private func next(of candidates: [Int], at time: Instant) -> Int? {
    candidates.first { !isHeld($0, at: time) && !isOvertaken($0) } ?? candidates.first
  }

  /// Whether a fault that delays still has it.
  private func isHeld(_ index: Int, at time: Instant) -> Bool {
    let message = all[index]
    guard message.effects.contains("delay"), let faulted = message.faulted else { return false }
    let shortest = delays.filter { $0.type == nil || $0.type == message.type }.map(\.by).min() ?? .zero
    return time < faulted + shortest
  }

  /// Whether it was held back to change places with the next, of the same type, which has not come yet.
  private func isOvertaken(_ index: Int) -> Bool {
    guard isHeldToReorder(index), let next = neighbour(after: index) else { return false }
    return all[next].type == all[index].type && all[next].isAwaited && all[next].receipts.isEmpty
  }

  /// One that overtakes another is not held in its turn.
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

  /// How long a message waits to be overtaken (``SignallingFault/Effect/reorder``).
  private static let longestHold = Interval.seconds(1)
}

extension RunStory.Message {
  /// Signalling that nothing holds up takes no longer, a second for its receiver to register included.
  private static let promptly = Interval.seconds(2)

  private var isTaken: Bool { effects.contains("drop") || effects.contains("blackhole") }
  private var isHeldBack: Bool { effects.contains("delay") || effects.contains("reorder") }

  /// Whether one that comes now may be this one.
  var isAwaited: Bool {
    !isUnsent && !isTaken && (receipts.isEmpty || (receipts.count == 1 && effects.contains("duplicate")))
  }

  /// Whether a fault may be about this one: a message meets its faults at one instant, each of them once.
  func mayMeet(_ effect: String, at time: Instant) -> Bool {
    !isUnsent && receipts.isEmpty && (faulted == nil || (faulted == time && !effects.contains(effect)))
  }

  /// Whether the coming of one copy has a place of its own in a diagram.
  package func comesApart(_ receipt: Int) -> Bool {
    receipt > 0 || isHeldBack || receipts[receipt].time - sent > Self.promptly
  }

  package var isLate: Bool { receipts.first.map { isHeldBack || $0.time - sent > Self.promptly } ?? false }

  /// - Parameter end: until when the run was watched; nil for a receiver of whom nobody says what it receives.
  package func isLost(by end: Instant?) -> Bool {
    if isUnsent || isTaken { return true }
    guard receipts.isEmpty, let end else { return false }
    return !effects.isEmpty || end - sent > Self.promptly
  }
}
