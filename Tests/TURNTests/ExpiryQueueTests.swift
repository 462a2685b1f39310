import CallCore
import Testing

@testable import TURN

@Suite struct ExpiryQueueTests {
  @Test(arguments: 1...20)
  func `the first is always the earliest of those that are set, however they were set, changed and removed`(
    seed: UInt64
  ) {
    var random = RandomStream(seed: seed)
    var queue = ExpiryQueue()
    var reference: [Int: Instant] = [:]
    for _ in 0..<2_000 {
      let slot = Int(random.uniform(below: 50))
      if random.chance(0.3) {
        queue.remove(slot)
        reference[slot] = nil
      } else {
        let time = Instant.zero + .seconds(Int64(random.uniform(below: 40)))
        queue.set(time, for: slot)
        reference[slot] = time
      }
      let earliest = reference.map { ($0.value, $0.key) }.min { $0 < $1 }
      #expect(queue.first?.time == earliest?.0 && queue.first?.slot == earliest?.1)
    }
  }
}
