/// A small set of numbers in rising order, of which the lowest are dropped when there are too many.
package struct SortedSet: Sendable {
  private(set) var elements: [Int64] = []
  private let capacity: Int

  package init(capacity: Int) { self.capacity = capacity }

  /// Returns the number of elements below `value`, which is the index of the first that is not.
  package func count(below value: Int64) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  package mutating func insert(_ value: Int64) {
    let place = count(below: value)
    guard place == elements.count || elements[place] != value else { return }
    elements.insert(value, at: place)
    if elements.count > capacity { elements.removeFirst() }
  }

  /// Returns whether the value was there.
  @discardableResult
  mutating func remove(_ value: Int64) -> Bool {
    let place = count(below: value)
    guard place < elements.count, elements[place] == value else { return false }
    elements.remove(at: place)
    return true
  }

  package mutating func removeAll(below value: Int64) { elements.removeFirst(count(below: value)) }

  mutating func removeAll() { elements.removeAll(keepingCapacity: true) }

  /// Returns whether an element lies above `lower` and below `upper`.
  package func contains(above lower: Int64, below upper: Int64) -> Bool {
    let place = count(below: lower + 1)
    return place < elements.count && elements[place] < upper
  }
}
