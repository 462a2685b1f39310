/// A first-in, first-out queue over one reused array, so that steady traffic allocates nothing.
///
/// - Complexity: appending and removing are O(1), amortised.
public struct FIFO<Element> {
  @usableFromInline var storage: [Element] = []
  @usableFromInline var head = 0

  /// Makes an empty queue.
  @inlinable public init() {}

  /// Whether the queue holds no element.
  @inlinable public var isEmpty: Bool { head == storage.count }
  /// The number of elements.
  @inlinable public var count: Int { storage.count - head }
  /// The oldest element, or nil when the queue is empty.
  @inlinable public var first: Element? { head < storage.count ? storage[head] : nil }

  /// Adds an element behind all others.
  @inlinable public mutating func append(_ element: Element) { storage.append(element) }

  /// Removes and returns the oldest element, or returns nil when the queue is empty.
  @inlinable public mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    head += 1
    if head == storage.count {
      removeAll()
    } else if head >= 32, head * 2 >= storage.count {
      storage.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Removes every element and keeps the memory.
  @inlinable public mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    head = 0
  }
}

extension FIFO: Sendable where Element: Sendable {}
