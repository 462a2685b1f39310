/// A small set of numbers in rising order, of which the lowest are dropped when there are too many.
struct SortedSet: Sendable {
  private(set) var elements: [Int64] = []
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Returns the index of the first element that is not below `value`.
  private func lowerBound(_ value: Int64) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ value: Int64) {
    let place = lowerBound(value)
    guard place == elements.count || elements[place] != value else { return }
    elements.insert(value, at: place)
    if elements.count > capacity { elements.removeFirst() }
  }

  /// Returns whether the value was there.
  @discardableResult
  mutating func remove(_ value: Int64) -> Bool {
    let place = lowerBound(value)
    guard place < elements.count, elements[place] == value else { return false }
    elements.remove(at: place)
    return true
  }

  mutating func removeAll(below value: Int64) { elements.removeFirst(lowerBound(value)) }

  mutating func removeAll() { elements.removeAll(keepingCapacity: true) }

  /// Returns whether an element lies above `lower` and below `upper`.
  func contains(above lower: Int64, below upper: Int64) -> Bool {
    let place = lowerBound(lower + 1)
    return place < elements.count && elements[place] < upper
  }
}
