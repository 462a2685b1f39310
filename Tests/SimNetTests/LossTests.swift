import CallCore
import Testing

@testable import SimNet

@Suite struct LossTests {
  private func fates(_ model: LossModel, count: Int, spacing: Interval, seed: UInt64 = 11) -> [Bool] {
    var process = LossProcess(model: model, random: RandomSource(seed: seed), path: "link")
    return (0..<count).map { process.loses(packet: $0 + 1, at: .zero + spacing * Int64($0)) }
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
    #expect(slow == stride(from: 0, to: 20_000, by: 4).map { fast[$0] })
    var late = LossProcess(model: model, random: RandomSource(seed: 11), path: "link")
    let after = (1_000..<5_000).map { late.loses(packet: $0 + 1, at: .zero + .milliseconds(20) * Int64($0)) }
    #expect(after == Array(slow[1_000...]))
    #expect(slow.contains(true))
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func `senders of any rate meet the same channel after each change of it`(seed: UInt64) {
    let channels = [(0.05, 40), (0.3, 120), (0.1, 300)].map { loss, burst in
      LossModel.gilbertElliott(GilbertElliott(meanLoss: loss, meanBurst: .milliseconds(Int64(burst))))
    }
    /// The fates of packets that start at some time and come so often, by time, under changes of the model.
    func fates(from start: Int64, every spacing: Int64, without omitted: Int64? = nil) -> [Int64: Bool] {
      var process = LossProcess(model: channels[0], random: RandomSource(seed: seed), path: "link")
      var result: [Int64: Bool] = [:]
      var count = 0
      for millisecond in 0..<Int64(60_000) {
        let now = Instant.zero + .milliseconds(millisecond)
        if millisecond % 15_000 == 7_000, millisecond != omitted {
          process.change(to: channels[Int(millisecond / 15_000 + 1) % 3], at: now)
        }
        guard millisecond >= start, millisecond % spacing == 0 else { continue }
        count += 1
        result[millisecond] = process.loses(packet: count, at: now)
      }
      return result
    }
    let usual = fates(from: 0, every: 20)
    for (start, spacing) in [(0, 60), (0, 10), (30_000, 20), (12_340, 60)] as [(Int64, Int64)] {
      for (time, isLost) in fates(from: start, every: spacing) {
        if let other = usual[time] { #expect(isLost == other, "\(time) ms, every \(spacing) ms from \(start) ms") }
      }
    }
    // A change that is not made alters nothing once the next is.
    for (time, isLost) in fates(from: 0, every: 20, without: 22_000) where time >= 37_000 {
      #expect(isLost == usual[time])
    }
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `a Gilbert channel of 0 percent loses nothing and one of 100 percent all`(seed: UInt64) {
    let burst = Interval.milliseconds(50)
    let never = LossModel.gilbertElliott(GilbertElliott(meanLoss: 0, meanBurst: burst))
    let always = LossModel.gilbertElliott(GilbertElliott(meanLoss: 1, meanBurst: burst))
    #expect(!fates(never, count: 30_000, spacing: .milliseconds(20), seed: seed).contains(true))
    #expect(!fates(always, count: 30_000, spacing: .milliseconds(20), seed: seed).contains(false))
    #expect(never.meanLoss == 0 && always.meanLoss == 1)
    #expect(never.problem == nil && always.problem == nil)
    // At the rate of one of its two states a channel is always in it.
    let bad = GilbertElliott(meanLoss: 0.25, meanBurst: burst, badLoss: 0.25)
    let good = GilbertElliott(meanLoss: 0.25, meanBurst: burst, goodLoss: 0.25)
    #expect(bad.meanLoss == 0.25 && good.meanLoss == 0.25)
    #expect(GilbertElliott(meanGood: .zero, meanBad: .zero).problem != nil)
    #expect(GilbertElliott(meanGood: .seconds(1), meanBad: .microseconds(1)).problem != nil)
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
    let script = LossModel.packets([1...1, 3...4], period: nil)
    #expect(fates(script, count: 6, spacing: .zero) == [true, false, true, true, false, false])
    let again = LossModel.packets([1...1], period: 3)
    #expect(fates(again, count: 6, spacing: .zero) == [true, false, false, true, false, false])
    #expect(fates(.packets([], period: 2), count: 2, spacing: .zero) == [false, false])
    #expect(again.meanLoss == 1.0 / 3 && script.meanLoss == 0)
  }

  @Test func `a script of times loses what enters in its spans, whoever sends how often`() {
    let spans = [Interval.milliseconds(20)..<Interval.milliseconds(50)]
    let once = LossModel.spans(spans, period: nil)
    #expect(fates(once, count: 8, spacing: .milliseconds(10)).map { $0 ? 1 : 0 } == [0, 0, 1, 1, 1, 0, 0, 0])
    let again = LossModel.spans(spans, period: .milliseconds(60))
    #expect(
      fates(again, count: 12, spacing: .milliseconds(10)).map { $0 ? 1 : 0 } == [0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0])
    #expect(again.meanLoss == 0.5)
    let now = Instant.zero + .seconds(5)
    var process = LossProcess(model: .none, random: RandomSource(seed: 1), path: "link/x/tx")
    process.change(to: once.begun(after: 7, at: now), at: now)
    let isLost = [5_000, 5_019, 5_020, 5_049, 5_050].map { process.loses(packet: 8, at: .zero + .milliseconds($0)) }
    #expect(isLost == [false, false, true, true, false])
  }

  @Test func `a script counts from where it began, also while another model is in its place`() {
    let spans = [Interval.milliseconds(60)..<Interval.milliseconds(80)]
    for script in [LossModel.packets([7...8], period: nil), .spans(spans, period: nil)] {
      var process = LossProcess(model: script, random: RandomSource(seed: 1), path: "link/x/tx")
      var lost: [Int] = []
      for packet in 1...30 {
        let now = Instant.zero + .milliseconds(10) * Int64(packet - 1)
        let begun = script.begun(after: packet - 1, at: now)
        // The first is covered from its second to its fifth packet, and the same one begins again twice.
        if packet == 2 { process.change(to: .random(0), at: now) }
        if packet == 6 { process.change(to: script, at: now) }
        if packet == 11 || packet == 21 { process.change(to: begun, at: now) }
        if process.loses(packet: packet, at: now) { lost.append(packet) }
      }
      #expect(lost == [7, 8, 17, 18, 27, 28], "\(script)")
    }
  }

  @Test func `packets that something else swallows count in a script`() throws {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    var settings = LinkSettings(loss: .packets([4...5], period: nil))
    var wire = Wire(
      settings, name: "x", direction: .tx, end: .network(NetworkID(index: 0)), isUp: true,
      random: RandomSource(seed: 1), trace: simulator.trace)
    var lost: [Int] = []
    for packet in 1...8 {
      settings.isBlackhole = packet == 2
      _ = wire.change(to: settings, at: .zero)
      if case .drop(.loss) = wire.offer(100, at: .zero) { lost.append(packet) }
    }
    #expect(lost == [4, 5])
  }

  @Test func `a script that is out of order, or longer than its period, is a problem`() {
    #expect(LossModel.packets([1...1, 3...4], period: 4).problem == nil)
    for script in [
      LossModel.packets([0...1], period: nil), .packets([3...4, 1...1], period: nil), .packets([1...3], period: 2),
      .packets([1...3, 3...4], period: nil), .packets([1...1], period: 0),
      .spans([.milliseconds(-1)..<Interval.zero], period: nil), .spans([], period: .zero),
    ] {
      #expect(script.problem != nil, "\(script)")
    }
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
