import CallCore
import Testing

@testable import CongestionControl

@Suite struct RateAllocatorTests {
  private func stream(
    _ id: Int, _ minimum: Int64, _ maximum: Int64, priority: Double = 1, enforced: Bool = false
  ) -> RateAllocator.Stream {
    var stream = RateAllocator.Stream(
      id: id, minimum: .kilobitsPerSecond(minimum), maximum: .kilobitsPerSecond(maximum))
    stream.priority = priority
    stream.isMinimumEnforced = enforced
    return stream
  }

  private func makeAllocator(_ streams: [RateAllocator.Stream]) -> RateAllocator {
    var allocator = RateAllocator()
    for stream in streams { allocator.set(stream) }
    return allocator
  }

  private func rates(_ allocator: inout RateAllocator, at kilobits: Int64, of count: Int) -> [Double] {
    allocator.allocate(.kilobitsPerSecond(kilobits))
    return (0..<count).map { allocator.rate(of: $0).kilobits }
  }

  @Test func `minima come first, the rest is divided, and bursts get twice the maximum`() {
    var allocator = makeAllocator([stream(0, 100, 300), stream(1, 200, 300)])
    #expect(rates(&allocator, at: 300, of: 2) == [100, 200])
    #expect(rates(&allocator, at: 500, of: 2) == [200, 300])
    #expect(rates(&allocator, at: 700, of: 2) == [350, 350])
    #expect(rates(&allocator, at: 1_500, of: 2) == [600, 600])
    #expect(rates(&allocator, at: 0, of: 2) == [0, 0])
  }

  @Test func `a stream with twice the priority gets twice as much above its minimum`() {
    var allocator = makeAllocator([stream(0, 10, 1_000), stream(1, 10, 1_000, priority: 2)])
    #expect(rates(&allocator, at: 620, of: 2) == [210, 410])
    // Above its maximum, the rest goes to the other.
    #expect(rates(&allocator, at: 1_900, of: 2) == [900, 1_000])
  }

  @Test func `too little goes to enforced streams, then to those that are sent, then to paused ones`() {
    var allocator = makeAllocator([stream(0, 100, 400), stream(1, 200, 400), stream(2, 32, 32, enforced: true)])
    #expect(rates(&allocator, at: 10, of: 3) == [0, 0, 32])
    allocator = makeAllocator([stream(0, 100, 400), stream(1, 200, 400), stream(2, 32, 32, enforced: true)])
    #expect(rates(&allocator, at: 250, of: 3) == [218, 0, 32])
  }

  @Test func `too little for all goes to the greatest priority, whichever was sent`() {
    var allocator = makeAllocator([stream(0, 100, 400), stream(1, 100, 400)])
    #expect(rates(&allocator, at: 150, of: 2) == [150, 0])
    allocator.set(stream(1, 100, 400, priority: 2))
    #expect(rates(&allocator, at: 150, of: 2) == [0, 150])
  }

  @Test func `a paused stream resumes with a margin of a tenth and at least 20 kbit_s`() {
    var allocator = makeAllocator([stream(0, 100, 1_000), stream(1, 300, 1_000)])
    #expect(rates(&allocator, at: 399, of: 2)[1] == 0)
    #expect(rates(&allocator, at: 410, of: 2)[1] == 0)
    #expect(rates(&allocator, at: 429, of: 2)[1] == 0)
    #expect(rates(&allocator, at: 430, of: 2) == [100, 330])
    #expect(rates(&allocator, at: 405, of: 2)[1] > 300)
    // 20 kbit/s are more than a tenth of 100.
    allocator = makeAllocator([stream(0, 100, 1_000)])
    let single = [99, 119, 120, 101].map { rates(&allocator, at: $0, of: 1)[0] }
    #expect(single == [0, 0, 120, 101])
  }

  @Test func `a priority rate is served before the rest is divided`() {
    var audio = stream(0, 32, 32, enforced: true)
    audio.priorityRate = .kilobitsPerSecond(0)
    var screen = stream(1, 50, 1_000)
    screen.priorityRate = .kilobitsPerSecond(400)
    var allocator = makeAllocator([audio, screen, stream(2, 50, 1_000)])
    #expect(rates(&allocator, at: 532, of: 3) == [32, 425, 75])
    #expect(rates(&allocator, at: 300, of: 3) == [32, 218, 50])
  }

