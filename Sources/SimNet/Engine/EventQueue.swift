internal import CallCore

/// A priority queue of events in order (time, number): a 4-ary heap, whose four children share two cache lines.
struct EventQueue: ~Copyable {
  private var storage: UnsafeMutablePointer<Event>
  private var capacity = 256
  private var count = 0

  init() { storage = .allocate(capacity: capacity) }

  deinit { storage.deallocate() }

  /// The next event, left in place.
  var first: Event? { count == 0 ? nil : storage[0] }

  /// - Complexity: O(log n), and O(1) for an event later than most.
  mutating func push(_ event: Event) {
    if count == capacity { grow() }
    count += 1
    siftUp(event, from: count - 1)
  }

  /// - Complexity: O(log n).
  mutating func pop() -> Event? {
    guard count > 0 else { return nil }
    let top = storage[0]
    count -= 1
    if count > 0 { siftDown(storage[count]) }
    return top
  }

  private func siftUp(_ event: Event, from start: Int) {
    var hole = start
    while hole > 0 {
      let parent = (hole - 1) >> 2
      guard Event.precedes(event, storage[parent]) else { break }
      storage[hole] = storage[parent]
      hole = parent
    }
    storage[hole] = event
  }

  /// Moves the hole at the root down to a leaf along the smallest children, then lets `event` rise from there: the last
  /// event nearly always belongs near the leaves, so comparing it on the way down is wasted.
  private func siftDown(_ event: Event) {
    var hole = 0
    while true {
      let child = hole << 2 + 1
      guard child < count else { break }
      var least = child
      if child + 3 < count {
        let left = Event.precedes(storage[child + 1], storage[child]) ? child + 1 : child
        let right = Event.precedes(storage[child + 3], storage[child + 2]) ? child + 3 : child + 2
        least = Event.precedes(storage[right], storage[left]) ? right : left
      } else {
        for sibling in child + 1..<max(child + 1, count) where Event.precedes(storage[sibling], storage[least]) {
          least = sibling
        }
      }
      storage[hole] = storage[least]
      hole = least
    }
    siftUp(event, from: hole)
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Event>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: storage, count: count)
    storage.deallocate()
    storage = larger
    capacity *= 2
  }
}
