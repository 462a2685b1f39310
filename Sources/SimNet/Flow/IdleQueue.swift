import CallCore

/// Slots in the order in which they fall idle.
///
/// All slots on one timer share its length, so each timer's list stays ordered by deadline if a refreshed slot moves to
/// the tail: refresh, removal and finding the next deadline are O(1).
struct IdleQueue {
  private struct Node: BitwiseCopyable {
    var previous: Int32 = -1
    var next: Int32 = -1
    var timer: UInt8 = .max
    var deadline = Instant.zero
  }

  private static let timerCount = 7
  private var nodes: [Node] = []
  private var heads = InlineArray<7, Int32>(repeating: -1)
  private var tails = InlineArray<7, Int32>(repeating: -1)

  func deadline(of slot: Int32) -> Instant { nodes[Int(slot)].deadline }

  /// Starts or restarts the timer of `slot`.
  mutating func place(_ slot: Int32, on timer: IdleTimer, deadline: Instant) {
    while nodes.count <= Int(slot) { nodes.append(Node()) }
    let list = Int(timer.rawValue)
    if nodes[Int(slot)].timer == timer.rawValue, tails[list] == slot {
      nodes[Int(slot)].deadline = deadline
      return
    }
    remove(slot)
    let last = tails[list]
    nodes[Int(slot)] = Node(previous: last, next: -1, timer: timer.rawValue, deadline: deadline)
    if last >= 0 { nodes[Int(last)].next = slot } else { heads[list] = slot }
    tails[list] = slot
  }

  /// Moves every deadline of a timer after a change of its length.
  ///
  /// - Returns: the number of moved deadlines.
  mutating func move(_ timer: IdleTimer, by difference: Interval) -> Int {
    guard difference != .zero else { return 0 }
    var slot = heads[Int(timer.rawValue)]
    var count = 0
    while slot >= 0 {
      nodes[Int(slot)].deadline += difference
      count += 1
      slot = nodes[Int(slot)].next
    }
    return count
  }

  mutating func remove(_ slot: Int32) {
    let node = nodes[Int(slot)]
    guard node.timer != .max else { return }
    let list = Int(node.timer)
    if node.previous >= 0 { nodes[Int(node.previous)].next = node.next } else { heads[list] = node.next }
    if node.next >= 0 { nodes[Int(node.next)].previous = node.previous } else { tails[list] = node.previous }
    nodes[Int(slot)] = Node()
  }

  /// The slot that falls idle first, or nil when no timer runs.
  var first: Int32? {
    var best: Int32 = -1
    for list in 0..<Self.timerCount where heads[list] >= 0 {
      if best < 0 || nodes[Int(heads[list])].deadline < nodes[Int(best)].deadline { best = heads[list] }
    }
    return best < 0 ? nil : best
  }
}
