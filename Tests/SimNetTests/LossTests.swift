import CallCore
import Testing

@testable import SimNet

@Suite struct LossTests {
  private func fates(_ model: LossModel, count: Int, spacing: Interval, seed: UInt64 = 11) -> [Bool] {
    let source = RandomSource(seed: seed)
    var process = LossProcess(model: model, fates: source.stream("fates"), sojourns: source.stream("sojourns"))
    return (0..<count).map { process.loses(at: .zero + spacing * Int64($0)) }
  }

  private func share(_ fates: [Bool]) -> Double { Double(fates.count(where: \.self)) / Double(fates.count) }

  @Test(arguments: [0.001, 0.05, 0.3, 0.9])
  func `random loss meets its probability within three sigma`(probability: Double) {
    let count = 200_000
    let measured = share(fates(.random(probability), count: count, spacing: .milliseconds(1)))
    let sigma = (probability * (1 - probability) / Double(count)).squareRoot()
    #expect(abs(measured - probability) < 3 * sigma)
  }

  @Test(arguments: [(0.05, 30), (0.1, 60), (0.3, 100)] as [(Double, Int64)])
  func `a Gilbert channel meets its loss and its burst length within three sigma`(loss: Double, burst: Int64) {
    let channel = GilbertElliott(meanLoss: loss, meanBurst: .milliseconds(burst))
    let (count, spacing) = (200_000, 5.0)
    let outcome = fates(.gilbertElliott(channel), count: count, spacing: .milliseconds(5))
    // A two-state chain seen every 5 ms has lag-1 correlation e^-(rate of leaving good + of leaving bad) * 5 ms.
    let good = Double(channel.meanGood.nanoseconds) / 1e6
    let correlation = exponential(-(1 / good + 1 / Double(burst)) * spacing)
    let variance = loss * (1 - loss) * (1 + correlation) / (1 - correlation) / Double(count)
    #expect(abs(share(outcome) - loss) < 3 * variance.squareRoot())
    // Packets of a burst: one divided by the probability that the packet after a lost one is not lost.
    let expected = 1 / ((1 - loss) * (1 - correlation))
    let bursts = zip([false] + outcome, outcome).count { !$0 && $1 }
    let measured = Double(outcome.count(where: \.self)) / Double(bursts)
    #expect(abs(measured - expected) < 3 * expected / Double(bursts).squareRoot())
  }

  @Test func `the channel is the same whatever the packet rate`() {
    let model = LossModel.gilbertElliott(GilbertElliott(meanLoss: 0.2, meanBurst: .milliseconds(50)))
    let slow = fates(model, count: 5_000, spacing: .milliseconds(20))
    let fast = fates(model, count: 20_000, spacing: .milliseconds(5))
    #expect(slow == (0..<5_000).map { fast[$0 * 4] })
    var late = LossProcess(
      model: model, fates: RandomSource(seed: 11).stream("fates"), sojourns: RandomSource(seed: 11).stream("sojourns"))
    let after = (1_000..<5_000).map { late.loses(at: .zero + .milliseconds(20) * Int64($0)) }
    #expect(after == Array(slow[1_000...]))
    #expect(slow.contains(true))
  }

  @Test func `losses within both states follow their own probabilities`() {
    let channel = GilbertElliott(
      meanGood: .seconds(1), meanBad: .seconds(1), goodLoss: 0.02, badLoss: 0.5)
    #expect(channel.meanLoss == 0.26)
    let measured = share(fates(.gilbertElliott(channel), count: 400_000, spacing: .milliseconds(5)))
    #expect(abs(measured - 0.26) < 0.02)
  }

  @Test func `scripts lose exactly what they say`() {
    #expect(fates(.every(3), count: 7, spacing: .zero) == [false, false, true, false, false, true, false])
    let script = LossModel.script([true, false], repeats: false)
    #expect(fates(script, count: 4, spacing: .zero) == [true, false, false, false])
    #expect(
      fates(.script([true, false], repeats: true), count: 4, spacing: .zero) == [true, false, true, false])
    #expect(fates(.script([], repeats: true), count: 2, spacing: .zero) == [false, false])
  }

  @Test func `exponential spans have the mean and the variance of their law`() {
    var random = RandomSource(seed: 3).stream("exponential")
    var (sum, squares) = (0.0, 0.0)
    let count = 200_000
    for _ in 0..<count {
      let span = random.exponential(mean: .seconds(1)).seconds
      sum += span
      squares += span * span
    }
    let mean = sum / Double(count)
    #expect(abs(mean - 1) < 0.01)
    #expect(abs(squares / Double(count) - mean * mean - 1) < 0.03)
  }

  @Test func `normal spans have the shares of their law`() {
    var random = RandomSource(seed: 3).stream("normal")
    let count = 400_000
    let spans = (0..<count).map { _ in random.normal(standardDeviation: .seconds(1)).seconds }
    let mean = spans.reduce(0, +) / Double(count)
    let variance = spans.reduce(0) { $0 + $1 * $1 } / Double(count)
    #expect(abs(mean) < 0.006)
    #expect(abs(variance - 1) < 0.01)
    for (bound, share) in [(1.0, 0.682_69), (2.0, 0.954_50), (3.0, 0.997_30)] {
      let within = Double(spans.count { abs($0) < bound }) / Double(count)
      #expect(abs(within - share) < 3 * (share * (1 - share) / Double(count)).squareRoot() + 0.000_1)
    }
  }

  /// e^x by its series, so that the tests need no libm either.
  private func exponential(_ x: Double) -> Double {
    var (term, sum) = (1.0, 1.0)
    for step in 1..<60 {
      term *= x / Double(step)
      sum += term
    }
    return sum
  }
}