  /// The layers of VP8 at 720p (libwebrtc `simulcast.cc`).
  private func simulcast() -> RateAllocator.Stream {
    RateAllocator.Stream(
      id: 0,
      encodings: [(30, 150, 200), (150, 500, 700), (600, 2_500, 2_500)].map {
        RateAllocator.Encoding(
          minimum: .kilobitsPerSecond($0.0), target: .kilobitsPerSecond($0.1), maximum: .kilobitsPerSecond($0.2))
      })
  }

  private func layers(_ allocator: inout RateAllocator, at kilobits: Int64, stable: Int64? = nil) -> [Double] {
    allocator.allocate(.kilobitsPerSecond(kilobits), stable: stable.map { .kilobitsPerSecond($0) })
    return allocator.layers(of: 0).map(\.kilobits)
  }

  @Test func `layers are filled from the lowest up, and the highest gets the rest`() {
    for (rate, expected) in [
      (40, [40, 0, 0]), (250, [200, 0, 0]), (300, [150, 150, 0]), (800, [150, 650, 0]), (1_250, [150, 500, 600]),
      (4_000, [150, 500, 2_500]), (20, [0, 0, 0]),
    ] as [(Int64, [Double])] {
      var allocator = makeAllocator([simulcast()])
      #expect(layers(&allocator, at: rate) == expected)
    }
  }

  @Test func `a layer that was off needs a fifth more, and one that was on does not`() {
    var allocator = makeAllocator([simulcast()])
    #expect(layers(&allocator, at: 1_000) == [150, 700, 0])
    #expect(layers(&allocator, at: 1_369)[2] == 0)
    #expect(layers(&allocator, at: 1_370)[2] == 720)
    #expect(layers(&allocator, at: 1_250)[2] == 600)
    #expect(layers(&allocator, at: 1_249)[2] == 0)
    #expect(layers(&allocator, at: 1_500, stable: 1_300)[2] == 0)
  }

  @Test func `a layer that is not active gets nothing, and the others close up`() {
    var stream = simulcast()
    stream.encodings[0].isActive = false
    var allocator = makeAllocator([RateAllocator.Stream(id: 0, encodings: stream.encodings)])
    #expect(layers(&allocator, at: 400) == [0, 400, 0])
    #expect(layers(&allocator, at: 2_000) == [0, 500, 1_500])
  }

  @Test func `the limits sum up what the estimator must know`() {
    var allocator = makeAllocator([simulcast()])
    allocator.set(stream(1, 32, 32, enforced: true))
    allocator.allocate(.kilobitsPerSecond(1_000))
    #expect(allocator.limits.minimum == .kilobitsPerSecond(32))
    #expect(allocator.limits.maximum == .kilobitsPerSecond(150 + 500 + 2_500 + 32))
    #expect(allocator.limits.padding == .kilobitsPerSecond(150 + 500 + 720))
    var probed = simulcast()
    probed.padsToMinimum = true
    allocator.set(probed)
    #expect(allocator.limits.padding == .kilobitsPerSecond(30))
    allocator.remove(0)
    // A paused stream is padded up to the rate at which it resumes.
    allocator.set(stream(2, 100, 400))
    allocator.allocate(.kilobitsPerSecond(40))
    #expect(allocator.limits.padding == .kilobitsPerSecond(120))
  }

  @Test(arguments: 0..<50) func `no more is divided than there is, and each stream has its minimum or nothing`(
    seed: UInt64
  ) {
    var random = RandomSource(seed: seed).stream("allocator")
    var allocator = RateAllocator()
    var streams: [RateAllocator.Stream] = []
    for id in 0..<4 {
      let minimum = Int64(random.uniform(below: 300))
      var stream = stream(id, minimum, minimum + Int64(random.uniform(below: 2_000)), priority: 0.5 + random.unit())
      stream.priorityRate = min(.kilobitsPerSecond(Int64(random.uniform(below: 500))), stream.maximum)
      streams.append(stream)
      allocator.set(stream)
    }
    for _ in 0..<100 {
      let target = DataRate.kilobitsPerSecond(Int64(random.uniform(below: 6_000)))
      allocator.allocate(target)
      var total = DataRate.zero
      for stream in streams {
        let rate = allocator.rate(of: stream.id)
        #expect(rate == .zero || rate >= stream.minimum)
        #expect(rate <= stream.maximum + stream.maximum)
        total += rate
      }
      // Shares are rounded to whole bits.
      #expect(total <= target + .bitsPerSecond(4))
    }
  }
}
