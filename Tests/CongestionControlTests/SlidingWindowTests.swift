import Testing

@testable import CongestionControl

@Suite struct SlidingWindowTests {
  @Test func `it holds the latest elements in order, whatever is added and removed`() {
    var window = SlidingWindow<Int>(capacity: 5)
    var model: [Int] = []
    for step in 0..<2_000 {
      switch (step * 7 + step / 11) % 10 {
      case 0 where !model.isEmpty:
        window.removeFirst()
        model.removeFirst()
      case 1 where !model.isEmpty:
        window.removeLast()
        model.removeLast()
      case 2 where step % 97 == 2:
        window.removeAll()
        model.removeAll()
      default:
        window.append(step)
        model.append(step)
        if model.count > 5 { model.removeFirst() }
      }
      #expect((0..<window.count).map { window[$0] } == model)
      #expect(window.first == model.first && window.last == model.last && window.isFull == (model.count == 5))
    }
  }
}
