import CallCore
import Testing

@Suite struct RandomStreamTests {
  @Test func `the same seed and name give the same draws`() {
    var first = RandomSource(seed: 7).stream("link/wan/loss")
    var second = RandomSource(seed: 7).stream("link/wan/loss")
    for _ in 0..<100 {
      let (a, b) = (first.next(), second.next())
      #expect(a == b)
    }
  }

  @Test func `a scoped source draws what its full names draw`() {
    var scoped = RandomSource(seed: 7).scoped("peer").scoped("alice").stream("ice")
    var spelledOut = RandomSource(seed: 7).stream("peer/alice/ice")
    let (a, b) = (scoped.next(), spelledOut.next())
    #expect(a == b)
  }

  @Test func `another name or seed gives other draws`() {
    var loss = RandomSource(seed: 7).stream("link/wan/loss")
    var jitter = RandomSource(seed: 7).stream("link/wan/jitter")
    var other = RandomSource(seed: 8).stream("link/wan/loss")
    let draws = [loss.next(), jitter.next(), other.next()]
    #expect(Set(draws).count == 3)
  }

  @Test func `uniform draws fall evenly into their range`() {
    var stream = RandomStream(seed: 1)
    var counts = Array(repeating: 0, count: 10)
    for _ in 0..<100_000 { counts[Int(stream.uniform(below: 10))] += 1 }
    // Five standard deviations of a binomial(100000, 0.1).
    for count in counts { #expect(abs(count - 10_000) < 475) }
    for _ in 0..<1_000 {
      let draw = stream.uniform(in: -3...3)
      #expect((-3...3).contains(draw))
    }
    _ = stream.uniform(in: .min ... .max)
  }

  @Test func `probability zero never happens and one always does`() {
    var stream = RandomStream(seed: 3)
    for _ in 0..<1_000 {
      let (never, always) = (stream.chance(0), stream.chance(1))
      #expect(!never && always)
    }
  }

  @Test func `a source that draws from elsewhere gives those words to every stream, whatever its name`() {
    let source = RandomSource { 0xFEDC_BA98_7654_3210 }
    var first = source.stream("ice")
    var second = source.scoped("alice").stream("dtls")
    for _ in 0..<10 {
      let (a, b) = (first.next(), second.next())
      #expect(a == 0xFEDC_BA98_7654_3210 && b == a)
    }
    #expect(!source.isRepeatable && !source.scoped("alice").isRepeatable && RandomSource(seed: 1).isRepeatable)
  }
}
