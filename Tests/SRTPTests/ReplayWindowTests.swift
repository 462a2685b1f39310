import CallCore
import Testing

@testable import SRTP

@Suite struct ReplayWindowTests {
  /// Indices that go on, come late, come twice and leave gaps, by a fixed seed.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the window knows what a list of all indices knows`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("indices")
    var window = ReplayWindow()
    var seen: Set<UInt64> = []
    var highest: UInt64 = 0
    for _ in 0..<5_000 {
      let index: UInt64 =
        switch random.uniform(below: 20) {
        case 0: highest + 900 + random.uniform(below: 2_100)
        case 1...6: highest - min(highest, random.uniform(below: 1_200))
        default: highest + 1
        }
      let expected: ReplayWindow.Verdict =
        !seen.isEmpty && highest >= index && highest - index >= UInt64(ReplayWindow.size)
        ? .tooOld : seen.contains(index) ? .repeated : .new
      #expect(window.verdict(on: index) == expected)
      guard expected != .tooOld else { continue }
      window.note(index)
      seen.insert(index)
      highest = max(highest, index)
    }
  }
}
