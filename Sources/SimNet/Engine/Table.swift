/// A growing array that may hold non-copyable elements, addressed in place.
struct Table<Element: ~Copyable>: ~Copyable {
  private(set) var count = 0
  private var capacity = 0
  private var base: UnsafeMutablePointer<Element>

  init() { base = .allocate(capacity: 0) }

  deinit {
    base.deinitialize(count: count)
    base.deallocate()
  }

  /// - Returns: the new element's index.
  @discardableResult
  mutating func append(_ element: consuming Element) -> Int {
    if count == capacity { grow() }
    (base + count).initialize(to: element)
    count += 1
    return count - 1
  }

  subscript(_ index: Int) -> Element {
    @inline(__always) unsafeAddress { UnsafePointer(address(index)) }
    @inline(__always) unsafeMutableAddress { address(index) }
  }

  @inline(__always) private func address(_ index: Int) -> UnsafeMutablePointer<Element> {
    precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "index outside the table")
    return base + index
  }

  private mutating func grow() {
    capacity = max(8, capacity * 2)
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
  }
}
