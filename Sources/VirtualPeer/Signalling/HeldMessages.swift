internal import CallCore
internal import Vocabulary

/// The messages that delaying faults hold, and what they have released.
struct HeldMessages {
  private struct Fault {
    var held: [(number: Int, message: SignallingMessage, until: Instant)] = []
    var releasedCount = 0
    var released: Set<MessageContent> = []
  }

  private var faults: [SignallingFaults.ID: Fault] = [:]
  private var count = 0

  /// Notes that a fault holds a message.
  ///
  /// - Returns: a number for ``letGo(_:heldBy:)``.
  mutating func keep(_ message: SignallingMessage, heldBy id: SignallingFaults.ID, until: Instant) -> Int {
    count += 1
    faults[id, default: Fault()].held.append((count, message, until))
    return count
  }

  mutating func letGo(_ number: Int, heldBy id: SignallingFaults.ID) {
    guard let index = faults[id]?.held.firstIndex(where: { $0.number == number }) else { return }
    let message = faults[id]?.held.remove(at: index).message
    faults[id]?.releasedCount += 1
    if let content = message?.content { faults[id]?.released.insert(content) }
  }

  /// Returns a message that a fault still holds, and none like which it has released. Transport frames, such as pings,
  /// come without end: one of them is enough.
  func held(by id: SignallingFaults.ID) -> (message: SignallingMessage, until: Instant)? {
    guard let fault = faults[id] else { return nil }
    let held = fault.held.first { one in
      fault.releasedCount == 0 || one.message.content.map { !fault.released.contains($0) } ?? false
    }
    return held.map { ($0.message, $0.until) }
  }

  /// Returns the time at which the last of what a fault holds is released; nil if ``held(by:)`` is.
  func heldUntil(by id: SignallingFaults.ID) -> Instant? {
    held(by: id) == nil ? nil : faults[id]?.held.map(\.until).max()
  }
}
