/// A first-in, first-out queue over one array; taking is O(1), amortised.
struct Fifo<Element> {
  private var storage: [Element] = []
  private var start = 0

  var isEmpty: Bool { start == storage.count }
  var first: Element? { start < storage.count ? storage[start] : nil }

  mutating func append(_ element: Element) { storage.append(element) }

  mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    start += 1
    if start == storage.count {
      removeAll()
    } else if start >= 32, start * 2 >= storage.count {
      storage.removeFirst(start)
      start = 0
    }
    return element
  }

  mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    start = 0
  }
}
