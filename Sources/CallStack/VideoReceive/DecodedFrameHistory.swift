/// Which of the last frames were decoded, a bit for each number.
struct DecodedFrameHistory: Sendable {
  private var words: [UInt64]
  private(set) var last: (id: Int64, timestamp: UInt32)?

  /// - Parameter capacity: the number of frame numbers, rounded up to a multiple of 64.
  init(capacity: Int) { words = Array(repeating: 0, count: max(1, (capacity + 63) / 64)) }

  private var capacity: Int64 { Int64(words.count * 64) }

  private func place(_ id: Int64) -> (word: Int, bit: UInt64) {
    let index = Int(((id % capacity) + capacity) % capacity)
    return (index / 64, 1 << UInt64(index % 64))
  }

  /// Records a frame. Frames come in rising order.
  mutating func insert(_ id: Int64, timestamp: UInt32) {
    if let last {
      guard id > last.id else { return }
      if id - last.id >= capacity {
        for index in words.indices { words[index] = 0 }
      } else {
        for skipped in last.id + 1..<id {
          let place = place(skipped)
          words[place.word] &= ~place.bit
        }
      }
    }
    let place = place(id)
    words[place.word] |= place.bit
    last = (id, timestamp)
  }

  /// Returns whether a frame was decoded and is young enough to be remembered.
  func contains(_ id: Int64) -> Bool {
    guard let last, id <= last.id, last.id - id < capacity else { return false }
    let place = place(id)
    return words[place.word] & place.bit != 0
  }

  mutating func removeAll() {
    for index in words.indices { words[index] = 0 }
    last = nil
  }
}
