import CallCore
import RTP
import Testing

@Suite struct PayloadSplitTests {
  func sizes(_ byteCount: Int, _ limits: PayloadLimits) -> [Int]? {
    guard var split = PayloadSplit(byteCount: byteCount, limits: limits) else { return nil }
    var result: [Int] = []
    while let size = split.next() { result.append(size) }
    return result.count == split.count ? result : nil
  }

  // The cases of libwebrtc's rtp_format_unittest.
  @Test func `parts are of about equal size, and the last are the larger`() {
    #expect(sizes(13, PayloadLimits(maximum: 5, lastReduction: 2)) == [5, 5, 3])
    #expect(sizes(13, PayloadLimits(maximum: 5, firstReduction: 2)) == [3, 5, 5])
    #expect(sizes(13, PayloadLimits(maximum: 5)) == [4, 4, 5])
    #expect(sizes(20, PayloadLimits(maximum: 20, singleReduction: 1)) == [10, 10])
    #expect(sizes(20, PayloadLimits(maximum: 20, singleReduction: 0)) == [20])
  }

  @Test func `a room that holds no byte is refused`() {
    #expect(sizes(20, PayloadLimits(maximum: 4, firstReduction: 4)) == nil)
    #expect(sizes(20, PayloadLimits(maximum: 4, lastReduction: 4)) == nil)
    #expect(sizes(0, PayloadLimits(maximum: 4)) == nil)
    #expect(sizes(1, PayloadLimits(maximum: 3, firstReduction: 2, lastReduction: 2)) == nil)
    #expect(sizes(20, PayloadLimits(maximum: -7)) == nil)
  }

  @Test func `parts fit their packets, fill the frame and differ by one byte`() {
    var random = RandomSource(seed: 7).stream("split")
    for _ in 0..<5_000 {
      let count = Int(random.uniform(in: 1...3_000))
      let limits = PayloadLimits(
        maximum: Int(random.uniform(in: 1...300)), firstReduction: Int(random.uniform(in: 0...40)),
        lastReduction: Int(random.uniform(in: 0...40)))
      guard let parts = sizes(count, limits) else { continue }
      var isRight = parts.reduce(0, +) == count && parts.allSatisfy { $0 >= 1 }
      if parts.count == 1 {
        isRight = isRight && count <= limits.maximum - limits.singleReduction
      } else {
        isRight = isRight && parts[0] <= limits.maximum - limits.firstReduction
        isRight = isRight && parts[parts.count - 1] <= limits.maximum - limits.lastReduction
        isRight = isRight && parts.allSatisfy { $0 <= limits.maximum }
        let inner = parts.dropFirst().dropLast()
        // With less room than this the first packet may be down to one byte, and the others share its rest.
        if limits.maximum >= 100 { isRight = isRight && (inner.max() ?? 0) - (inner.min() ?? 0) <= 1 }
      }
      if !isRight { Issue.record("\(count) bytes within \(limits) are cut into \(parts)") }
    }
  }
}
