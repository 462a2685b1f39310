import CallCore
import Testing

@testable import PeerSession

@Suite struct RenumberingTests {
  @Test func `numbers without omissions stay as they are`() {
    let numbers = Renumbering()
    #expect([-3, 0, 70_000].map { numbers($0) } == [-3, 0, 70_000])
  }

  @Test func `numbers after an omitted one move down, and those before it do not`() {
    var numbers = Renumbering()
    numbers.omit(5)
    numbers.omit(5)
    numbers.omit(7)
    #expect([3, 4, 6, 8, 9].map { numbers($0) } == [3, 4, 5, 6, 7])
    #expect(numbers.isOmitted(5) && !numbers.isOmitted(6))
  }

  @Test func `those that remain have no gap and no two the same place, whatever is omitted`() {
    var random = RandomSource(seed: 3).stream("renumbering")
    var numbers = Renumbering()
    var expected: Int64 = 0
    for number in Int64(0)..<20_000 {
      if random.uniform(below: 3) == 0 {
        numbers.omit(number)
      } else {
        #expect(numbers(number) == expected)
        expected += 1
      }
    }
  }

  @Test func `a late number finds its place as long as it may come`() {
    var numbers = Renumbering()
    for number in Int64(0)..<5_000 where number % 2 == 0 { numbers.omit(number) }
    #expect(numbers(4_999) == 2_499)
    #expect(numbers(3_977) == 1_988)
  }
}
