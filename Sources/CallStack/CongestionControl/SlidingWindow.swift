/// The latest elements of a series in order, in memory that is allocated once.
struct SlidingWindow<Element> {
  let capacity: Int
  private var storage: [Element] = []
  private var head = 0
  private(set) var count = 0

  /// - Parameter capacity: the maximum number of elements; one more removes the oldest.
  init(capacity: Int) { self.capacity = capacity }

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count == capacity }
  var first: Element? { count == 0 ? nil : self[0] }
  var last: Element? { count == 0 ? nil : self[count - 1] }

  /// The element at an index, counted from the oldest.
  subscript(index: Int) -> Element {
    get { storage[place(index)] }
    set { storage[place(index)] = newValue }
  }

  mutating func append(_ element: Element) {
    if isFull { removeFirst() }
    let place = place(count)
    if place == storage.count { storage.append(element) } else { storage[place] = element }
    count += 1
  }

  mutating func swapAt(_ a: Int, _ b: Int) { storage.swapAt(place(a), place(b)) }

  mutating func removeFirst() {
    head = head + 1 == capacity ? 0 : head + 1
    count -= 1
  }

  mutating func removeLast() { count -= 1 }

  mutating func removeAll() { (head, count) = (0, 0) }

  private func place(_ index: Int) -> Int {
    precondition(index < capacity, "an index beyond the window")
    return head + index < capacity ? head + index : head + index - capacity
  }
}

extension SlidingWindow: Sendable where Element: Sendable {}
