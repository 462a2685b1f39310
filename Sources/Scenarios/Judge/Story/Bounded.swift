/// A list that keeps its beginning and its end, and counts what it leaves out between.
public struct Bounded<Element: Hashable & Sendable>: Hashable, Sendable {
  private var head: [Element] = []
  /// A ring once it is full: the oldest is at ``oldest``.
  private var tail: [Element] = []
  private var oldest = 0
  private var limit: Int
  /// How many were left out.
  public private(set) var omitted = 0

  public init(limit: Int) { self.limit = limit }

  init(_ elements: [Element], omitted: Int, limit: Int) {
    self.init(limit: limit)
    for element in elements { append(element) }
    self.omitted += omitted
  }

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

  /// What is kept, in order.
  public var elements: [Element] { head + tail[oldest...] + tail[..<oldest] }

  public var isEmpty: Bool { head.isEmpty && tail.isEmpty }

  /// How many there were.
  public var total: Int { head.count + tail.count + omitted }

  public var last: Element? { tail.isEmpty ? head.last : tail[(oldest + tail.count - 1) % tail.count] }

  /// Changes the newest that is kept.
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

  // Where the ring begins is nobody's business.
  public static func == (a: Bounded, b: Bounded) -> Bool { a.omitted == b.omitted && a.elements == b.elements }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(omitted)
    hasher.combine(elements)
  }
}
