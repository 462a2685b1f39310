/// A first-in, first-out queue over one array that it keeps using, so that steady traffic allocates nothing.
///
/// - Complexity: appending and taking are O(1), amortised.
public struct FIFO<Element> {
  @usableFromInline var storage: [Element] = []
  @usableFromInline var head = 0

  @inlinable public init() {}

  @inlinable public var isEmpty: Bool { head == storage.count }
  @inlinable public var count: Int { storage.count - head }
  @inlinable public var first: Element? { head < storage.count ? storage[head] : nil }

  @inlinable public mutating func append(_ element: Element) { storage.append(element) }

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

  @inlinable public mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    head = 0
  }
}

extension FIFO: Sendable where Element: Sendable {}
