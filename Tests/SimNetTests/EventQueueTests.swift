import CallCore
import Testing

@testable import SimNet

@Suite struct EventQueueTests {
  @Test func `events come out by time and then by order of insertion`() {
    var queue = EventQueue()
    var random = RandomSource(seed: 7).stream("queue")
    for number in 1...5_000 as ClosedRange<UInt64> {
      let time = Instant(nanoseconds: Int64(random.uniform(below: 300)))
      queue.push(Event(time: time, number: number, index: 0, kind: .timer))
    }
    var last = Event(time: .zero, number: 0, index: 0, kind: .timer)
    var count = 0
    while let event = queue.pop() {
      let inOrder = Event.precedes(last, event)
      #expect(inOrder)
      last = event
      count += 1
    }
    #expect(count == 5_000)
  }

  @Test func `an event stays small`() {
    #expect(MemoryLayout<Event>.stride == 24)
  }
}
