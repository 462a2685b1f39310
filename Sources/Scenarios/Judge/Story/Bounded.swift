/// A list that keeps its beginning and its end, and counts the elements left out between.
public struct Bounded<Element: Hashable & Sendable>: Hashable, Sendable {
  private var head: [Element] = []
  /// A ring once it is full: the oldest is at ``oldest``.
  private var tail: [Element] = []
  private var oldest = 0
  private var limit: Int
  /// The number of elements left out.
  public private(set) var omitted = 0

  /// Makes an empty list that keeps at most `limit` elements.
  public init(limit: Int) { self.limit = limit }

  init(_ elements: [Element], omitted: Int, limit: Int) {
    self.init(limit: limit)
    for element in elements { append(element) }
    self.omitted += omitted
  }

  /// Appends an element; a full list drops the oldest element of its end.
  public mutating func append(_ element: Element) {
    if head.count < limit / 2 {
      head.append(element)
    } else if tail.count < limit - limit / 2 {
      tail.append(element)
    } else {
      tail[oldest] = element
      oldest = (oldest + 1) % tail.count
      omitted += 1
    }
  }

  /// The kept elements, in order.
  public var elements: [Element] { head + tail[oldest...] + tail[..<oldest] }

  /// Whether no element was ever appended.
  public var isEmpty: Bool { head.isEmpty && tail.isEmpty }

  /// The number of elements, including those left out.
  public var total: Int { head.count + tail.count + omitted }

  /// The newest element.
  public var last: Element? { tail.isEmpty ? head.last : tail[(oldest + tail.count - 1) % tail.count] }

  /// Changes the newest element.
  mutating func changeLast(_ change: (inout Element) -> Void) {
    if !tail.isEmpty {
      change(&tail[(oldest + tail.count - 1) % tail.count])
    } else if !head.isEmpty {
      change(&head[head.count - 1])
    }
  }

  mutating func limit(to count: Int) {
    guard count < limit else { return }
    self = Bounded(elements, omitted: omitted, limit: count)
  }

  // The start of the ring does not matter for equality.
  public static func == (a: Bounded, b: Bounded) -> Bool { a.omitted == b.omitted && a.elements == b.elements }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(omitted)
    hasher.combine(elements)
  }
}
