internal import CallCore

/// When each slot expires, the earliest first: a binary heap that knows where each slot stands, so that a change costs
/// the logarithm of how many there are.
struct ExpiryQueue {
  private struct Entry {
    var time: Instant
    let slot: Int

    /// Equal times go by slot, so that the order is always the same.
    static func < (a: Entry, b: Entry) -> Bool { (a.time, a.slot) < (b.time, b.slot) }
  }

  private var heap: [Entry] = []
  /// Where each slot stands in `heap`; nil for one that does not expire.
  private var positions: [Int?] = []

  /// What expires next.
  var first: (time: Instant, slot: Int)? { heap.first.map { ($0.time, $0.slot) } }

  /// Sets when a slot expires.
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

  /// Moves an entry up or down to where it belongs.
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
