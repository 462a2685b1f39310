import CallCore
import Testing

@Suite struct FIFOTests {
  @Test func `elements leave in the order they came, however fills and drains mix`() {
    var queue = FIFO<Int>()
    var random = RandomStream(seed: 4)
    var (next, expected) = (0, 0)
    for _ in 0..<10_000 {
      if random.chance(0.55) {
        queue.append(next)
        next += 1
      } else if let element = queue.popFirst() {
        #expect(element == expected)
        expected += 1
      }
      #expect(queue.count == next - expected)
    }
  }
}
