internal import CallCore
internal import Vocabulary

/// The messages that faults hold, and what they have released.
struct HeldMessages {
  struct Hold {
    /// The message as it came to the server.
    let message: SignallingMessage
    /// The time at which it came to the server.
    let since: Instant
    let until: Instant
    /// The time for which the faults that it has met may hold it afterwards.
    let further: Interval
    /// The first fault that it has not met.
    let nextFault: SignallingFaults.ID
  }

  private struct Fault {
    var held: [(number: Int, hold: Hold)] = []
    var releasedCount = 0
    var released: Set<MessageContent> = []
  }

  private var faults: [SignallingFaults.ID: Fault] = [:]
  private var count = 0

  /// Notes that a fault holds a message.
  ///
  /// - Returns: a number for ``letGo(_:heldBy:)``.
  mutating func keep(_ hold: Hold, heldBy id: SignallingFaults.ID) -> Int {
    count += 1
    faults[id, default: Fault()].held.append((count, hold))
    return count
  }

  mutating func letGo(_ number: Int, heldBy id: SignallingFaults.ID) {
    guard let index = faults[id]?.held.firstIndex(where: { $0.number == number }) else { return }
    let message = faults[id]?.held.remove(at: index).hold.message
    faults[id]?.releasedCount += 1
    if let content = message?.content { faults[id]?.released.insert(content) }
  }

  /// Returns a message that a fault still holds, and none like which it has released. Transport frames, such as pings,
  /// come without end: one of them is enough.
  ///
  /// - Parameter limit: what is held from then on does not count; nil to count all.
  func held(
    by id: SignallingFaults.ID, before limit: Instant? = nil
  ) -> (message: SignallingMessage, until: Instant)? {
    guard let fault = faults[id] else { return nil }
    let held = fault.held.first { _, hold in
      if let limit, hold.since >= limit { return false }
      return fault.releasedCount == 0 || hold.message.content.map { !fault.released.contains($0) } ?? false
    }
    return held.map { ($0.hold.message, $0.hold.until) }
  }

  /// Returns the latest time at which the last of what a fault holds leaves; nil if it holds nothing, or only transport
  /// frames and has released some.
  ///
  /// - Parameter added: the time for which the faults that a message has not met may hold it.
  func latest(
    heldBy id: SignallingFaults.ID, _ added: (SignallingMessage, _ nextFault: SignallingFaults.ID) -> Interval
  ) -> Instant? {
    guard let fault = faults[id] else { return nil }
    let awaited = fault.held.filter { fault.releasedCount == 0 || $0.hold.message.content != nil }
    return awaited.map { $0.hold.until + $0.hold.further + added($0.hold.message, $0.hold.nextFault) }.max()
  }
}
