internal import CallCore

/// The expiry times of the slots, earliest first: a binary heap that stores the position of each slot, so that a change
/// takes logarithmic time.
struct ExpiryQueue {
  private struct Entry {
    var time: Instant
    let slot: Int

    /// Orders equal times by slot, so that the order is deterministic.
    static func < (a: Entry, b: Entry) -> Bool { (a.time, a.slot) < (b.time, b.slot) }
  }

  private var heap: [Entry] = []
  /// The position of each slot in `heap`; nil for one that does not expire.
  private var positions: [Int?] = []

  /// The next slot to expire.
  var first: (time: Instant, slot: Int)? { heap.first.map { ($0.time, $0.slot) } }

  /// Sets the expiry time of a slot.
  mutating func set(_ time: Instant, for slot: Int) {
    while positions.count <= slot { positions.append(nil) }
    if let position = positions[slot] {
      heap[position].time = time
      settle(position)
    } else {
      heap.append(Entry(time: time, slot: slot))
      positions[slot] = heap.count - 1
      settle(heap.count - 1)
    }
  }

  mutating func remove(_ slot: Int) {
    guard positions.indices.contains(slot), let position = positions[slot] else { return }
    positions[slot] = nil
    let last = heap.removeLast()
    guard position < heap.count else { return }
    heap[position] = last
    positions[last.slot] = position
    settle(position)
  }

  mutating func removeAll() {
    heap.removeAll()
    positions.removeAll()
  }

  /// Moves an entry up or down to its position.
  private mutating func settle(_ start: Int) {
    var position = start
    while position > 0, heap[position] < heap[(position - 1) / 2] {
      swap(position, (position - 1) / 2)
      position = (position - 1) / 2
    }
    while true {
      var least = 2 * position + 1
      if least + 1 < heap.count, heap[least + 1] < heap[least] { least += 1 }
      guard least < heap.count, heap[least] < heap[position] else { return }
      swap(position, least)
      position = least
    }
  }

  private mutating func swap(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    positions[heap[a].slot] = a
    positions[heap[b].slot] = b
  }
}
